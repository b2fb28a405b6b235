import { eventually, FaultProxy } from '@deadman/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { JobClient } from '../job-client.js';
import { Installation, IS_FULL, queueNamed, START_LIMIT_MS, TEST_LIMIT_MS, TTL_MS } from './installation.js';

/** What a takeover may take beyond the TTL: the scans, the ticket, and the claim. Milliseconds. */
const TAKEOVER_SLACK_MS = 5_000;

/** Queues of workers that a test starts for itself, so that nobody else takes their jobs. */
const [MAIN, DOOMED, PROXIED] = [queueNamed('takeover'), queueNamed('doomed'), queueNamed('proxied')];

interface AttemptRow {
  readonly attempt: number;
  readonly outcome: string;
  readonly claimedAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date;
  readonly reclaimedBy: string | null;
  readonly reason: string | null;
}

const ATTEMPTS = `
  SELECT attempt, outcome, claimed_at AS "claimedAt", started_at AS "startedAt", finished_at AS "finishedAt",
    reclaimed_by AS "reclaimedBy", reason
  FROM deadman.attempts WHERE job_id = $1 ORDER BY attempt`;

const elapsedMs = (from: Date, to: Date): number => to.getTime() - from.getTime();

/** Two workers and a reaper; a job of the first one is taken over by the second. Tells how long that took. */
async function takeOver(installation: Installation, ttlMs: number): Promise<number> {
  const { client, services, sql } = installation;
  const { id } = await client.submit('test.linger', { firstMs: 10 * ttlMs });
  const killed = services.get(await installation.runnerOf(id));
  const diedAt = await installation.now();
  await killed.kill();

  const job = await client.untilEnded(id, ttlMs + 60_000);
  expect(job).toMatchObject({ state: 'succeeded', attempt: 2, failures: 0, lapses: 1, result: { attempt: 2 } });
  expect(await client.attempts(id)).toMatchObject([
    { attempt: 1, outcome: 'lapsed', reclaimedBy: 'reaper-1', reason: 'lease-lapsed' },
    { attempt: 2, outcome: 'succeeded', reclaimedBy: null },
  ]);
  const [, second] = await sql.rows<AttemptRow>(ATTEMPTS, [id]);
  return elapsedMs(diedAt, second!.startedAt!);
}

describe('a worker that dies, stalls or hangs', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await Installation.open('takeover', { DEADMAN_QUEUES: [MAIN, DOOMED, PROXIED].join() });
    const { services } = installation;
    await Promise.all([
      services.start('api', 'api-1'),
      services.start('reaper', 'reaper-1'),
      ...['worker-1', 'worker-2'].map((name) => services.start('worker', name, { DEADMAN_QUEUES: MAIN })),
    ]);
  }, START_LIMIT_MS);

  /** Whatever a test did to them, the next one finds two workers. */
  afterEach(async () => {
    const { services } = installation;
    const missing = ['worker-1', 'worker-2'].filter((name) => services.running.every((one) => one.instance !== name));
    await Promise.all(missing.map((name) => services.start('worker', name, { DEADMAN_QUEUES: MAIN })));
  }, START_LIMIT_MS);

  afterAll(() => installation?.close(), START_LIMIT_MS);

  it(
    'killed with -9 mid-job: another one starts it within TTL + 5 s, and finishes it; it shows two attempts and one lapse',
    async () => {
      const tookMs = await takeOver(installation, TTL_MS);
      console.info(`taken over ${tookMs} ms after the kill, at a TTL of ${TTL_MS} ms`);
      expect(tookMs).toBeLessThanOrEqual(TTL_MS + TAKEOVER_SLACK_MS);
    },
    TEST_LIMIT_MS,
  );

  it.each([
    ['with an outcome', 1.5 * TTL_MS],
    ['in the middle of its run', 4 * TTL_MS],
  ])(
    'stopped for 2 × TTL and woken %s: what comes late is refused or dropped, and counted; the new run’s result stands',
    async (_, firstMs) => {
      const { client, services, sql } = installation;
      const { id } = await client.submit('test.linger', { firstMs });
      const frozen = services.get(await installation.runnerOf(id));
      frozen.pause();
      const pausedAt = await installation.now();
      const result = { attempt: 2, pid: services.running.find(isOther(frozen.instance))!.record.pid };
      expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded', attempt: 2, lapses: 1, result });
      await eventually(async () => {
        expect(elapsedMs(pausedAt, await installation.now())).toBeGreaterThan(2 * TTL_MS);
      });

      frozen.resume();
      const counted = async (): Promise<number> =>
        (await frozen.metric('fenced_writes_rejected_total')) + (await frozen.metric('runs_lost_total'));
      await eventually(async () => expect(await counted()).toBeGreaterThan(0), { withinMs: 60_000 });
      // The late run has ended as well, and its slot is free.
      await eventually(async () => expect(await frozen.metric('worker_slots_busy')).toBe(0), { withinMs: 60_000 });
      expect(await client.find(id)).toMatchObject({ state: 'succeeded', attempt: 2, lapses: 1, result });
      expect(await sql.rows<AttemptRow>(ATTEMPTS, [id])).toHaveLength(2);
      console.info(
        `late outcomes: ${await frozen.metric('fenced_writes_rejected_total')} refused, ` +
          `${await frozen.metric('runs_lost_total')} dropped`,
      );
    },
    TEST_LIMIT_MS,
  );

  it(
    'hung in a handler that never ends and heeds nothing: the attempt is timed out at its limit ± 2 s',
    async () => {
      const { client, sql } = installation;
      const { id } = await client.submit('test.hang', null, { timeoutSeconds: 3, maxAttempts: 1 });
      expect(await client.untilEnded(id)).toMatchObject({ state: 'dead', lastError: { code: 'timeout' } });
      const [attempt] = await sql.rows<AttemptRow>(ATTEMPTS, [id]);
      const ranMs = elapsedMs(attempt!.startedAt!, attempt!.finishedAt);
      console.info(`timed out after ${ranMs} ms, at a limit of 3000 ms`);
      expect(Math.abs(ranMs - 3_000)).toBeLessThanOrEqual(2_000);
    },
    TEST_LIMIT_MS,
  );

  it(
    'killed between its claim and its lease: no reaper takes the job before a TTL, and it runs once more',
    async () => {
      const { api, services, sql } = installation;
      const client = new JobClient(api.url, DOOMED);
      const failpoint = { DEADMAN_QUEUES: DOOMED, DEADMAN_FAILPOINT: 'after_claim:kill@1' };
      const doomed = await services.start('worker', 'worker-doomed', failpoint);
      const { id } = await client.submit('test.linger', { firstMs: 0 });
      expect(await doomed.ended).toEqual({ code: null, signal: 'SIGKILL' });

      const heir = await services.start('worker', 'worker-doomed', { DEADMAN_QUEUES: DOOMED });
      expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded', attempt: 2, lapses: 1 });
      const [lapsed] = await sql.rows<AttemptRow>(ATTEMPTS, [id]);
      expect(lapsed).toMatchObject({ outcome: 'lapsed', startedAt: null });
      expect(elapsedMs(lapsed!.claimedAt, lapsed!.finishedAt)).toBeGreaterThanOrEqual(TTL_MS);
      await heir.kill();
    },
    TEST_LIMIT_MS,
  );

  it(
    'killed after its outcome was committed and before it knew: the job succeeded once, and is not run again',
    async () => {
      const { api, services, sql } = installation;
      const client = new JobClient(api.url, DOOMED);
      const failpoint = { DEADMAN_QUEUES: DOOMED, DEADMAN_FAILPOINT: 'after_settle:kill@1' };
      const doomed = await services.start('worker', 'worker-doomed', failpoint);
      const { id } = await client.submit('test.linger', { firstMs: 0 });
      expect(await doomed.ended).toEqual({ code: null, signal: 'SIGKILL' });
      expect(await client.find(id)).toMatchObject({ state: 'succeeded', attempt: 1 });

      // Its ticket, whose offset was not committed, is delivered again; the heir must have seen it.
      const heir = await services.start('worker', 'worker-doomed', { DEADMAN_QUEUES: DOOMED });
      await eventually(async () => expect(await heir.metric('tickets_total', { result: 'stale' })).toBeGreaterThan(0), {
        withinMs: 60_000,
      });
      expect(await client.find(id)).toMatchObject({ state: 'succeeded', attempt: 1, lapses: 0 });
      expect(await sql.rows<AttemptRow>(ATTEMPTS, [id])).toMatchObject([{ outcome: 'succeeded' }]);
      await heir.kill();
    },
    TEST_LIMIT_MS,
  );

  describe('and one whose replies from PostgreSQL are lost', () => {
    let proxy: FaultProxy;
    let client: JobClient;

    beforeAll(async () => {
      proxy = await FaultProxy.start(installation.urls.postgres);
      client = new JobClient(installation.api.url, PROXIED);
      const settings = { DEADMAN_QUEUES: PROXIED, DATABASE_URL: proxy.url };
      await installation.services.start('worker', 'worker-proxied', settings);
    }, START_LIMIT_MS);

    afterAll(async () => {
      await installation.services.get('worker-proxied').kill();
      await proxy.close();
    }, START_LIMIT_MS);

    /** Sees a statement by its name, which is sent with each of its uses. */
    const isStatement = (name: string) => (sent: Buffer) => sent.includes(`\0${name}\0`);

    it(
      'of a commit: the outcome is reported as what it is, a success, and not as refused',
      async () => {
        const worker = installation.services.get('worker-proxied');
        const cut = proxy.cutOneReply({ request: isStatement('apply') });
        const { id } = await client.submit('test.linger', { firstMs: 0 });
        await cut;
        expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded', attempt: 1, lapses: 0 });
        const succeeded = { type: 'test.linger', outcome: 'succeeded' };
        await eventually(async () => expect(await worker.metric('job_attempts_total', succeeded)).toBe(1));
        expect(await worker.metric('fenced_writes_rejected_total')).toBe(0);
        expect(worker.isRunning).toBe(true);
      },
      TEST_LIMIT_MS,
    );

    it(
      'of a claim: the job starts within the statement timeout + 5 s',
      async () => {
        const submittedAt = await installation.now();
        const cut = proxy.cutOneReply({ request: isStatement('claim') });
        const { id } = await client.submit('test.linger', { firstMs: 0 });
        await cut;
        expect(await client.untilEnded(id)).toMatchObject({ state: 'succeeded' });
        const attempts = await installation.sql.rows<AttemptRow>(ATTEMPTS, [id]);
        const startedAfterMs = elapsedMs(submittedAt, attempts.at(-1)!.startedAt!);
        console.info(`claim reply lost: started after ${startedAfterMs} ms, in ${attempts.length} attempt(s)`);
        expect(startedAfterMs).toBeLessThanOrEqual(5_000 + 5_000);
        expect(attempts.every(({ outcome }) => outcome !== 'lapsed')).toBe(true);
      },
      TEST_LIMIT_MS,
    );
  });

  it(
    'and an api killed after the commit and before the ticket: the job starts within 5 s all the same',
    async () => {
      const { services, sql } = installation;
      const doomed = await services.start('api', 'api-doomed', { DEADMAN_FAILPOINT: 'after_submit_commit:kill@1' });
      const submit = new JobClient(doomed.url, MAIN).submit('test.linger', { firstMs: 0 }, { tags: ['unanswered'] });
      await expect(submit).rejects.toThrow('fetch failed');
      expect(await doomed.ended).toEqual({ code: null, signal: 'SIGKILL' });

      const { id, createdAt } = await sql.row<{ id: string; createdAt: Date }>(
        `SELECT id, created_at AS "createdAt" FROM deadman.jobs WHERE tags = '{unanswered}'`,
      );
      expect(await installation.client.untilEnded(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
      const [attempt] = await sql.rows<AttemptRow>(ATTEMPTS, [id]);
      const startedAfterMs = elapsedMs(createdAt, attempt!.startedAt!);
      console.info(`unpublished job started after ${startedAfterMs} ms`);
      expect(startedAfterMs).toBeLessThanOrEqual(5_000);
    },
    TEST_LIMIT_MS,
  );
});

const isOther =
  (name: string) =>
  ({ instance, record }: { readonly instance: string; readonly record: { readonly service: string } }): boolean =>
    record.service === 'worker' && instance !== name;

if (IS_FULL) {
  describe('with the TTL of production, 30 s', () => {
    const ttlMs = 30_000;
    let installation: Installation;

    beforeAll(async () => {
      installation = await Installation.open('takeover-slow', { DEADMAN_LEASE_TTL_MS: String(ttlMs) });
      await installation.services.startAll({ workers: 2, deadLetterConsumers: 0 });
    }, START_LIMIT_MS);

    afterAll(() => installation?.close(), START_LIMIT_MS);

    it(
      'a worker killed with -9 mid-job: another one starts it within TTL + 5 s, and finishes it',
      async () => {
        const tookMs = await takeOver(installation, ttlMs);
        console.info(`taken over ${tookMs} ms after the kill, at a TTL of ${ttlMs} ms`);
        expect(tookMs).toBeLessThanOrEqual(ttlMs + TAKEOVER_SLACK_MS);
      },
      10 * ttlMs,
    );
  });
}
