import { aCancel, deferred, settle } from '@deadman/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EngineUnderTest } from './engine-under-test.contract.js';
import { AWAY } from './with-faults.contract.js';
import { always, ignore, WorkersUnderTest } from './workers-under-test.contract.js';

describe('the drain of a worker', () => {
  let crew: WorkersUnderTest;
  let engine: EngineUnderTest;
  let started: readonly string[];

  beforeEach(() => {
    crew = new WorkersUnderTest();
    ({ engine, started } = crew);
  });

  afterEach(() => crew.expectNothingToBeLeft());

  it('lets what runs finish, takes nothing new, and leaves the job of another untouched', async () => {
    const worker = await crew.start(crew.sleep(10_000));
    const ids = await engine.submitMany(4);
    await settle();
    const drained = worker.drain();
    const later = await engine.submit();
    await engine.clock.advance(10_000);
    await drained;
    expect(ids.map((id) => engine.outcomesOf(id))).toEqual(ids.map(() => ['succeeded']));
    expect(engine.jobOf(later)).toMatchObject({ state: 'PENDING', attempt: 0 });
    expect(engine.db.workers.size).toBe(0);
  });

  it('hands back what was claimed ahead, without blame, for another worker to run at once', async () => {
    const worker = await crew.start(crew.sleep(50), { slots: 1 });
    await engine.submitMany(100);
    await engine.clock.advance(2_000);
    const ahead = engine.db.running.size;
    expect(ahead).toBeGreaterThan(1);
    const drained = worker.drain();
    await engine.clock.advance(1_000);
    await drained;
    expect(engine.db.running.size).toBe(0);
    expect(crew.lapses()).toBe(0);
    await crew.start(() => 'done');
    await engine.clock.advance(1_000);
    expect(engine.states()).toEqual({ SUCCEEDED: 100 });
  });

  it('aborts what is still running after its time, and releases it when the handler stops', async () => {
    const worker = await crew.start(crew.sleep(300_000));
    const id = await engine.submit({ timeoutMs: 600_000 });
    await settle();
    const drained = worker.drain();
    await engine.clock.advance(24_999);
    expect(engine.jobOf(id).state).toBe('RUNNING');
    await engine.clock.advance(1);
    await drained;
    expect(engine.attemptsOf(id)).toMatchObject([{ outcome: 'released', reason: 'shutdown' }]);
    expect(engine.jobOf(id)).toMatchObject({ state: 'PENDING', failures: 0, lapses: 0 });
  });

  it('hands back the job of a handler that ignores its signal, and is over within the grace', async () => {
    const worker = await crew.start(ignore);
    const ids = await engine.submitMany(4, { timeoutMs: 600_000 });
    await settle();
    const drained = worker.drain();
    await engine.clock.advance(30_000);
    await drained;
    expect(ids.map((id) => engine.jobOf(id).state)).toEqual(ids.map(() => 'PENDING'));
    expect(crew.lapses()).toBe(0);
  });

  it('says that its worker is gone only when that holds no job any more', async () => {
    const { registry } = engine;
    const retire = registry.retire.bind(registry);
    const leftAtRetire: number[] = [];
    const worker = await crew.start(ignore);
    await engine.submitMany(4, { timeoutMs: 600_000 });
    await settle();
    // Without its row, what a worker still holds would pass for abandoned as soon as the leases cannot be read.
    registry.retire = async (incarnation) => {
      leftAtRetire.push(engine.db.running.size);
      return retire(incarnation);
    };
    expect(engine.db.running.size).toBe(4);
    const drained = worker.drain();
    await engine.clock.advance(35_000);
    await drained;
    expect(leftAtRetire).toEqual([0]);
  });

  it('is over within its grace although a cancel has a longer one', async () => {
    const worker = await crew.start(ignore);
    const id = await engine.submit({ timeoutMs: 600_000 });
    await settle();
    await engine.store.apply([aCancel(engine.jobOf(id))]);
    worker.cancel([engine.claimOf(id)]);
    const hurry = new AbortController();
    const drained = worker.drain(hurry.signal);
    hurry.abort();
    await engine.clock.advance(5_000);
    await drained;
    expect(engine.jobOf(id).state).toBe('CANCELLED');
    expect(engine.clock.pendingTimers).toBe(0);
  });

  it('is over five seconds after the grace, whatever is away, and tells how many jobs it had to leave', async () => {
    const worker = await crew.start(ignore);
    await engine.submitMany(4, { timeoutMs: 600_000 });
    await settle();
    for (const method of ['store.apply', 'registry.beat', 'registry.retire', 'leases.release']) {
      crew.faults[method] = always(AWAY);
    }
    let left: number | null = null;
    void worker.drain().then((count) => (left = count));
    await engine.clock.advance(25_000 + 5_000);
    expect(left).toBeNull();
    await engine.clock.advance(5_000);
    expect(left).toBe(4);
    expect(engine.db.running.size).toBe(4);
    crew.faults = {};
    await engine.startServices();
    await engine.clock.advance(120_000);
    expect(engine.states()).toEqual({ PENDING: 4 });
    await engine.stopServices();
    engine.db.workers.clear();
  });

  it('does not wait for handlers when it is in a hurry', async () => {
    const worker = await crew.start(crew.sleep(300_000));
    const id = await engine.submit({ timeoutMs: 600_000 });
    await settle();
    const hurry = new AbortController();
    const drained = worker.drain(hurry.signal);
    await settle();
    expect(engine.jobOf(id).state).toBe('RUNNING');
    hurry.abort();
    await drained;
    expect(engine.attemptsOf(id)).toMatchObject([{ outcome: 'released', reason: 'shutdown' }]);
  });

  it.each(['patient', 'in a hurry'])('hands back what the claim under way gave, when it is %s', async (mood) => {
    const worker = await crew.start(() => 'done');
    const reply = deferred();
    crew.faults['store.claim'] = [{ kind: 'slow', until: reply.promise }];
    const id = await engine.submit();
    await settle();
    const hurry = new AbortController();
    if (mood === 'in a hurry') hurry.abort();
    const drained = worker.drain(hurry.signal);
    await engine.clock.advance(1_000);
    reply.resolve();
    await engine.clock.advance(60_000);
    await drained;
    expect(engine.attemptsOf(id)).toMatchObject([{ outcome: 'released', reason: 'shutdown' }]);
    expect(started).toEqual([]);
  });

  it('hands back a claim whose reply was lost a moment before', async () => {
    const worker = await crew.start(() => 'done');
    crew.faults['store.claim'] = [{ kind: 'reply-lost' }];
    crew.faults['store.findClaimed'] = [AWAY];
    const id = await engine.submit();
    await settle();
    const drained = worker.drain();
    await engine.clock.advance(1_000);
    await drained;
    expect(engine.attemptsOf(id)).toMatchObject([{ outcome: 'released', reason: 'orphan-claim' }]);
  });

  it('hands everything back although the transport cannot be left', async () => {
    const subscription = { pause: () => Promise.reject(new Error('no')), close: () => new Promise<void>(() => {}) };
    const { transport } = engine;
    const consumeReady = transport.consumeReady.bind(transport);
    Object.assign(transport, { consumeReady: async () => subscription });
    const worker = await crew.start(() => 'done');
    const drained = worker.drain();
    await engine.clock.advance(10_000);
    await drained;
    expect(engine.events.of('loop-failed')).toMatchObject([{ loop: 'tickets' }]);
    Object.assign(transport, { consumeReady });
  });

  it('is the same however often it is asked for, and nothing starts after it', async () => {
    const worker = await crew.start(() => 'done');
    expect(worker.drain()).toBe(worker.drain());
    await worker.drain();
    await worker.start();
    await engine.submit();
    await engine.clock.advance(30_000);
    expect(started).toEqual([]);
  });

  it('ends although the worker never got so far as to say that it lives', async () => {
    crew.faults['registry.beat'] = always(AWAY);
    const worker = await crew.start(() => 'done');
    const drained = worker.drain();
    await engine.clock.advance(30_000);
    await drained;
    expect(engine.clock.pendingTimers).toBe(0);
  });
});
