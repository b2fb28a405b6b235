import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { InputError } from './input-error.js';
import { runJournalled } from './journal.js';
import { Totals } from './totals.js';

const folder = mkdtempSync(join(tmpdir(), 'deadman-journal-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a journal', () => {
  it.each([
    ['notes without an end of line', 'is no journal'],
    ['notes\n', 'is no journal'],
    ['{"code":"x"\n', 'no block'],
    ['{"code":"x"}\n', 'no block'],
    [`${JSON.stringify({ code: 'x', firstSeed: 1, seconds: 1, totals: { sums: {} } })}\n`, 'no block'],
    [
      `${JSON.stringify({ code: 'another', firstSeed: 1, seconds: 1, totals: new Totals().toRecord() })}\n{"co`,
      'of other code',
    ],
  ])('that is none of this code is refused, and left as it is: %j', async (text, why) => {
    const file = join(folder, 'file');
    writeFileSync(file, text);
    const run = runJournalled({ file, code: 'x', seed: 1, schedules: 1, threads: 1, say: () => undefined });
    await expect(run).rejects.toThrow(InputError);
    await expect(run).rejects.toThrow(why);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});
