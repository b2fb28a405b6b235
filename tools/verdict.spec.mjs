import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { closingLine, forgottenSpecs, tallied } from './verdict.mjs';

const NOTHING = { passed: 0, failed: 0, skipped: 0 };

describe('verdict', () => {
  it('adds up the tests of all steps', () => {
    const first = tallied(NOTHING, { code: 0, passed: 3, failed: 0, skipped: 1 });
    expect(tallied(first, { code: 1, passed: 2, failed: 2 })).toEqual({ passed: 5, failed: 2, skipped: 1 });
  });

  it('counts a failed step without a failed test as one failure', () => {
    expect(tallied(NOTHING, { code: 1 })).toEqual({ passed: 0, failed: 1, skipped: 0 });
    expect(tallied(NOTHING, { code: 1, passed: 7, failed: 0 })).toEqual({ passed: 7, failed: 1, skipped: 0 });
  });

  it('closes with the line that CI reads', () => {
    expect(closingLine({ passed: 12, failed: 0, skipped: 0 })).toBe('12 passed, 0 failed');
    expect(closingLine({ passed: 12, failed: 1, skipped: 2 })).toBe('12 passed, 1 failed, 2 skipped');
  });

  it('finds every spec file that nobody ran, and none in what was built or installed', () => {
    const root = mkdtempSync(join(tmpdir(), 'deadman-verdict-'));
    const files = ['libs/a/a.spec.ts', 'libs/a/b.int-spec.ts', 'odd/c.e2e-spec.ts', 'tools/d.spec.mjs', 'libs/a/a.ts'];
    const made = ['node_modules/x/x.spec.ts', 'libs/a/dist/a.spec.ts'];
    for (const file of [...files, ...made]) {
      mkdirSync(join(root, file, '..'), { recursive: true });
      writeFileSync(join(root, file), '');
    }
    const forgotten = forgottenSpecs(root, new Set(['libs/a/a.spec.ts']));
    rmSync(root, { recursive: true });
    expect(new Set(forgotten)).toEqual(new Set(['libs/a/b.int-spec.ts', 'odd/c.e2e-spec.ts', 'tools/d.spec.mjs']));
  });
});
