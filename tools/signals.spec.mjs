import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** What programs of the tests import, as it stands in their code. */
const TOOLS = {
  signals: JSON.stringify(new URL('signals.mjs', import.meta.url).href),
  workspace: JSON.stringify(new URL('workspace.mjs', import.meta.url).href),
};

/** A program that hears no signal and never ends, behind a child that does not know what to do with signals either. */
const DEAF_CHILD = `
  import { spawn } from 'node:child_process';
  const behind = spawn(process.execPath, ['-e', 'console.log(process.pid); setInterval(() => {}, 1e6)'], { stdio: 'inherit' });
  console.log(process.pid);
  behind.once('close', () => {});
`;

/** Says what it hears, and ends with a code of its own when it hears SIGTERM. */
const HEARING_CHILD = `
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => console.log(signal));
  process.on('SIGTERM', () => process.exit(7));
  setInterval(() => {}, 1e6);
  console.log(process.pid);
`;

/** Cleans up for a moment, so that the tool's other child has ended before. */
const SLOW_CHILD = `
  process.on('SIGTERM', () => setTimeout(() => process.exit(7), 200));
  setInterval(() => {}, 1e6);
  console.log(process.pid);
`;

let folder;
let tool;
let pids;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deadman-signals-'));
  pids = [];
});

afterEach(() => {
  tool.kill('SIGKILL');
  // Of a test that has failed.
  for (const pid of pids.filter((one) => !isGone(one))) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true });
});

function write(name, code) {
  const file = join(folder, name);
  writeFileSync(file, code);
  return file;
}

/** Starts a tool that runs `child` as `body` says, and resolves when the child and what is behind it have said their pids. */
async function start(body, child, { processes = 1 } = {}) {
  const file = write(
    'tool.mjs',
    `import { endWhenTold, startChild, untilTold } from ${TOOLS.signals};
     import { run } from ${TOOLS.workspace};
     import { writeFileSync, rmSync } from 'node:fs';
     const child = () => run(process.execPath, [${JSON.stringify(write('child.mjs', child))}]);
     ${body}`,
  );
  tool = spawn(process.execPath, [file], { cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface(tool.stdout)[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value;
  for (let count = 0; count < processes; count += 1) pids.push(Number(await next()));
  return { next, ended: once(tool, 'exit') };
}

const PASSES_ON = 'process.exitCode = await untilTold(child);';

/** A process that has ended may stay in the system's list until somebody asks for its end: Z. */
function isGone(pid) {
  try {
    return execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return true;
  }
}

/** Nobody has the tool's output open any more, hence nobody of those it has started is left. */
async function expectNothingLeft({ next }) {
  expect(await next()).toBeUndefined();
  while (!pids.every(isGone)) await new Promise(setImmediate);
}

describe('a signal to a tool', () => {
  it.each(Object.entries(SIGNALS))(
    '%s ends its child and what is behind it, and the tool with %i',
    async (signal, code) => {
      const run = await start(PASSES_ON, DEAF_CHILD, { processes: 2 });
      tool.kill(signal);
      expect(await run.ended).toEqual([code, null]);
      await expectNothingLeft(run);
    },
  );

  it('is waited for until the child has ended, whose code is the tool’s', async () => {
    const run = await start(PASSES_ON, HEARING_CHILD);
    tool.kill('SIGTERM');
    expect(await run.ended).toEqual([7, null]);
    await expectNothingLeft(run);
  });

  it('goes through tools that start tools', async () => {
    const inner = `import { untilTold } from ${TOOLS.signals};
      import { run } from ${TOOLS.workspace};
      process.exitCode = await untilTold(() => run(process.execPath, [${JSON.stringify(write('deaf.mjs', DEAF_CHILD))}]));`;
    const run = await start(PASSES_ON, inner, { processes: 2 });
    tool.kill('SIGTERM');
    expect(await run.ended).toEqual([143, null]);
    await expectNothingLeft(run);
  });

  it('reaches the child once when the terminal sends it to all and npm sends it again', async () => {
    const run = await start(PASSES_ON, HEARING_CHILD);
    process.kill(-tool.pid, 'SIGINT');
    expect(await run.next()).toBe('SIGINT');
    tool.kill('SIGINT');
    tool.kill('SIGHUP');
    expect(await run.next()).toBe('SIGHUP');
    tool.kill('SIGTERM');
    expect(await run.ended).toEqual([7, null]);
    await expectNothingLeft(run);
  });

  it('lets the tool clean up, and start nothing more', async () => {
    const body = `process.exitCode = await untilTold(async () => {
      writeFileSync('mark', '');
      try {
        await child().catch(() => undefined);
        return await run(process.execPath, ['-e', 'console.log("started")']);
      } finally {
        rmSync('mark');
      }
    });`;
    const run = await start(body, DEAF_CHILD, { processes: 2 });
    expect(existsSync(join(folder, 'mark'))).toBe(true);
    tool.kill('SIGTERM');
    expect(await run.ended).toEqual([143, null]);
    expect(existsSync(join(folder, 'mark'))).toBe(false);
    await expectNothingLeft(run);
  });

  it('lets the tool clean up behind each of several children', async () => {
    const body = `const cleanUpAfter = async (child, mark) => {
        writeFileSync(mark, '');
        try {
          return await child();
        } finally {
          rmSync(mark);
        }
      };
      const slow = () => run(process.execPath, [${JSON.stringify(write('slow.mjs', SLOW_CHILD))}]);
      process.exitCode = await untilTold(() => Promise.all([cleanUpAfter(child, 'one'), cleanUpAfter(slow, 'other')]));`;
    const run = await start(body, DEAF_CHILD, { processes: 3 });
    tool.kill('SIGTERM');
    expect(await run.ended).toEqual([143, null]);
    expect(['one', 'other'].filter((mark) => existsSync(join(folder, mark)))).toEqual([]);
    await expectNothingLeft(run);
  });

  it('ends a tool that works by itself after its children and its own clean-up', async () => {
    const body = `writeFileSync('mark', '');
      endWhenTold(async () => rmSync('mark'));
      void child().catch(() => undefined);
      setInterval(() => {}, 1e6);`;
    const run = await start(body, DEAF_CHILD, { processes: 2 });
    tool.kill('SIGINT');
    expect(await run.ended).toEqual([130, null]);
    expect(existsSync(join(folder, 'mark'))).toBe(false);
    await expectNothingLeft(run);
  });

  it('ends a tool that has nothing to clean up as it would have without a child', async () => {
    const run = await start('await child(); setInterval(() => {}, 1e6);', DEAF_CHILD, { processes: 2 });
    tool.kill('SIGTERM');
    expect(await run.ended).toEqual([null, 'SIGTERM']);
    await expectNothingLeft(run);
  });
});
