import { aCancel, aSubmission, deferred, SeededRandom, settle } from '@deadman/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aHandler } from './engine-under-test.contract.js';
import type { EngineUnderTest } from './engine-under-test.contract.js';
import { AWAY } from './with-faults.contract.js';
import { always, ignore, WorkersUnderTest } from './workers-under-test.contract.js';

describe('Worker', () => {
  let crew: WorkersUnderTest;
  let engine: EngineUnderTest;
  let started: readonly string[];

  beforeEach(() => {
    crew = new WorkersUnderTest();
    ({ engine, started } = crew);
  });

  afterEach(() => crew.expectNothingToBeLeft());

  it('runs what is submitted, at once and once', async () => {
    await crew.start(() => 'done');
    const ids = await engine.submitMany(100);
    await settle();
    expect(engine.states()).toEqual({ SUCCEEDED: 100 });
    expect(started.toSorted()).toEqual(ids.toSorted());
  });

  it('runs a job again whose effect a failover lost after the handler had seen it', async () => {
    await crew.start(async ({ job, transaction }) => {
      await transaction('charge', ({ query }) => query('charge', [job.attempt]));
      if (job.attempt === 1) engine.db.effects.delete(job.id);
    });
    const id = await engine.submit();
    await engine.clock.advance(5_000);
    expect(engine.outcomesOf(id)).toEqual(['released', 'succeeded']);
    expect(engine.attemptsOf(id)[0]).toMatchObject({ reason: 'effects-missing' });
  });

  it('fires nothing of a run that nobody vouches for any more, not even before its beat has found that out', async () => {
    await crew.start(async ({ transaction }) => {
      crew.faults['registry.beat'] = always(AWAY);
      crew.faults['leases.renew'] = always(AWAY);
      await engine.clock.sleep(30_001);
      await transaction(({ query }) => query('charge'));
    });
    const id = await engine.submit();
    await engine.clock.advance(40_000);
    expect(engine.db.statements).toEqual([]);
    expect(engine.attemptsOf(id)).toEqual([]);
    expect(engine.events.of('run-lost')).toMatchObject([{ jobId: id, reason: 'stale' }]);
  });

  it('claims nothing before its row says that it lives, and looks again soon when that could not be written', async () => {
    crew.faults['registry.beat'] = [AWAY, AWAY];
    await crew.start(() => 'done');
    await engine.submit();
    await engine.clock.advance(500);
    expect(engine.db.workers.size).toBe(0);
    expect(started).toEqual([]);
    await engine.clock.advance(3_000);
    expect(engine.db.workers.size).toBe(1);
    expect(engine.states()).toEqual({ SUCCEEDED: 1 });
  });

  it('never runs more handlers at once than it has slots', async () => {
    let running = 0;
    let most = 0;
    await crew.start(async () => {
      most = Math.max(most, (running += 1));
      await engine.clock.sleep(10);
      running -= 1;
    });
    await engine.submitMany(200);
    await engine.clock.advance(5_000);
    expect(engine.states()).toEqual({ SUCCEEDED: 200 });
    expect(most).toBe(4);
  });

  it('beats every third of a TTL, however long a beat takes', async () => {
    await crew.start(() => 'done');
    crew.faults['registry.beat'] = always({ kind: 'slow', until: new Promise(() => {}) });
    const seen = engine.events.of('beat-failed').length;
    await engine.clock.advance(100_000);
    const failed = engine.events.of('beat-failed').length - seen;
    // Ten beats, of which jitter may push one over the edge; a pause after each beat would leave five or six.
    expect(failed).toBeGreaterThanOrEqual(9);
  });

  it('keeps its jobs through an outage of the database that is longer than a TTL, since its leases vouch for them', async () => {
    await engine.startServices();
    await crew.start(crew.sleep(70_000));
    const id = await engine.submit({ timeoutMs: 600_000 });
    await settle();
    crew.faults['registry.beat'] = always(AWAY);
    await engine.clock.advance(60_000);
    crew.faults = {};
    await engine.clock.advance(20_000);
    expect(engine.outcomesOf(id)).toEqual(['succeeded']);
    await engine.stopServices();
  });

  it('runs a job by its lost claim reply within seconds, and its ticket again by nobody', async () => {
    await crew.start(() => 'done');
    crew.faults['store.claim'] = [{ kind: 'reply-lost' }];
    const id = await engine.submit();
    await engine.clock.advance(5_000);
    expect(engine.outcomesOf(id)).toEqual(['succeeded']);
    expect(started).toEqual([id]);
  });

  it('releases a claim that arrived after everybody had given it up, and runs the job then', async () => {
    await crew.start(() => 'done');
    const arrival = deferred();
    crew.faults['store.claim'] = [{ kind: 'late', at: arrival.promise }, ...Array.from({ length: 5 }, () => AWAY)];
    const id = await engine.submit();
    await settle();
    arrival.resolve();
    await engine.clock.advance(30_000);
    expect(engine.outcomesOf(id)).toEqual(['released', 'succeeded']);
    expect(engine.attemptsOf(id)[0]).toMatchObject({ reason: 'orphan-claim' });
    expect(engine.jobOf(id)).toMatchObject({ lapses: 0, failures: 0 });
  });

  it('releases an orphan once, however many beats see it before the release is written', async () => {
    await crew.start(() => 'done');
    const arrival = deferred();
    crew.faults['store.claim'] = [{ kind: 'late', at: arrival.promise }, ...Array.from({ length: 5 }, () => AWAY)];
    const id = await engine.submit();
    await settle();
    arrival.resolve();
    crew.faults['store.apply'] = Array.from({ length: 30 }, () => AWAY);
    await engine.clock.advance(100_000);
    expect(engine.events.of('orphan-released')).toHaveLength(1);
    expect(engine.outcomesOf(id)).toEqual(['released', 'succeeded']);
  });

  it('does not start what was claimed a TTL ago, its reply having been that slow', async () => {
    await crew.start(() => 'done');
    const reply = deferred();
    crew.faults['store.claim'] = [{ kind: 'slow', until: reply.promise }];
    const id = await engine.submit();
    await engine.clock.advance(31_000);
    reply.resolve();
    await settle();
    expect(engine.attemptsOf(id)[0]).toMatchObject({ outcome: 'released', reason: 'not-started', startedAt: null });
    await engine.clock.advance(5_000);
    expect(engine.outcomesOf(id)).toEqual(['released', 'succeeded']);
  });

  it('hands back what it claimed ahead and could not start within a TTL, for others to run', async () => {
    const hanging = deferred();
    await crew.start(() => (started.length <= 100 ? engine.clock.sleep(5) : hanging.promise), { slots: 1 });
    await engine.submitMany(300, { timeoutMs: 600_000 });
    await engine.clock.advance(5_000);
    expect(started).toHaveLength(101);
    expect(engine.db.running.size).toBeGreaterThan(10);
    await engine.clock.advance(45_000);
    expect([...engine.db.running.keys()]).toEqual([started.at(-1)]);
    const released = [...engine.db.attempts.values()].flat().filter(({ outcome }) => outcome === 'released');
    expect(released.length).toBeGreaterThan(10);
    expect(released.every(({ reason, startedAt }) => reason === 'not-started' && startedAt === null)).toBe(true);
    hanging.resolve();
  });

  it('gives a job that nobody here can run to a worker that can', async () => {
    await crew.start(() => 'done');
    const id = await engine.submit({ type: 'only.there' });
    await engine.clock.advance(20_000);
    expect(engine.jobOf(id)).toMatchObject({ state: 'PENDING', attempt: 0 });
    const other = engine.workerOf([aHandler(() => 'there', 'only.there')]);
    crew.workers.push(other);
    await other.start();
    await engine.clock.advance(5_000);
    expect(engine.outcomesOf(id)).toEqual(['succeeded']);
  });

  it('stores what a handler says of its progress, its last word included', async () => {
    await crew.start(async ({ progress }) => {
      progress({ percent: 10 });
      await engine.clock.sleep(1_000);
      progress({ percent: 99 });
    });
    const id = await engine.submit();
    await engine.clock.advance(600);
    expect(engine.db.progress.get(id)).toMatchObject({ value: '{"percent":10}' });
    await engine.clock.advance(600);
    expect(engine.db.progress.get(id)).toMatchObject({ value: '{"percent":99}', sequence: 2 });
  });

  it('runs a job exactly as often as it may fail, each time after its backoff, and then leaves a dead letter', async () => {
    await engine.startServices();
    await crew.start(({ job }) => {
      throw new Error(`attempt ${job.attempt} failed`);
    });
    const retry = { kind: 'exponential', baseMs: 2_000, factor: 2, maxMs: 600_000, jitter: 'none' } as const;
    const id = await engine.submit({ maxAttempts: 4, retry });
    await engine.clock.advance(120_000);
    expect(engine.jobOf(id)).toMatchObject({ state: 'DEAD', failures: 4, attempt: 4, lapses: 0 });
    const attempts = engine.attemptsOf(id);
    expect(attempts.map(({ error }) => error?.message)).toEqual([1, 2, 3, 4].map((n) => `attempt ${n} failed`));
    expect(attempts.at(-1)).toMatchObject({ outcome: 'failed', reason: 'exhausted' });
    const gaps = attempts
      .slice(1)
      .map(({ startedAt }, index) => startedAt!.getTime() - attempts[index]!.finishedAt!.getTime());
    // The promoter wakes with the job's time, on a clock of whole milliseconds.
    for (const [index, gap] of gaps.entries()) expect(gap - 2_000 * 2 ** index).toBeLessThanOrEqual(50);
    for (const [index, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(2_000 * 2 ** index);
    expect([...engine.db.deadLetters.values()]).toMatchObject([
      {
        jobId: id,
        attempt: 4,
        reason: 'exhausted',
        failures: 4,
        superseded: false,
        error: { message: 'attempt 4 failed' },
      },
    ]);
    expect(engine.db.outbox.size).toBe(0);
    await engine.stopServices();
  });

  describe('a cancel', () => {
    async function cancel(id: string): Promise<void> {
      await engine.store.apply([aCancel(engine.jobOf(id))]);
    }

    it('ends a run whose handler honours its signal, as soon as it is told', async () => {
      const worker = await crew.start(crew.sleep(60_000));
      const id = await engine.submit({ timeoutMs: 600_000 });
      await settle();
      await cancel(id);
      worker.cancel([engine.claimOf(id)]);
      await settle();
      expect(engine.jobOf(id).state).toBe('CANCELLED');
      expect(engine.outcomesOf(id)).toEqual(['cancelled']);
    });

    it.each([
      ['in its slot', 0],
      ['in the queue', 1],
    ])('ends a run whose claim had not answered yet, %s', async (_where, occupied) => {
      const worker = await crew.start((context) => crew.sleep(started.length <= 40 ? 50 : 600_000)(context), {
        slots: 1,
      });
      // A worker that finishes many claims ahead of its slots.
      await engine.submitMany(40);
      await engine.clock.advance(2_000);
      await engine.submitMany(occupied);
      await settle();
      const reply = deferred();
      crew.faults['store.claim'] = [{ kind: 'slow', until: reply.promise }];
      const id = await engine.submit();
      await settle();
      expect([engine.jobOf(id).state, worker.busySlots]).toEqual(['RUNNING', occupied]);
      await cancel(id);
      worker.cancel([engine.claimOf(id)]);
      reply.resolve();
      await settle();
      expect(engine.jobOf(id).state).toBe('CANCELLED');
    });

    it('reaches a run with the next beat when the notice is lost', async () => {
      await crew.start(crew.sleep(60_000));
      const id = await engine.submit({ timeoutMs: 600_000 });
      await settle();
      await cancel(id);
      await engine.clock.advance(12_000);
      expect(engine.jobOf(id).state).toBe('CANCELLED');
    });

    it('ends a run whose handler ignores it, after its grace', async () => {
      const worker = await crew.start(ignore);
      const id = await engine.submit({ timeoutMs: 600_000 });
      await settle();
      await cancel(id);
      worker.cancel([engine.claimOf(id)]);
      await engine.clock.advance(29_000);
      expect(engine.jobOf(id).state).toBe('RUNNING');
      await engine.clock.advance(1_500);
      expect(engine.jobOf(id).state).toBe('CANCELLED');
      expect(worker.busySlots).toBe(0);
    });

    it.each(['by a notice', 'by a beat'])(
      'ends a claimed job that waits for a slot without running it, %s',
      async (by) => {
        const worker = await crew.start(() => engine.clock.sleep(started.length < 40 ? 50 : 15_000), { slots: 1 });
        await engine.submitMany(100);
        await engine.clock.advance(3_000);
        const waiting = [...engine.db.running.keys()].find((id) => !started.includes(id))!;
        await cancel(waiting);
        if (by === 'by a notice') worker.cancel([engine.claimOf(waiting)]);
        await engine.clock.advance(by === 'by a notice' ? 0 : 11_500);
        expect(engine.jobOf(waiting).state).toBe('CANCELLED');
        await engine.clock.advance(1_500_000);
        expect(started).not.toContain(waiting);
        expect(engine.states()).toEqual({ SUCCEEDED: 99, CANCELLED: 1 });
      },
    );

    it('does not undo what had succeeded first', async () => {
      await crew.start(() => 'done');
      const id = await engine.submit();
      await settle();
      expect(engine.jobOf(id).state).toBe('SUCCEEDED');
    });
  });

  describe('a lost run', () => {
    it('writes nothing, and its slot goes to another although its handler ignores it', async () => {
      await crew.start(ignore, { slots: 1 });
      const id = await engine.submit({ timeoutMs: 600_000 });
      await settle();
      crew.faults['registry.beat'] = always(AWAY);
      crew.faults['leases.renew'] = always(AWAY);
      const applied = engine.events.of('attempt-settled').length;
      await engine.clock.advance(45_000);
      expect(engine.events.of('run-lost')).toMatchObject([{ jobId: id, reason: 'stale' }]);
      expect(engine.events.of('attempt-settled')).toHaveLength(applied);
      expect(crew.workers[0]!.busySlots).toBe(0);
      expect(engine.jobOf(id)).toMatchObject({ state: 'RUNNING', attempt: 1 });
      crew.faults = {};
    });

    it('is handed back at once when the worker hears from the database again', async () => {
      let runs = 0;
      await crew.start(() => ((runs += 1) === 1 ? new Promise(() => {}) : 'done'), { slots: 1 });
      const id = await engine.submit({ timeoutMs: 600_000 });
      await settle();
      crew.faults['registry.beat'] = always(AWAY);
      crew.faults['leases.renew'] = always(AWAY);
      await engine.clock.advance(45_000);
      crew.faults = {};
      await engine.clock.advance(15_000);
      expect(engine.outcomesOf(id)).toEqual(['released', 'succeeded']);
      expect(crew.lapses()).toBe(0);
    });

    it('is fenced when its worker was frozen for twice a TTL and a reaper took the job', async () => {
      await engine.startServices();
      const frozen = deferred<string>();
      await crew.start(() => frozen.promise);
      const id = await engine.submit({ timeoutMs: 600_000 });
      await settle();
      // The frozen process neither beats nor settles; everything else goes on.
      crew.faults['registry.beat'] = always({ kind: 'request-lost' });
      crew.faults['leases.renew'] = always({ kind: 'refused', code: 'lease-store-unavailable' });
      crew.faults['store.claim'] = always(AWAY);
      crew.faults['store.claimIdle'] = always(AWAY);
      await engine.clock.advance(90_000);
      expect(engine.outcomesOf(id)).toEqual(['lapsed']);
      frozen.resolve('too late');
      await settle();
      crew.faults = {};
      await engine.clock.advance(30_000);
      expect(engine.outcomesOf(id).filter((outcome) => outcome === 'succeeded').length).toBeLessThanOrEqual(1);
      expect(engine.attemptsOf(id)[0]).toMatchObject({ attempt: 1, outcome: 'lapsed' });
      await engine.stopServices();
    });
  });

  it('runs nothing beside a job from quarantine, though there is always something else to run', async () => {
    crew = new WorkersUnderTest({ random: new SeededRandom(7) });
    ({ engine } = crew);
    const poison = await engine.submit({}, { kind: 'after', delayMs: 3_600_000 });
    const running = new Set<string>();
    let neighbours = -1;
    await crew.start(async ({ job }) => {
      running.add(job.id);
      if (job.id === poison) neighbours = running.size - 1;
      else if (running.has(poison)) neighbours += 1;
      await engine.clock.sleep(400);
      running.delete(job.id);
    });
    for (let second = 0; second < 120; second += 1) {
      await engine.submitMany(11);
      await engine.clock.advance(1_000);
      if (second !== 2) continue;
      const scheduledFor = engine.clock.now();
      engine.db.put({ ...engine.jobOf(poison), state: 'PENDING', scheduledFor, lapsesInRow: 7, lapses: 7 });
    }
    expect(engine.outcomesOf(poison)).toEqual(['succeeded']);
    expect(neighbours).toBe(0);
    expect(engine.events.of('drain-for-quarantine').length).toBeGreaterThan(0);
  });

  it('leaves a submission it was never told of to its idle claim', async () => {
    await crew.start(() => 'done');
    const { results } = await engine.store.submit([aSubmission({ id: engine.ids.timeOrdered() })]);
    await engine.clock.advance(5_000);
    expect(engine.outcomesOf(results[0]!.job.id)).toEqual(['succeeded']);
  });
});
