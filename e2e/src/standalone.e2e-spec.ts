import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { JobClient, judge } from './job-client.js';
import { Site } from './standalone-process.js';

/** Enough for several rounds of the slots, so that a kill meets jobs in every state. */
const JOBS = 200;
const SLOTS = 64;
/** From 600 to 1 300 ms: long enough to be killed in on a busy machine, and not all at an end at the same time. */
const sleepPayload = (index: number): { ms: number } => ({ ms: 600 + ((index * 37) % 700) });

/** Whole processes on a busy machine, several starts and leases to lapse. */
const TIMEOUT_MS = 180_000;

/** A queue for each test that counts its jobs. */
const QUEUES = ['default', 'killed', 'postgres-killed', 'stopped', 'hurried', 'unserved'] as const;

let site: Site;

/** One database for all tests: making one takes longer than most of them. Each starts a process of its own on it. */
beforeAll(async () => {
  site = await Site.open({ DEADMAN_SLOTS: String(SLOTS), DEADMAN_QUEUES: QUEUES.join() });
}, TIMEOUT_MS);
afterEach(() => site.killAll(), TIMEOUT_MS);
afterAll(() => site.close(), TIMEOUT_MS);

const clientOf = (queue: (typeof QUEUES)[number]): JobClient => new JobClient(`http://127.0.0.1:${site.port}`, queue);

/** Resolves in the middle of the work: some jobs have ended, and half of the slots at least are busy. */
const inTheMiddle = (client: JobClient): Promise<void> =>
  client.untilCounts(({ succeeded = 0, running = 0 }) => succeeded > 0 && running >= SLOTS / 2);
const allSucceeded = (client: JobClient): Promise<void> =>
  client.untilCounts(({ succeeded }) => succeeded === JOBS, 120_000);

describe('standalone', () => {
  it(
    'runs a job from its submit to its result, and ends cleanly when it is told to',
    async () => {
      const client = clientOf('default');
      const standalone = await site.start();
      const { id } = await client.submit('demo.echo', { hello: ['world', 1] });
      expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded', result: { hello: ['world', 1] } });
      standalone.kill('SIGTERM');
      expect(await standalone.ended).toEqual({ code: 0, signal: null });
    },
    TIMEOUT_MS,
  );

  it(
    'prints lines for a newcomer that work as printed',
    async () => {
      const standalone = await site.start({ NODE_ENV: 'development' });
      const lines = await standalone.untilSaid(/^ +curl .*$/gm, 2);
      const [submitted, listed] = lines.map(runLine) as [object, { items: unknown[] }];
      expect(submitted).toMatchObject({ type: 'demo.echo', payload: { hello: 'world' } });
      expect(submitted).not.toHaveProperty('warnings');
      expect(listed.items).toHaveLength(1);
    },
    TIMEOUT_MS,
  );

  it(
    'takes jobs in for a queue that it does not serve, and leaves them to whoever does',
    async () => {
      const intakeOnly = await site.start({ DEADMAN_SERVED_QUEUES: 'default' });
      const { id: waiting } = await clientOf('unserved').submit('demo.echo', {});
      // Two claims without a ticket would have found it by then, had they looked.
      const { id: slow } = await clientOf('default').submit('demo.sleep', { ms: 4_000 });
      await clientOf('default').untilEnded(slow);
      expect(await clientOf('unserved').find(waiting)).toMatchObject({ state: 'pending', attempt: 0 });
      intakeOnly.kill('SIGTERM');
      await intakeOnly.ended;
      await site.start();
      expect(await clientOf('unserved').untilEnded(waiting)).toMatchObject({ state: 'succeeded', attempt: 1 });
    },
    TIMEOUT_MS,
  );

  it(
    'retries what fails, and gives up for good what fails too often',
    async () => {
      const client = clientOf('default');
      await site.start();
      const retry = { kind: 'fixed', baseSeconds: 0 };
      const healed = await client.submit('demo.fail', { times: 2 }, { retry });
      const hopeless = await client.submit('demo.fail', {}, { retry, maxAttempts: 2 });
      expect(await client.untilEnded(healed.id)).toMatchObject({ state: 'succeeded', failures: 2, attempt: 3 });
      expect(await client.untilEnded(hopeless.id)).toMatchObject({ state: 'dead', failures: 2 });
      expect(await client.attempts(hopeless.id)).toMatchObject([{ outcome: 'failed' }, { outcome: 'failed' }]);
    },
    TIMEOUT_MS,
  );

  it(
    'loses no job and accepts no second outcome when it is killed while jobs run',
    async () => {
      const client = clientOf('killed');
      const killed = await site.start();
      const ids = await client.submitMany(JOBS, 'demo.sleep', sleepPayload);
      await inTheMiddle(client);
      killed.kill('SIGKILL');
      expect(await killed.ended).toEqual({ code: null, signal: 'SIGKILL' });

      await site.start();
      await allSucceeded(client);
      const judgement = await judge(client, ids);
      console.info(`standalone killed: ${JSON.stringify(judgement)}`);
      expect(judgement).toMatchObject({ lost: 0, doubled: 0 });
      // The zeros above mean nothing if the kill met no run.
      expect(judgement.duplicateRuns).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it(
    'goes on by itself, losing nothing, when its PostgreSQL is killed while jobs run',
    async () => {
      const client = clientOf('postgres-killed');
      await site.start();
      const ids = await client.submitMany(JOBS, 'demo.sleep', sleepPayload);
      await inTheMiddle(client);
      const postgres = await site.joinPostgres();
      process.kill(postgres.pid, 'SIGKILL');

      await allSucceeded(client);
      const judgement = await judge(client, ids);
      console.info(`PostgreSQL killed: ${JSON.stringify(judgement)}`);
      expect(judgement).toMatchObject({ lost: 0, doubled: 0 });
      expect((await site.joinPostgres()).pid).not.toBe(postgres.pid);
    },
    TIMEOUT_MS,
  );

  it(
    'hands back what it cannot finish: nothing is left to lapse, and the next start runs it',
    async () => {
      const client = clientOf('stopped');
      const stopped = await site.start({ DEADMAN_DRAIN_MS: '100' });
      const ids = await client.submitMany(JOBS, 'demo.sleep', () => ({ ms: 1_000 }));
      await client.untilCounts(({ running = 0 }) => running > 0);
      stopped.kill('SIGTERM');
      expect(await stopped.ended).toEqual({ code: 0, signal: null });

      await site.start();
      await allSucceeded(client);
      const judgement = await judge(client, ids);
      console.info(`standalone told to stop: ${JSON.stringify(judgement)}`);
      expect(judgement).toEqual({ lost: 0, doubled: 0, lapses: 0, duplicateRuns: 0 });
      const histories = await Promise.all(ids.map((id) => client.attempts(id)));
      expect(histories.flat().filter(({ outcome }) => outcome === 'released').length).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it(
    'skips the waiting at a second signal, and still hands everything back',
    async () => {
      const client = clientOf('hurried');
      const stopped = await site.start({ DEADMAN_DRAIN_MS: '120000' });
      const { id } = await client.submit('demo.sleep', { ms: 86_400_000 });
      await client.untilCounts(({ running }) => running === 1);
      stopped.kill('SIGTERM');
      await notReady(stopped.managementUrl);
      stopped.kill('SIGTERM');
      expect(await stopped.ended).toEqual({ code: 0, signal: null });

      await site.start();
      const [released] = await client.attempts(id);
      expect(released).toMatchObject({ outcome: 'released', reason: 'shutdown' });
      await client.cancel(id);
      expect(await client.untilEnded(id)).toMatchObject({ state: 'cancelled', failures: 0, lapses: 0 });
    },
    TIMEOUT_MS,
  );

  it(
    "runs a team's own handlers, functions and classes",
    async () => {
      const client = clientOf('default');
      layHandlers(join(site.folder, 'team'));
      await site.start({ DEADMAN_HANDLERS: './team' });
      const [doubled, greeted] = [await client.submit('team.double', 21), await client.submit('team.greet', 'Ada')];
      expect(await client.untilEnded(doubled.id)).toMatchObject({ state: 'succeeded', result: 42 });
      expect(await client.untilEnded(greeted.id)).toMatchObject({ state: 'succeeded', result: 'Hello Ada' });
    },
    TIMEOUT_MS,
  );

  it(
    "runs the handlers that a team's Nest module provides, injected",
    async () => {
      const client = clientOf('default');
      await site.start({ DEADMAN_HANDLERS: join(import.meta.dirname, '..', 'fixtures', 'nest-handlers.mjs') });
      const { id } = await client.submit('team.greet-by-nest', 'Ada');
      expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded', result: 'Hello Ada, from Nest' });
    },
    TIMEOUT_MS,
  );

  it(
    'ends with a line in its log when an error is thrown where nobody catches it',
    async () => {
      const file = join(site.folder, 'crash.mjs');
      const run = `() => new Promise(() => setTimeout(() => { throw new Error('nobody catches this'); }))`;
      writeFileSync(file, `export default { type: 'team.crash', parse: (value) => ({ value }), run: ${run} };`);
      const crashing = await site.start({ DEADMAN_HANDLERS: file });
      await clientOf('default').submit('team.crash', {});
      expect(await crashing.ended).toEqual({ code: 70, signal: null });
      const line = crashing.output.split('\n').find((text) => text.includes('service.crashed'));
      expect(JSON.parse(line ?? '')).toMatchObject({ level: 'fatal', err: { message: 'nobody catches this' } });
    },
    TIMEOUT_MS,
  );

  it(
    'does not start without the database it was told of, and says which',
    async () => {
      const refused = site.launch({ DATABASE_URL: 'postgres://deadman:secret@127.0.0.1:1/jobs' });
      expect(await refused.ended).toEqual({ code: 69, signal: null });
      expect(refused.output).toContain('PostgreSQL at 127.0.0.1:1/jobs cannot be used');
      expect(refused.output).not.toContain('secret');
    },
    TIMEOUT_MS,
  );

  it(
    'does not start with a handler it cannot use, and names it',
    async () => {
      const refused = site.launch({ DEADMAN_HANDLERS: './nowhere' });
      expect(await refused.ended).toEqual({ code: 78, signal: null });
      expect(refused.output).toContain('nowhere');
    },
    TIMEOUT_MS,
  );

  it(
    'does not start with an invalid configuration, and names every fault at once',
    async () => {
      const refused = site.launch({ PORT: 'http', DEADMAN_SLOTS: '0', DEADMAN_LEASE_TTL: '5000' });
      expect(await refused.ended).toEqual({ code: 78, signal: null });
      for (const name of ['PORT', 'DEADMAN_SLOTS', 'DEADMAN_LEASE_TTL', 'DEADMAN_LEASE_TTL_MS']) {
        expect(refused.output).toContain(name);
      }
    },
    TIMEOUT_MS,
  );

  it.each(['PORT', 'MANAGEMENT_PORT'])(
    'does not start when its %s is taken, says so, and leaves the database of whoever has it alone',
    async (setting) => {
      const port = setting === 'PORT' ? site.port : site.managementPort;
      const squatter = createServer();
      await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve));
      const refused = site.launch();
      const end = await refused.ended;
      squatter.close();
      expect(end).toEqual({ code: 69, signal: null });
      expect(refused.output).toContain(`Port ${port} on 127.0.0.1 is in use`);
      expect(refused.output).toContain(`set ${setting} to another port`);
    },
    TIMEOUT_MS,
  );
});

/** What a shell makes of a printed line. */
function runLine(line: string): unknown {
  return JSON.parse(execFileSync('sh', ['-c', line], { encoding: 'utf8' }));
}

async function notReady(managementUrl: string): Promise<void> {
  for (;;) {
    const { status } = await fetch(`${managementUrl}/health/ready`);
    if (status === 503) return;
  }
}

/** Plain JavaScript that has not even installed the SDK: a handler is an object with three members. */
function layHandlers(folder: string): void {
  mkdirSync(folder);
  const double = `{ type: 'team.double', parse: (value) => ({ value }), run: ({ payload }) => payload * 2 }`;
  writeFileSync(join(folder, 'double.mjs'), `export default ${double};`);
  const mark = `Object.defineProperty(Greet, Symbol.for('deadman.job-handler'), { value: { type: 'team.greet' } })`;
  const greet = `export class Greet { run({ payload }) { return 'Hello ' + payload; } }`;
  writeFileSync(join(folder, 'greet.mjs'), `${greet}\n${mark};`);
}
