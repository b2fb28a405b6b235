import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { USAGE } from './options.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SIMULATE = join(ROOT, 'tools', 'simulate', 'main.mjs');

const folder = mkdtempSync(join(tmpdir(), 'deadman-input-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** As `npm run simulate` runs it. */
function simulate(...args: string[]): Promise<{ code: number | null; said: string; complained: string }> {
  return new Promise((resolve, reject) => {
    const node = ['--disable-warning=ExperimentalWarning', SIMULATE, ...args];
    const child = spawn(process.execPath, node, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let [said, complained] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (complained += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said, complained }));
  });
}

function fileOf(content: object): string {
  const file = join(folder, 'plan.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
}

describe('npm run simulate', () => {
  it('tells how it is used, and ends well', async () => {
    expect(await simulate('--help', '--keep-nothing')).toEqual({ code: 0, said: `${USAGE}\n`, complained: '' });
  });

  it.each([
    ['an option', ['--seed', '4294967297'], ['--seed', USAGE]],
    ['a file', ['--plan', folder], [folder]],
    ['a plan', ['--plan', fileOf({ plan: { seed: 7, workers: 0 } })], ['plan.json', 'plan.workers', 'plan.faults']],
    ['a journal', ['--schedules', '1', '--journal', join(SIMULATE, 'journal')], [SIMULATE]],
    ['a search for mutants', ['--seed', '1', '--mutants'], ['--seed', '--help']],
  ])('refuses with 2 what it cannot use, and says what that is: %s', async (_what, args, named) => {
    const { code, said, complained } = await simulate(...args);
    for (const part of named) expect(said).toContain(part);
    expect({ code, complained }).toEqual({ code: 2, complained: '' });
  });
});
