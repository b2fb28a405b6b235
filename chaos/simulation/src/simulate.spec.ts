import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SIMULATE = join(ROOT, 'tools', 'simulate', 'main.mjs');

/** Ten times what it takes on one core. Milliseconds. */
const WITHIN_MS = 600_000;

/** The simulation as `npm run simulate` runs it: on two threads, over a copy of the sources. */
function simulate(...args: string[]): Promise<{ code: number | null; said: string }> {
  const node = ['--disable-warning=ExperimentalWarning', SIMULATE, ...args];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, node, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], timeout: WITHIN_MS });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said }));
  });
}

function traceOf({ said }: { readonly said: string }): string | undefined {
  return /^trace of all schedules +(\S+)$/m.exec(said)?.[1];
}

describe('the protocol under a thousand seeded schedules of faults', () => {
  it(
    'keeps every rule, and meets every situation that a rule was written for',
    async () => {
      const { code, said } = await simulate('--schedules', '1000', '--seed', '1', '--keep-nothing');
      expect(said).toContain('\ngreen\n');
      expect(code).toBe(0);
    },
    WITHIN_MS,
  );
});

describe('a run of the simulation', () => {
  const seeds = ['--seed', '1', '--keep-nothing'];
  const folder = mkdtempSync(join(tmpdir(), 'deadman-simulation-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it(
    'is the same on one thread as on two',
    async () => {
      const run = (threads: string) => simulate(...seeds, '--schedules', '20', '--threads', threads);
      const [one, two] = [await run('1'), await run('2')];
      expect(traceOf(one)).toMatch(/^[0-9a-f]{8}$/);
      expect(traceOf(two)).toBe(traceOf(one));
    },
    WITHIN_MS,
  );

  it(
    'goes on where it was interrupted, and runs no seed twice',
    async () => {
      const journal = join(folder, 'journal.jsonl');
      const run = () => simulate(...seeds, '--schedules', '10', '--journal', journal);
      const first = await run();
      const [whole, inTheMiddle] = [readFileSync(journal, 'utf8'), 100];
      writeFileSync(journal, whole.slice(0, inTheMiddle));
      const [again, noMore] = [await run(), await run()];
      expect([first, again, noMore].map(({ said }) => said.includes('seeds 1 to 10:'))).toEqual([true, true, false]);
      expect([again, noMore].map(traceOf)).toEqual([traceOf(first), traceOf(first)]);
    },
    WITHIN_MS,
  );
});
