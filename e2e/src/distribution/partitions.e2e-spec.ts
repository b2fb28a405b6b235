import type { ServiceProcess } from '@deadman/services';
import { eventually } from '@deadman/testing';
import type { Offsets, Ownership } from '@deadman/testing';
import { partitionOf } from '@deadman/transport';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Installation, IS_FULL, START_LIMIT_MS, TEST_LIMIT_MS } from './installation.js';
import { judgeJobs, UNDISTURBED, untilAllEnded } from './verdict.js';

const PARTITIONS = 12;
const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);

/** Unequal, so that none of them finishes at the same time as another. */
const SLOTS = { 'worker-1': 8, 'worker-2': 16, 'worker-3': 32 } as const;
type Name = keyof typeof SLOTS;

/** How long a group may take to settle once its members have changed. Milliseconds: session, rebalance, and a busy machine. */
const SETTLED_WITHIN_MS = 60_000;

/** Longest wait of a job for a worker that is busy, while another one is idle. Milliseconds. */
const LONGEST_WAIT_MS = 5_000;

/** How long jobs are handed in for while one worker is busy. Milliseconds. */
const BUSY_FOR_MS = IS_FULL ? 60_000 : 5_000;

/** More than a broker takes by itself, and much more than any ticket has. Bytes. */
const LARGE_BYTES = 2 * 1024 * 1024;

/** A day: longer than any test waits. Milliseconds. */
const LONG_MS = 86_400_000;

const RUNNING = `
  SELECT j.id, w.name FROM deadman.jobs AS j JOIN deadman.workers AS w ON w.incarnation = j.lease_holder
  WHERE j.id = ANY ($1::uuid[]) AND j.state = 'RUNNING'`;

const WAITS = `
  SELECT w.name, (extract(epoch FROM a.started_at - j.created_at) * 1000)::double precision AS ms
  FROM deadman.jobs AS j
  JOIN deadman.attempts AS a ON a.job_id = j.id
  JOIN deadman.workers AS w ON w.incarnation = a.worker_id
  WHERE j.id = ANY ($1::uuid[]) ORDER BY ms`;

const ATTEMPT_COUNT = `SELECT count(*)::integer AS count FROM deadman.attempts`;

describe('several workers on one topic', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await Installation.open('partitions');
    await installation.services.startAll({ workers: 0, deadLetterConsumers: 0 });
  }, START_LIMIT_MS);

  afterAll(() => installation?.close(), START_LIMIT_MS);

  const start = (name: Name): Promise<ServiceProcess> =>
    installation.services.start('worker', name, { DEADMAN_SLOTS: String(SLOTS[name]) });

  /** Lets exactly these run, whoever ran before, and waits until they have the partitions between them. */
  async function crew(...names: readonly Name[]): Promise<Ownership> {
    const { running } = installation.services;
    const workers = running.filter(({ record }) => record.service === 'worker');
    const leaving = workers.filter(({ instance }) => !names.includes(instance as Name));
    await Promise.all(leaving.map((process) => process.stop()));
    const missing = names.filter((name) => workers.every(({ instance }) => instance !== name));
    await Promise.all(missing.map(start));
    return split(...names);
  }

  /** Once exactly these have all partitions between them, and each has some, by the broker's word. */
  const split = (...names: readonly Name[]): Promise<Ownership> =>
    eventually(
      async () => {
        const owners = await installation.witness.ownership(installation.group, installation.topic);
        if (owners === null) throw new Error('The group has not settled');
        expect([...owners.keys()].toSorted()).toEqual(names.toSorted());
        expect([...owners.values()].flat().toSorted((one, other) => one - other)).toEqual(ALL);
        for (const owned of owners.values()) expect(owned.length).toBeGreaterThan(0);
        return owners;
      },
      { withinMs: SETTLED_WITHIN_MS, everyMs: 50 },
    );

  const committed = (): Promise<Offsets> => installation.witness.committed(installation.group, installation.topic);

  /** Once the offset of every ticket there is was committed, so that nothing is delivered again. */
  const allCommitted = (): Promise<void> =>
    eventually(
      async () => {
        const ends = await installation.witness.ends(installation.topic);
        const wanted = new Map([...ends].filter(([, end]) => end > 0n));
        expect(await committed()).toEqual(wanted);
      },
      { withinMs: SETTLED_WITHIN_MS, everyMs: 100 },
    );

  /** Looks at the group's offsets until told to stop, and then tells of each that went backwards. */
  function watchOffsets(): { stop(): Promise<readonly string[]> } {
    const backwards: string[] = [];
    let isOver = false;
    const watching = (async (): Promise<void> => {
      let before: Offsets = new Map();
      while (!isOver) {
        const now = await committed();
        for (const [partition, offset] of before) {
          const later = now.get(partition) ?? -1n;
          if (later < offset) backwards.push(`partition ${partition}: ${offset} → ${later}`);
        }
        before = now;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    return {
      stop: async () => {
        isOver = true;
        await watching;
        return backwards;
      },
    };
  }

  /** @returns what the client was told. */
  async function submit(count: number, msOf: (index: number) => number): Promise<readonly string[]> {
    const ids: string[] = [];
    while (ids.length < count) {
      const [from, part] = [ids.length, Math.min(1_000, count - ids.length)];
      ids.push(...(await installation.client.submitMany(part, 'demo.sleep', (index) => ({ ms: msOf(from + index) }))));
    }
    return ids;
  }

  const untilSucceeded = (atLeast: number): Promise<void> =>
    installation.client.untilCounts(({ succeeded = 0 }) => succeeded >= atLeast, 120_000);

  const succeededSoFar = async (): Promise<number> => (await installation.client.counts())['succeeded'] ?? 0;

  it(
    'one is busy with all its slots, one is idle: no job waits more than 5 s for the busy one',
    async () => {
      const { client, services, sql } = installation;
      await crew('worker-1');
      const blocking = await submit(SLOTS['worker-1'], () => LONG_MS);
      await client.untilCounts(({ running }) => running === blocking.length);
      await start('worker-2');
      await split('worker-1', 'worker-2');

      const ids: string[] = [];
      const begun = performance.now();
      while (performance.now() - begun < BUSY_FOR_MS) {
        const part = await submit(60, () => 20);
        await untilAllEnded(sql, part);
        ids.push(...part);
      }
      expect(await services.get('worker-1').metric('worker_slots_busy')).toBe(SLOTS['worker-1']);
      const waits = await sql.rows<{ name: string; ms: number }>(WAITS, [ids]);
      expect(new Set(waits.map(({ name }) => name))).toEqual(new Set(['worker-2']));
      console.info(`one worker busy: of ${ids.length} jobs the longest wait was ${Math.round(waits.at(-1)!.ms)} ms`);
      expect(waits.at(-1)!.ms).toBeLessThanOrEqual(LONGEST_WAIT_MS);

      for (const id of blocking) await client.cancel(id);
      await untilAllEnded(sql, blocking);
    },
    TEST_LIMIT_MS,
  );

  it(
    'a partition moves from one live worker to another mid-batch: what is in flight finishes once, and no offset goes back',
    async () => {
      const { services, sql } = installation;
      const before = await crew('worker-1', 'worker-2');
      const offsets = watchOffsets();
      const ids = await submit(200, (index) => 1_500 + ((index * 97) % 1_000));
      await untilSucceeded((await succeededSoFar()) + 1);
      const joining = start('worker-3');
      const after = await split('worker-1', 'worker-2', 'worker-3');
      const running = await sql.rows<{ id: string; name: string }>(RUNNING, [ids]);
      await joining;

      const ownerIn = (owners: Ownership, partition: number): string =>
        [...owners].find(([, owned]) => owned.includes(partition))![0];
      const moved = ALL.filter((partition) => ownerIn(before, partition) !== ownerIn(after, partition));
      expect(moved.length).toBeGreaterThan(0);
      const inFlight = running.filter(({ id, name }) => {
        const partition = partitionOf(id, PARTITIONS);
        return moved.includes(partition) && ownerIn(before, partition) === name;
      });
      expect(inFlight.length).toBeGreaterThan(0);
      expect(['worker-1', 'worker-2'].every((name) => services.get(name).isRunning)).toBe(true);

      await untilAllEnded(sql, ids);
      const verdict = await judgeJobs(sql, ids);
      const dropped = await installation.metric('worker', 'kafka_stale_commits_dropped_total');
      console.info(
        `partitions ${moved.join()} moved with ${inFlight.length} of their jobs in flight at their former owners; ` +
          `${dropped} offsets of theirs were not committed any more; ${JSON.stringify(verdict)}`,
      );
      expect(verdict).toEqual({ accepted: ids.length, ...UNDISTURBED });
      await allCommitted();
      expect(await offsets.stop()).toEqual([]);
    },
    TEST_LIMIT_MS,
  );

  it(
    'the whole topic is published again, and garbage with it: nothing runs again, the offsets move, and counters tell',
    async () => {
      const { client, witness, topic, sql } = installation;
      await crew('worker-1', 'worker-2', 'worker-3');
      const { id: cancelled } = await client.submit('demo.sleep', { ms: 1 }, { delaySeconds: 3_600 });
      await client.cancel(cancelled);
      await untilAllEnded(sql, await submit(100, () => 1));
      await allCommitted();
      const { count: attempts } = await sql.row<{ count: number }>(ATTEMPT_COUNT);
      const counted = (result: string): Promise<number> => installation.metric('worker', 'tickets_total', { result });
      // One that names a job of which another ticket waits at the same worker is a duplicate.
      const done = async (): Promise<number> => (await counted('stale')) + (await counted('duplicate'));
      const [doneBefore, malformedBefore] = [await done(), await counted('malformed')];

      const again = await witness.read(topic, `witness.${topic}`);
      const unknown = randomUUID();
      const strangers = [cancelled, unknown].map((id) => ({
        partition: partitionOf(id, PARTITIONS),
        key: id,
        value: JSON.stringify({ v: 1, ids: [id] }),
      }));
      const large = ['x'.repeat(300_000), '['.repeat(LARGE_BYTES)];
      const garbage = ['{', '', ...large, '{"v":1,"ids":["no-uuid"]}'].map((value, partition) => ({
        partition,
        value,
      }));
      await witness.allowMessagesOf(2 * LARGE_BYTES, topic);
      await witness.send(topic, [...again, ...strangers, ...garbage]);

      await allCommitted();
      const ticketed = again.flatMap(({ value }) => (JSON.parse(String(value)) as { ids: readonly string[] }).ids);
      await eventually(async () => {
        expect((await done()) - doneBefore).toBe(ticketed.length + strangers.length);
        expect((await counted('malformed')) - malformedBefore).toBe(garbage.length);
      });
      expect(ticketed.length).toBeGreaterThanOrEqual(100);
      console.info(`${again.length} messages with ${ticketed.length} tickets were published again`);
      expect(await client.find(cancelled)).toMatchObject({ state: 'cancelled', attempt: 0 });
      expect(await sql.row<{ count: number }>(ATTEMPT_COUNT)).toEqual({ count: attempts });
    },
    TEST_LIMIT_MS,
  );

  it(
    'their group’s offsets are set to the earliest, the latest and beyond the end: nothing is lost, and nothing runs twice',
    async () => {
      const { group, services, sql, topic, witness } = installation;
      const workers = services.running.filter(({ record }) => record.service === 'worker');
      await Promise.all(workers.map((process) => process.stop()));
      const ids = await submit(300, () => 1);
      const ends = await eventually(() => witness.ends(topic));
      const offsets = new Map(
        [...ends].map(([partition, end]) => [partition, [0n, end, end + 1_000n][partition % 3]!]),
      );
      await eventually(() => witness.setCommitted(group, topic, offsets), {
        withinMs: SETTLED_WITHIN_MS,
        everyMs: 100,
      });
      await crew('worker-1', 'worker-2', 'worker-3');

      await untilAllEnded(sql, ids);
      expect(await judgeJobs(sql, ids)).toEqual({ accepted: ids.length, ...UNDISTURBED });
      await allCommitted();
    },
    TEST_LIMIT_MS,
  );

  it(
    'one of three is killed in the middle of 3,000 jobs: its partitions move to the others, and all complete once',
    async () => {
      const { services, sql } = installation;
      const before = await crew('worker-1', 'worker-2', 'worker-3');
      const earlier = await succeededSoFar();
      const ids = await submit(3_000, (index) => 40 + ((index * 37) % 100));
      await untilSucceeded(earlier + 300);
      await services.get('worker-3').kill();
      const after = await split('worker-1', 'worker-2');
      const moved = before.get('worker-3')!;
      expect([...after.values()].flat()).toEqual(expect.arrayContaining([...moved]));

      await untilAllEnded(sql, ids);
      const verdict = await judgeJobs(sql, ids);
      console.info(`one of three killed: partitions ${moved.join()} moved; ${JSON.stringify(verdict)}`);
      expect(verdict).toMatchObject({ accepted: 3_000, lost: 0, doubled: 0 });
      // The zeros above mean nothing if the kill met no run.
      expect(verdict.duplicateRuns).toBeGreaterThan(0);
      await allCommitted();
    },
    TEST_LIMIT_MS,
  );

  it(
    'three unequal ones are told to stop, one after the other and under load: nothing lapses, and nothing runs twice',
    async () => {
      const { services, sql } = installation;
      await crew('worker-1', 'worker-2', 'worker-3');
      const earlier = await succeededSoFar();
      const ids = await submit(1_000, (index) => 100 + ((index * 211) % 900));
      for (const [index, name] of (['worker-3', 'worker-1', 'worker-2'] as const).entries()) {
        await untilSucceeded(earlier + 50 * (index + 1));
        expect(await services.get(name).stop()).toEqual({ code: 0, signal: null });
        await start(name);
      }
      await untilAllEnded(sql, ids);
      const verdict = await judgeJobs(sql, ids);
      console.info(`three rolling restarts: ${JSON.stringify(verdict)}`);
      expect(verdict).toEqual({ accepted: ids.length, ...UNDISTURBED });
    },
    TEST_LIMIT_MS,
  );
});
