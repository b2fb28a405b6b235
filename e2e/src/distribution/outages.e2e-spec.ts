import { BrokerWitness, eventually, FaultProxy, PROBE_NAME, SeededRandom } from '@deadman/testing';
import { TopicNames } from '@deadman/transport';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { ownStack } from '../run-stack.js';
import { Installation, IS_FULL, START_LIMIT_MS, TEST_LIMIT_MS, TTL_MS } from './installation.js';
import { SteadyLoad } from './steady-load.js';
import { judgeJobs, UNDISTURBED, untilAllEnded } from './verdict.js';

const SEED = 20_261_130;

/** Enough for two workers to run two hundred jobs at once, with some to spare. */
const SLOTS = '128';

/** How long Redis is away: long enough for a reaper to take whatever it wrongly thinks dead. Milliseconds. */
const REDIS_AWAY_MS = IS_FULL ? 60_000 : 2.5 * TTL_MS;

/** A day: longer than any test waits. Milliseconds. */
const LONG_MS = 86_400_000;

/** How long the broker is away. Milliseconds. */
const KAFKA_AWAY_MS = 20_000;

/** How soon after a broker's return tickets have to wake workers again. Milliseconds. */
const TICKETS_WITHIN_MS = 30_000;

/** How soon after the return of PostgreSQL a submit has to be accepted again. Milliseconds. */
const BACK_WITHIN_MS = 10_000;

/** How long sessions are ended for, and how often one is. Milliseconds. */
const TERMINATE_FOR_MS = IS_FULL ? 60_000 : 6_000;
const TERMINATE_EVERY_MS = 200;

/** How long nobody records dead letters. Milliseconds. */
const RECORDER_AWAY_MS = IS_FULL ? 600_000 : 0;

/** How often the rate of work is looked at before it is called too low. */
const MOST_ROUNDS = 9;

/** So many that recording them over a slow database takes long, and so slow: a kill that is late meets work all the same. */
const DEATHS = 4_000;
const RECORDER_LATENCY_MS = 500;

const LIMIT_MS = TEST_LIMIT_MS + (IS_FULL ? 900_000 : 0);

/** Jobs ended per second, from the first start to the last end, by the database's clock. */
const RATE = `
  SELECT (count(*) / extract(epoch FROM max(a.finished_at) - min(a.started_at)))::double precision AS rate
  FROM deadman.attempts AS a WHERE a.job_id = ANY ($1::uuid[])`;

const LETTERS = `
  SELECT job_id AS id, count(*)::integer AS count FROM deadman.dead_letters
  WHERE job_id = ANY ($1::uuid[]) GROUP BY job_id`;

const OUTBOX = `SELECT count(*)::integer AS count FROM deadman.outbox`;

const SESSIONS = `
  SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND application_name <> $1 AND pid <> pg_backend_pid() ORDER BY pid`;

describe('when a server dies', () => {
  const stack = ownStack('outages');
  let installation: Installation;

  beforeAll(async () => {
    installation = await Installation.open('outages', { DEADMAN_SLOTS: SLOTS }, stack);
    await installation.services.startAll({ workers: 2, reapers: 2 });
  }, START_LIMIT_MS);

  afterAll(async () => {
    await installation?.close();
    for (const server of ['postgres', 'redis', 'kafka'] as const) await stack.wipe(server);
  }, START_LIMIT_MS);

  /** Whatever a test did, the next one finds all servers and services, and a Redis that is trusted. */
  afterEach(async () => {
    const { services } = installation;
    await stack.up();
    for (const name of ['worker-1', 'worker-2']) {
      if (services.running.every(({ instance }) => instance !== name)) await services.start('worker', name);
    }
    await untilTrusted();
  }, START_LIMIT_MS);

  /** The processes that run, by instance: none may end by itself. */
  const processes = (): ReadonlyMap<string, number> =>
    new Map(installation.services.running.map(({ instance, record }) => [instance, record.pid]));

  /** Two, one for each reaper that trusts Redis. */
  const trust = (): Promise<number> => installation.metric('reaper', 'redis_trusted');
  const untilTrusted = (): Promise<void> =>
    eventually(async () => expect(await trust()).toBe(2), { withinMs: 60_000, everyMs: 100 });
  const untilDistrusted = (): Promise<void> =>
    eventually(async () => expect(await trust()).toBeLessThan(2), { withinMs: 60_000, everyMs: 20 });

  /** By the database's clock. */
  async function untilElapsed(ms: number, since: Date): Promise<void> {
    await eventually(
      async () => expect((await installation.now()).getTime() - since.getTime()).toBeGreaterThanOrEqual(ms),
      { withinMs: ms + 60_000, everyMs: 100 },
    );
  }

  /** Jobs that all run at once. */
  async function run(count: number, ms: number): Promise<readonly string[]> {
    const { client } = installation;
    const ids = await client.submitMany(count, 'demo.sleep', () => ({ ms }));
    await client.untilCounts(({ running }) => running === count);
    return ids;
  }

  /** One more job, from its submit to its end. */
  async function works(): Promise<void> {
    const { client } = installation;
    const { id } = await client.submit('demo.echo', null);
    expect(await client.untilEnded(id, 60_000)).toMatchObject({ state: 'succeeded' });
  }

  const load = (type: string, payload: unknown, everyMs: number): SteadyLoad =>
    new SteadyLoad({ url: installation.api.url, queue: installation.queue, type, payload, everyMs });

  const ticketClaims = (): Promise<number> => installation.metric('worker', 'claims_total', { result: 'ticket' });

  /** Once a worker was woken by a ticket. Returns how long that took, from now. Milliseconds. */
  async function untilTicketsFlow(): Promise<number> {
    const begun = performance.now();
    const before = await ticketClaims();
    await eventually(
      async () => {
        await works();
        expect(await ticketClaims()).toBeGreaterThan(before);
      },
      { withinMs: 2 * TICKETS_WITHIN_MS, everyMs: 100 },
    );
    return performance.now() - begun;
  }

  describe('Redis', () => {
    it(
      'is killed and comes back empty while 200 jobs run: none of the living is reaped, and work goes on',
      async () => {
        const { sql } = installation;
        const ids = await run(200, REDIS_AWAY_MS + 4 * TTL_MS);
        await stack.kill('redis');
        const diedAt = await installation.now();
        await untilDistrusted();
        await works();
        await untilElapsed(REDIS_AWAY_MS, diedAt);
        await stack.start('redis');
        await untilTrusted();

        await untilAllEnded(sql, ids, REDIS_AWAY_MS + 120_000);
        const verdict = await judgeJobs(sql, ids);
        console.info(`Redis away for ${REDIS_AWAY_MS} ms: ${JSON.stringify(verdict)}`);
        expect(verdict).toEqual({ accepted: 200, ...UNDISTURBED });
      },
      LIMIT_MS,
    );

    it(
      'is down, and a worker is killed meanwhile: that is noticed all the same, within 3 × TTL + 5 s',
      async () => {
        const { client, services, sql } = installation;
        await stack.kill('redis');
        await untilDistrusted();
        const { id } = await client.submit('test.linger', { firstMs: 600_000 });
        const killed = services.get(await installation.runnerOf(id));
        const diedAt = await installation.now();
        await killed.kill();
        expect(await client.untilEnded(id, 60_000)).toMatchObject({ state: 'succeeded', attempt: 2, lapses: 1 });
        expect(await client.attempts(id)).toMatchObject([{ outcome: 'lapsed', reason: 'worker-gone' }, {}]);
        const { ms } = await sql.row<{ ms: number }>(
          `SELECT (extract(epoch FROM started_at - $2) * 1000)::double precision AS ms
           FROM deadman.attempts WHERE job_id = $1 AND attempt = 2`,
          [id, diedAt],
        );
        console.info(`without Redis: taken over ${Math.round(ms)} ms after the kill, at a TTL of ${TTL_MS} ms`);
        expect(ms).toBeLessThanOrEqual(3 * TTL_MS + 5_000);
      },
      LIMIT_MS,
    );

    it(
      'forgets everything again and again (FLUSHALL) while 200 jobs run: none is reaped, and trust begins anew',
      async () => {
        const { client, sql } = installation;
        const ids = await run(200, LONG_MS);
        for (let round = 0; round < 2; round += 1) {
          await redis('FLUSHALL');
          await untilDistrusted();
          await untilTrusted();
        }
        // Whatever that took, the last round met all of them, too.
        expect((await client.counts())['running']).toBe(200);
        for (const id of ids) await client.cancel(id);
        await untilAllEnded(sql, ids);
        expect(await judgeJobs(sql, ids)).toMatchObject({ lapses: 0, duplicateRuns: 0 });
      },
      LIMIT_MS,
    );

    it(
      'is told to evict while they run: health says so, and the absence of a lease means nothing until it is mended',
      async () => {
        const { services } = installation;
        const watchers = services.running.filter(({ record }) => ['worker', 'reaper'].includes(record.service));
        await redis('CONFIG SET maxmemory-policy volatile-lru');
        await eventually(async () => expect(await trust()).toBe(0), { withinMs: 60_000 });
        await eventually(
          async () => {
            for (const watcher of watchers) {
              const { checks } = await watcher.health('ready');
              expect([watcher.instance, checks['redis-eviction']?.status]).toEqual([watcher.instance, 'down']);
            }
          },
          { withinMs: 60_000, everyMs: 100 },
        );
        await works();
        await redis('CONFIG SET maxmemory-policy noeviction');
        await untilTrusted();
      },
      LIMIT_MS,
    );

    async function redis(command: string): Promise<void> {
      const { hostname, port } = new URL(installation.urls.redis);
      const socket = connect(Number(port), hostname);
      socket.write(`${command}\r\n`);
      const [reply] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      expect(String(reply)).toBe('+OK\r\n');
    }
  });

  describe('PostgreSQL', () => {
    it(
      'is shut down at once, under load, and started again: 503 with Retry-After, back within 10 s, nothing accepted is lost',
      async () => {
        const { sql } = installation;
        const before = processes();
        const running = await run(50, 2 * TTL_MS);
        const steady = load('demo.sleep', { ms: 50 }, 20);
        await eventually(() => expect(steady.accepted.length).toBeGreaterThan(50), { withinMs: 60_000 });
        await stack.stop('postgres', 'SIGQUIT');
        await eventually(() => expect(steady.refusals.length).toBeGreaterThan(5), { withinMs: 60_000 });
        await stack.start('postgres');
        const [accepted, begun] = [steady.accepted.length, performance.now()];
        await eventually(() => expect(steady.accepted.length).toBeGreaterThan(accepted), { withinMs: 60_000 });
        const backMs = performance.now() - begun;
        await steady.stop();

        expect(new Set(steady.refusals.map(({ status }) => status))).toEqual(new Set([503]));
        expect(steady.refusals.every(({ retryAfter }) => retryAfter !== null)).toBe(true);
        const ids = [...running, ...steady.accepted];
        await untilAllEnded(sql, ids);
        const verdict = await judgeJobs(sql, ids);
        console.info(
          `PostgreSQL shut down: accepts again ${Math.round(backMs)} ms after its return; ${JSON.stringify(verdict)}`,
        );
        expect(verdict).toMatchObject({ lost: 0, doubled: 0 });
        expect(backMs).toBeLessThanOrEqual(BACK_WITHIN_MS);
        expect(processes()).toEqual(before);
      },
      LIMIT_MS,
    );

    it(
      'ends a random session every 200 ms: nothing goes wrong, and no process ends',
      async () => {
        const { sql } = installation;
        console.info(`seed ${SEED}`);
        const random = new SeededRandom(SEED);
        const before = processes();
        const steady = load('demo.sleep', { ms: 50 }, 20);
        const begunAt = await installation.now();
        let ended = 0;
        while ((await installation.now()).getTime() - begunAt.getTime() < TERMINATE_FOR_MS) {
          const sessions = await sql.rows<{ pid: number }>(SESSIONS, [PROBE_NAME]);
          const victim = sessions[Math.floor(random.next() * sessions.length)];
          if (victim !== undefined) {
            await sql.rows('SELECT pg_terminate_backend($1)', [victim.pid]);
            ended += 1;
          }
          await new Promise((resolve) => setTimeout(resolve, TERMINATE_EVERY_MS));
        }
        await steady.stop();

        await untilAllEnded(sql, steady.accepted);
        const verdict = await judgeJobs(sql, steady.accepted);
        console.info(`${ended} sessions ended: ${steady.refusals.length} refusals, ${JSON.stringify(verdict)}`);
        expect(ended).toBeGreaterThan(0);
        expect(verdict).toMatchObject({ lost: 0, doubled: 0 });
        expect(steady.refusals.every(({ status, retryable }) => status === 503 && retryable === true)).toBe(true);
        expect(processes()).toEqual(before);
      },
      LIMIT_MS,
    );
  });

  describe('Kafka', () => {
    it(
      'is killed for 20 s: every submit is answered with 201, jobs go on, and tickets wake workers again within 30 s',
      async () => {
        const { sql } = installation;
        const before = processes();
        await stack.kill('kafka');
        const diedAt = await installation.now();
        const steady = load('demo.sleep', { ms: 50 }, 50);
        await untilElapsed(KAFKA_AWAY_MS / 2, diedAt);
        const early = [...steady.accepted];
        await untilAllEnded(sql, early, KAFKA_AWAY_MS / 2);
        await untilElapsed(KAFKA_AWAY_MS, diedAt);
        await stack.start('kafka');
        const wokenMs = await untilTicketsFlow();
        await steady.stop();

        await untilAllEnded(sql, steady.accepted);
        const verdict = await judgeJobs(sql, steady.accepted);
        console.info(
          `Kafka killed: ${early.length} jobs accepted and ended while it was down; tickets again ${Math.round(wokenMs)} ms ` +
            `after its return; ${JSON.stringify(verdict)}`,
        );
        expect(early.length).toBeGreaterThan(0);
        expect(steady.refusals).toEqual([]);
        expect(verdict).toEqual({ accepted: steady.accepted.length, ...UNDISTURBED });
        expect(wokenMs).toBeLessThanOrEqual(TICKETS_WITHIN_MS);
        expect(processes()).toEqual(before);
      },
      LIMIT_MS,
    );

    it(
      'is wiped: all complete, at half the calm rate at least; the dead letters of that time are recorded, the topics made again',
      async () => {
        const { client, sql, topic } = installation;
        const ids: string[] = [];
        /** The best of three, and of more while that is not enough: what else runs on the machine can only slow it down. */
        const bestRate = async (enough = 0): Promise<number> => {
          let best = 0;
          for (let round = 0; round < 3 || (round < MOST_ROUNDS && best < enough); round += 1) {
            const part = await client.submitMany(1_000, 'demo.echo', (index) => index);
            await untilAllEnded(sql, part);
            best = Math.max(best, (await sql.row<{ rate: number }>(RATE, [part])).rate);
            ids.push(...part);
          }
          return best;
        };
        const calm = await bestRate();
        await stack.wipe('kafka');
        const deadly = await client.submitMany(20, 'demo.fail', () => ({}), { maxAttempts: 1 });
        const wiped = await bestRate(calm / 2);
        await untilAllEnded(sql, deadly);
        await stack.start('kafka');
        const wokenMs = await untilTicketsFlow();

        console.info(
          `Kafka wiped: ${Math.round(wiped)} jobs/s, and ${Math.round(calm)} when calm; tickets again ` +
            `${Math.round(wokenMs)} ms after its return`,
        );
        expect(await judgeJobs(sql, ids)).toEqual({ accepted: ids.length, ...UNDISTURBED });
        expect(wiped).toBeGreaterThanOrEqual(calm / 2);
        expect(wokenMs).toBeLessThanOrEqual(TICKETS_WITHIN_MS);
        await recordedOnce(deadly);
        const witness = await BrokerWitness.connect(installation.urls.kafka.split(','));
        for (const name of [topic, new TopicNames().dead]) expect(await witness.partitionCount(name)).toBe(12);
        await witness.disconnect();
      },
      LIMIT_MS,
    );
  });

  describe('and when the dead-letter consumer does', () => {
    it(
      'down for a while, then killed twice while it records: one record per death, and none is lost',
      async () => {
        const { client, services, sql } = installation;
        const name = 'dead-letter-consumer-1';
        await services.get(name).kill();
        const deadly: string[] = [];
        while (deadly.length < DEATHS) {
          deadly.push(...(await client.submitMany(1_000, 'demo.fail', () => ({}), { maxAttempts: 1 })));
        }
        await untilAllEnded(sql, deadly);
        await untilElapsed(RECORDER_AWAY_MS, await installation.now());

        // A slow database, so that each kill comes in the middle.
        const proxy = await FaultProxy.start(installation.urls.postgres);
        await proxy.inject({ kind: 'latency', ms: RECORDER_LATENCY_MS });
        const recorded = async (): Promise<number> => (await sql.rows(LETTERS, [deadly])).length;
        for (let kill = 1; kill <= 2; kill += 1) {
          const before = await recorded();
          const recorder = await services.launch('dead-letter-consumer', name, { DATABASE_URL: proxy.url });
          await eventually(async () => expect(await recorded()).toBeGreaterThan(before), { withinMs: 60_000 });
          await recorder.kill();
          console.info(`killed after ${await recorded()} of ${deadly.length} records`);
          expect(await recorded()).toBeLessThan(deadly.length);
        }
        await proxy.close();
        await services.start('dead-letter-consumer', name);
        await recordedOnce(deadly);
      },
      LIMIT_MS,
    );
  });

  /** Every death was recorded once, and nobody is told of any again. */
  async function recordedOnce(jobIds: readonly string[]): Promise<void> {
    const { sql } = installation;
    await eventually(
      async () => {
        const letters = await sql.rows<{ id: string; count: number }>(LETTERS, [jobIds]);
        expect(letters.filter(({ count }) => count !== 1)).toEqual([]);
        expect(letters).toHaveLength(jobIds.length);
        expect(await sql.row<{ count: number }>(OUTBOX)).toEqual({ count: 0 });
      },
      { withinMs: 120_000, everyMs: 100 },
    );
  }
});
