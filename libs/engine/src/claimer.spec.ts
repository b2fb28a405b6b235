import type { ClaimedJob, Job, Ticket, WorkerRecord } from '@deadman/domain';
import { MemoryLeaseStore } from '@deadman/leases';
import { MemoryDatabase, MemoryJobStore } from '@deadman/store';
import {
  aLapse,
  aSubmission,
  deferred,
  FakeClock,
  FixedRandom,
  RecordingEvents,
  SequenceIds,
  settle,
} from '@deadman/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Claimer } from './claimer.js';
import type { ClaimerOptions } from './claimer.js';
import { FinishRate } from './finish-rate.js';
import { RunLedger } from './run-ledger.js';
import { RunPool } from './run-pool.js';
import type { Run } from './run.js';
import { TicketQueue } from './ticket-queue.js';
import { AWAY, withFaults } from './with-faults.contract.js';
import type { CallFault } from './with-faults.contract.js';

const TTL_MS = 30_000;
const WORKER: WorkerRecord = {
  incarnation: '00000000-0000-4000-8000-00000000aaaa',
  name: 'w',
  types: ['demo.echo'],
  queues: ['default'],
  slots: 4,
};

describe('Claimer', () => {
  let clock: FakeClock;
  let events: RecordingEvents;
  let db: MemoryDatabase;
  let memory: MemoryJobStore;
  let leases: MemoryLeaseStore;
  let ledger: RunLedger;
  let tickets: TicketQueue;
  let pool: RunPool;
  let started: Run[];
  let claimer: Claimer;
  let stop: AbortController;
  let running: Promise<void>;
  /** What was asked of the store, in order. */
  let calls: string[];
  /** What goes wrong with the next calls of a method. */
  let faults: { method: string; fault: CallFault }[];
  let done: string[];
  /** Jobs whose tickets were told of the claim, one mention for each ticket. */
  let redeemed: string[];

  beforeEach(() => {
    clock = new FakeClock();
    events = new RecordingEvents();
    db = new MemoryDatabase(clock);
    memory = new MemoryJobStore(db);
    leases = new MemoryLeaseStore(clock);
    calls = [];
    faults = [];
    done = [];
    redeemed = [];
    started = [];
    stop = new AbortController();
    running = Promise.resolve();
  });

  afterEach(() => expectToStopCleanly());

  async function expectToStopCleanly(): Promise<void> {
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  }

  function faultOf(method: string): CallFault | null {
    calls.push(method);
    const index = faults.findIndex((one) => one.method === method);
    return index < 0 ? null : faults.splice(index, 1)[0]!.fault;
  }

  /** Starts claiming. Runs stay in their slots until `end`. */
  function start(options: Partial<ClaimerOptions> = {}): void {
    const { slots } = options.worker ?? WORKER;
    ledger = new RunLedger(({ kind }) => void calls.push(kind));
    tickets = new TicketQueue(5_000, events, () => claimer.nudge());
    pool = new RunPool(
      slots,
      (run) => hold(run),
      () => claimer.nudge(),
    );
    claimer = new Claimer(
      {
        store: withFaults(memory, faultOf),
        leases,
        clock,
        random: new FixedRandom(),
        ids: new SequenceIds(clock),
        events,
        ledger,
        tickets,
        pool,
        rate: new FinishRate(clock),
      },
      {
        worker: WORKER,
        ttlMs: TTL_MS,
        quarantineFrom: 7,
        maxClaim: 500,
        maxAhead: 100,
        idleMinAgeMs: 2_000,
        idleEveryMs: 1_000,
        idleAtLeastEveryMs: 5_000,
        ...options,
      },
    );
    running = claimer.run(stop.signal);
  }

  const ends = new Map<Run, () => void>();

  function hold(run: Run): Promise<void> {
    started.push(run);
    const end = deferred();
    ends.set(run, end.resolve);
    return end.promise;
  }

  /** Ends a run as a settled one does. */
  async function end(run: Run): Promise<void> {
    run.finish();
    ledger.drop(run);
    ends.get(run)!();
    await settle();
  }

  /** Ends what runs now, and not what starts in its place. */
  async function endAll(): Promise<void> {
    const running = started.filter(({ phase }) => phase !== 'gone');
    for (const run of running) await end(run);
  }

  async function submit(count: number): Promise<string[]> {
    const { results } = await memory.submit(Array.from({ length: count }, () => aSubmission()));
    return results.map(({ job }) => job.id);
  }

  function ticket(...jobIds: readonly string[]): Ticket {
    const [claimed, finished] = [redeemed, done];
    return {
      queue: 'default',
      jobIds,
      claimed: (jobId) => void claimed.push(jobId),
      done: (jobId) => void finished.push(jobId),
    };
  }

  const stateOf = (id: string): Job['state'] => db.jobs.get(id)!.state;
  const claimsBy = (): readonly (readonly [string, number])[] =>
    events.of('jobs-claimed').map(({ by, count }) => [by, count] as const);

  /** Lapses a job as often as it takes to reach quarantine, and until it is due there. */
  async function quarantine(id: string): Promise<void> {
    for (let lapse = 0; lapse < 7; lapse += 1) {
      const identity = { token: new SequenceIds(clock, 9).random(), workerId: WORKER.incarnation, types: WORKER.types };
      const [claimed] = await memory.claim({ ...identity, quarantineFrom: 99, ids: [id] });
      await memory.apply([aLapse(claimed as ClaimedJob)]);
    }
    await clock.advance(1_000);
    await memory.promoteDue({ limit: 1 });
  }

  it('claims what tickets name and starts it, without waiting for anything', async () => {
    start();
    const ids = await submit(2);
    tickets.offer([ticket(...ids)]);
    await settle();
    expect(started.map(({ job }) => job.id).toSorted()).toEqual(ids.toSorted());
    expect(claimsBy()).toEqual([['ticket', 2]]);
    expect(done).toEqual([]);
  });

  it('finishes a ticket when its run is settled, and not before', async () => {
    start();
    const [id] = await submit(1);
    tickets.offer([ticket(id!), ticket(id!)]);
    await settle();
    expect(done).toEqual([]);
    await end(started[0]!);
    expect(done).toEqual([id, id]);
  });

  it('tells every ticket of a job that it was claimed, and none of a job that waits for a slot', async () => {
    start({ worker: { ...WORKER, slots: 1 } });
    const [first, waiting] = (await submit(2)) as [string, string];
    tickets.offer([ticket(first, waiting), ticket(first)]);
    await settle();
    expect([redeemed, done, tickets.size]).toEqual([[first, first], [], 1]);
    await end(started[0]!);
    expect(redeemed).toEqual([first, first, waiting]);
  });

  it('is done at once with a ticket of a job that cannot be claimed, and counts it', async () => {
    start();
    const [id] = await submit(1);
    const stranger = aSubmission().job.id;
    tickets.offer([ticket(id!, stranger)]);
    await settle();
    expect(done).toEqual([stranger]);
    expect(events.of('tickets-handled').map(({ result, count }) => [result, count])).toEqual([
      ['claimed', 1],
      ['stale', 1],
    ]);
  });

  it('claims no more than it has slots, and the next as soon as one is free', async () => {
    start();
    const ids = await submit(6);
    tickets.offer([ticket(...ids)]);
    await settle();
    expect(started).toHaveLength(4);
    expect(db.running.size).toBe(4);
    await end(started[0]!);
    expect(started).toHaveLength(5);
  });

  it('finds by itself what no ticket told of, once it is two seconds old', async () => {
    start();
    const [id] = await submit(1);
    await clock.advance(1_500);
    expect(stateOf(id!)).toBe('PENDING');
    await clock.advance(1_500);
    expect(started.map(({ job }) => job.id)).toEqual([id]);
    expect(claimsBy()).toEqual([['idle', 1]]);
  });

  it('looks up once a second, and between that not at all, while there is nothing to claim or no slot for it', async () => {
    start();
    const turns = (): number => events.of('loop-turned').length;
    await clock.advance(10_000);
    // A wait and an idle claim in each second.
    expect(turns()).toBeGreaterThanOrEqual(20);
    expect(turns()).toBeLessThanOrEqual(22);
    tickets.offer([ticket(...(await submit(8)))]);
    await settle();
    expect(started).toHaveLength(4);
    const before = turns();
    await clock.advance(10_000);
    expect(turns() - before).toBeGreaterThanOrEqual(9);
    expect(turns() - before).toBeLessThanOrEqual(11);
  });

  it('claims idle at once again while it gets all it asked for', async () => {
    await submit(8);
    await clock.advance(2_000);
    start();
    await settle();
    await endAll();
    expect(claimsBy().map(([by]) => by)).toEqual(['idle', 'idle', 'idle', 'idle', 'idle']);
    expect(started).toHaveLength(8);
  });

  it('sees within five seconds what only an idle claim can see, though there are always tickets', async () => {
    const [hidden] = await submit(1);
    start();
    await settle();
    tickets.offer([ticket(...(await submit(500)))]);
    const isSeen = (): boolean => started.some(({ job }) => job.id === hidden);
    while (!isSeen() && clock.monotonicMs() < 10_000) {
      await clock.advance(100);
      await endAll();
    }
    expect(clock.monotonicMs()).toBe(5_000);
    expect(tickets.size).toBeGreaterThan(0);
  });

  /** Lets claims take a tenth of a second each and runs none, until all of these jobs were started. Answers when that was. */
  async function untilStarted(ids: readonly string[]): Promise<number> {
    const claim = memory.claim.bind(memory);
    memory.claim = async (request) => {
      await clock.sleep(100, stop.signal);
      return claim(request);
    };
    const isMissing = (id: string): boolean => !started.some(({ job }) => job.id === id);
    while (ids.some(isMissing) && clock.monotonicMs() < 60_000) {
      await clock.advance(100);
      await endAll();
    }
    return clock.monotonicMs();
  }

  it('leaves nobody waiting behind a flood of stale tickets', async () => {
    const hidden = await submit(40);
    start();
    await settle();
    const strangers = new SequenceIds(clock, 7);
    tickets.offer([ticket(...Array.from({ length: 4_999 }, () => strangers.timeOrdered()))]);
    // Four at a time, in turn with the flood, once the first idle claim has shown that there are more.
    expect(await untilStarted(hidden)).toBeLessThan(8_000);
    expect(tickets.size).toBeGreaterThan(0);
  });

  it('gives what no ticket names a claim a second, although there are always fresh tickets', async () => {
    const hidden = await submit(8);
    start();
    await settle();
    tickets.offer([ticket(...(await submit(2_000)))]);
    expect(await untilStarted(hidden)).toBeLessThan(15_000);
    expect(tickets.size).toBeGreaterThan(0);
  });

  it('keeps the tickets of a claim that failed, tells of it, and tries again after a pause', async () => {
    start();
    const ids = await submit(2);
    faults.push({ method: 'claim', fault: AWAY }, { method: 'claim', fault: AWAY });
    tickets.offer([ticket(...ids)]);
    await settle();
    expect([started.length, done.length, tickets.size]).toEqual([0, 0, 2]);
    await clock.advance(99);
    expect(calls.filter((method) => method === 'claim')).toHaveLength(1);
    await clock.advance(500);
    expect(started).toHaveLength(2);
    expect(events.of('claim-failed')).toHaveLength(2);
  });

  it('waits longer with each failure in a row, up to two seconds, and not at all after a success', async () => {
    start();
    const ids = await submit(1);
    for (let fault = 0; fault < 12; fault += 1) faults.push({ method: 'claim', fault: AWAY });
    tickets.offer([ticket(...ids)]);
    await clock.advance(16_000);
    const failed = events.of('claim-failed').length;
    expect(failed).toBeGreaterThanOrEqual(10);
    expect(failed).toBeLessThanOrEqual(12);
    await clock.advance(10_000);
    expect(started).toHaveLength(1);
  });

  it('starts what a claim gave whose reply was lost, and is not done with any of its tickets', async () => {
    start();
    const ids = await submit(2);
    faults.push({ method: 'claim', fault: { kind: 'reply-lost' } });
    tickets.offer([ticket(...ids)]);
    await settle();
    expect(started.map(({ job }) => job.id).toSorted()).toEqual(ids.toSorted());
    expect([redeemed.toSorted(), done]).toEqual([ids.toSorted(), []]);
    await end(started[0]!);
    expect(done).toHaveLength(1);
  });

  it('keeps the tickets of a claim that never reached the store, and does not take it for "no rows"', async () => {
    start();
    const ids = await submit(2);
    faults.push({ method: 'claim', fault: { kind: 'request-lost' } });
    tickets.offer([ticket(...ids)]);
    await settle();
    expect([redeemed, done, tickets.size]).toEqual([[], [], 2]);
    await clock.advance(200);
    expect(started).toHaveLength(2);
    expect(events.of('tickets-handled').filter(({ result }) => result === 'stale')).toEqual([]);
  });

  it('keeps the tickets when the store cannot even tell what a claim gave', async () => {
    start();
    const ids = await submit(1);
    faults.push({ method: 'claim', fault: { kind: 'request-lost' } }, { method: 'findClaimed', fault: AWAY });
    tickets.offer([ticket(...ids)]);
    await clock.advance(200);
    expect(started).toHaveLength(1);
  });

  it('looks for the culprit when the store refuses a value, and claims all the others', async () => {
    start();
    const ids = await submit(4);
    const refuse: CallFault = { kind: 'refused', code: 'data-rejected' };
    for (let refusal = 0; refusal < 3; refusal += 1) faults.push({ method: 'claim', fault: refuse });
    tickets.offer([ticket(...ids)]);
    await settle();
    expect(started).toHaveLength(3);
    expect(done).toEqual([ids[0]]);
    expect(tickets.size).toBe(0);
  });

  it('tells the heart of a claim before it sends it, and of what it gave before it is over', async () => {
    start();
    const [id] = await submit(1);
    tickets.offer([ticket(id!)]);
    await settle();
    const first = calls.slice(calls.lastIndexOf('claim-began'));
    expect(first).toEqual(['claim-began', 'claim', 'runs-held', 'claim-ended']);
  });

  it('says which claims are under way until their reply was dealt with', async () => {
    start();
    const reply = deferred();
    const [id] = await submit(1);
    faults.push({ method: 'claim', fault: { kind: 'slow', until: reply.promise } });
    tickets.offer([ticket(id!)]);
    await settle();
    const token = db.jobs.get(id!)!.claim!.token;
    expect([ledger.isClaiming(token), ledger.isEmpty, ledger.size]).toEqual([true, false, 0]);
    reply.resolve();
    await settle();
    expect([ledger.isClaiming(token), ledger.size]).toEqual([false, 1]);
  });

  it('counts the age of a claim from when it was sent, however slow the reply', async () => {
    start();
    await clock.advance(10_000);
    const reply = deferred();
    const [id] = await submit(1);
    faults.push({ method: 'claim', fault: { kind: 'slow', until: reply.promise } });
    tickets.offer([ticket(id!)]);
    await clock.advance(4_000);
    reply.resolve();
    await settle();
    expect(started[0]).toMatchObject({ claimedAtMs: 10_000 });
  });

  it('sets the leases of what it claimed, without anybody waiting for them', async () => {
    start();
    const ids = await submit(2);
    tickets.offer([ticket(...ids)]);
    await settle();
    expect((await leases.read(ids)).present).toEqual([true, true]);
    leases.acquire = () => new Promise(() => {});
    tickets.offer([ticket(...(await submit(1)))]);
    await settle();
    expect(started).toHaveLength(3);
  });

  it('takes nothing more once it was told to stop, and ends when no claim is under way', async () => {
    start();
    const reply = deferred();
    const ids = await submit(6);
    faults.push({ method: 'claim', fault: { kind: 'slow', until: reply.promise } });
    tickets.offer([ticket(...ids)]);
    await settle();
    stop.abort();
    let isOver = false;
    void running.then(() => (isOver = true));
    await settle();
    expect(isOver).toBe(false);
    reply.resolve();
    await running;
    expect(ledger.size).toBe(4);
    expect(calls.filter((method) => method === 'claim')).toHaveLength(1);
  });

  describe('quarantine', () => {
    it('is served one by one by a worker that has nothing else to do', async () => {
      const [first, second] = (await submit(2)) as [string, string];
      await quarantine(first);
      await quarantine(second);
      start();
      await settle();
      expect(started.map(({ job }) => job.id)).toEqual([first]);
      await clock.advance(10_000);
      expect(started).toHaveLength(1);
      await end(started[0]!);
      await clock.advance(1_100);
      expect(started.map(({ job }) => job.id)).toEqual([first, second]);
      expect(started.every(({ job }) => job.claim.alone)).toBe(true);
    });

    it('is not served beside anything, and nothing is claimed beside it', async () => {
      start();
      const busy = await submit(1);
      tickets.offer([ticket(...busy)]);
      const [poison] = (await submit(1)) as [string];
      await quarantine(poison);
      await clock.advance(20_000);
      expect(started.map(({ job }) => job.id)).toEqual(busy);
      await end(started[0]!);
      await clock.advance(2_000);
      expect(started.at(-1)!.job.id).toBe(poison);
      tickets.offer([ticket(...(await submit(3)))]);
      await clock.advance(20_000);
      expect(started).toHaveLength(2);
      await end(started[1]!);
      await settle();
      expect(started).toHaveLength(5);
    });

    it('is made room for, for as long as the runs in the slots take, and then served for up to a TTL', async () => {
      start();
      tickets.offer([ticket(...(await submit(1)))]);
      const poisons = (await submit(2)) as [string, string];
      for (const id of poisons) await quarantine(id);
      claimer.makeRoomForQuarantine();
      const waiting = await submit(2);
      tickets.offer([ticket(...waiting)]);
      await clock.advance(2 * TTL_MS);
      expect(started).toHaveLength(1);
      await end(started[0]!);
      expect(started.at(-1)!.job.id).toBe(poisons[0]);
      await end(started[1]!);
      expect(started.at(-1)!.job.id).toBe(poisons[1]);
      await end(started[2]!);
      expect(
        started
          .map(({ job }) => job.id)
          .slice(3)
          .toSorted(),
      ).toEqual(waiting.toSorted());
    });

    it('holds up nobody once another worker has served it', async () => {
      start();
      tickets.offer([ticket(...(await submit(1)))]);
      await settle();
      claimer.makeRoomForQuarantine();
      tickets.offer([ticket(...(await submit(2)))]);
      await clock.advance(2_000);
      expect(started).toHaveLength(1);
      claimer.stopMakingRoom();
      await settle();
      expect(started).toHaveLength(3);
    });

    it('holds up nobody for longer than a TTL after the slots were empty', async () => {
      start();
      const busy = await submit(1);
      tickets.offer([ticket(...busy)]);
      const poisons = await submit(2);
      for (const id of poisons) await quarantine(id);
      claimer.makeRoomForQuarantine();
      const waiting = await submit(1);
      tickets.offer([ticket(...waiting)]);
      await end(started[0]!);
      await clock.advance(TTL_MS);
      await end(started[1]!);
      expect(started.map(({ job }) => job.id)).toEqual([...busy, poisons[0], ...waiting]);
      claimer.makeRoomForQuarantine();
      expect(events.of('drain-for-quarantine')).toHaveLength(2);
    });

    it('is told of once, however often it is asked for', async () => {
      start();
      tickets.offer([ticket(...(await submit(1)))]);
      await settle();
      claimer.makeRoomForQuarantine();
      claimer.makeRoomForQuarantine();
      expect(events.of('drain-for-quarantine')).toHaveLength(1);
    });
  });
});
