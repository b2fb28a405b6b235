import { DEFAULT_LIMITS, leasePolicy, WorkerRegistry } from '@deadman/domain';
import type { Belief, BeatReply, BeatRequest, Job, Lease } from '@deadman/domain';
import { MemoryLeaseStore } from '@deadman/leases';
import { aClaimedJob, deferred, FakeClock, RecordingEvents, SeededRandom, settle } from '@deadman/testing';
import type { Deferred } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Heartbeat } from './heartbeat.js';
import type { HeartWord } from './heart.js';
import { Holdings } from './holdings.js';
import type { Holding } from './holdings.js';
import { Run } from './run.js';

const POLICY = leasePolicy(30_000);
const WORKER = { incarnation: 'w', name: 'w', types: ['demo.echo'], queues: ['default'], slots: 4 };

/** Answers beats as the test says: with what is believed, when the gate opens, or not at all. */
class HandRegistry extends WorkerRegistry {
  beliefs: Belief[] = [];
  isQuarantineWaiting = false;
  failure: Error | null = null;
  gate: Promise<void> = Promise.resolve();
  readonly requests: BeatRequest[] = [];

  override async beat(request: BeatRequest): Promise<BeatReply> {
    this.requests.push(request);
    const reply = { beliefs: [...this.beliefs], isQuarantineWaiting: this.isQuarantineWaiting };
    await this.gate;
    if (this.failure !== null) throw this.failure;
    return reply;
  }

  override async retire(): Promise<void> {}

  override async liveTypes(): Promise<ReadonlySet<string>> {
    return new Set();
  }
}

describe('Heartbeat', () => {
  let clock: FakeClock;
  let events: RecordingEvents;
  let registry: HandRegistry;
  let areLeasesReachable: boolean;
  let leases: MemoryLeaseStore;
  let holdings: Holdings;
  let words: HeartWord[];
  /** What the worker has told and the heart has not read yet. */
  let untold: (() => void)[];
  let heartbeat: Heartbeat;

  beforeEach(() => {
    clock = new FakeClock();
    events = new RecordingEvents();
    registry = new HandRegistry();
    areLeasesReachable = true;
    leases = new MemoryLeaseStore(clock, { isReachable: () => areLeasesReachable });
    holdings = new Holdings();
    words = [];
    untold = [];
    heartbeat = heartbeatWith(new SeededRandom(1));
  });

  function heartbeatWith(random: SeededRandom): Heartbeat {
    return new Heartbeat(
      {
        registry,
        leases,
        holdings,
        clock,
        random,
        events,
        say: (word) => void words.push(word),
        catchUp: () => untold.splice(0).forEach((read) => read()),
      },
      { worker: WORKER, policy: POLICY, limits: DEFAULT_LIMITS, quarantineWaitMs: 60_000 },
    );
  }

  const said = <K extends HeartWord['kind']>(kind: K): readonly Extract<HeartWord, { kind: K }>[] =>
    words.filter((word): word is Extract<HeartWord, { kind: K }> => word.kind === kind);
  const orphans = (): readonly Belief[] => said('orphans-found').flatMap((word) => word.orphans);
  const quarantine = (): readonly string[] =>
    words.map(({ kind }) => kind).filter((kind) => kind.startsWith('quarantine'));

  const beliefIn = (
    { lease: { jobId, attempt, token } }: { readonly lease: Lease },
    cancelRequested = false,
  ): Belief => ({
    jobId,
    attempt,
    token,
    cancelRequested,
  });

  /** A run that began now and that the store knows of. */
  function aRun(overrides: Partial<Job> = {}): Holding {
    const holding = hold(new Run(aClaimedJob({ timeoutMs: 3_600_000, ...overrides }), clock.monotonicMs()));
    holdings.apply({ kind: 'run-started', key: holding.key, atMs: clock.monotonicMs() });
    registry.beliefs.push(beliefIn(holding));
    return holding;
  }

  function hold({ lease, job: { timeoutMs }, claimedAtMs, key }: Run): Holding {
    holdings.apply({ kind: 'runs-held', runs: [{ lease, timeoutMs, claimedAtMs }] });
    return holdings.find(key)!;
  }

  async function beatsDuring(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += POLICY.beatMs) {
      await clock.advance(POLICY.beatMs);
      await heartbeat.beat();
    }
  }

  function holdReply(): Deferred<void> {
    const reply = deferred();
    registry.gate = reply.promise;
    return reply;
  }

  it('tells the store of the worker and keeps every lease', async () => {
    const run = aRun();
    expect(await heartbeat.beat()).toBe(true);
    expect(registry.requests).toEqual([{ worker: WORKER, quarantineFrom: 7, quarantineWaitMs: 60_000 }]);
    expect((await leases.read([run.lease.jobId])).present).toEqual([true]);
    expect(events.of('leases-renewed')).toEqual([{ kind: 'leases-renewed', result: 'renewed', count: 1 }]);
    expect(clock.pendingTimers).toBe(0);
  });

  describe('a run', () => {
    it('lives as long as both stores answer', async () => {
      const run = aRun();
      await beatsDuring(300_000);
      expect(run.isLost).toBe(false);
    });

    it('is told of whenever a store vouches for it, with the time at which that was asked', async () => {
      const run = aRun();
      await clock.advance(20_000);
      areLeasesReachable = false;
      await heartbeat.beat();
      expect(said('runs-vouched')).toEqual([{ kind: 'runs-vouched', keys: [run.key], sentAtMs: 20_000 }]);
      registry.failure = new Error('away');
      await heartbeat.beat();
      expect(said('runs-vouched')).toHaveLength(1);
    });

    it('lives as long as the database alone vouches for it', async () => {
      const run = aRun();
      areLeasesReachable = false;
      await beatsDuring(300_000);
      expect(run.isLost).toBe(false);
      expect(events.of('leases-renewed').every(({ result }) => result === 'error')).toBe(true);
    });

    it('lives as long as its lease alone vouches for it', async () => {
      const run = aRun();
      registry.failure = new Error('away');
      await beatsDuring(300_000);
      expect(run.isLost).toBe(false);
      expect(await heartbeat.beat()).toBe(false);
      expect(events.of('beat-failed').length).toBeGreaterThan(20);
    });

    it('is vouched for by its lease at once, though the database lets the beat wait until it gives up', async () => {
      const run = aRun();
      await clock.advance(20_000);
      holdReply();
      const beating = heartbeat.beat();
      await settle();
      expect(run.renewedAtMs).toBe(20_000);
      await clock.advance(POLICY.beatMs);
      expect(await beating).toBe(false);
      expect(clock.pendingTimers).toBe(0);
    });

    it('is lost when nobody has vouched for it during a TTL, and not a moment before', async () => {
      const run = aRun();
      areLeasesReachable = false;
      registry.failure = new Error('away');
      await beatsDuring(POLICY.ttlMs);
      expect(run.isLost).toBe(false);
      await clock.advance(1);
      await heartbeat.beat();
      expect(run.isLost).toBe(true);
      expect(said('run-lost')).toEqual([{ kind: 'run-lost', reason: 'stale', key: run.key }]);
    });

    it('of which the beat hears only as it begins is vouched for by it', async () => {
      const run = new Run(aClaimedJob(), clock.monotonicMs());
      registry.beliefs = [beliefIn(run)];
      untold.push(() => hold(run));
      await heartbeat.beat();
      expect((await leases.read([run.lease.jobId])).present).toEqual([true]);
      expect(said('runs-vouched').flatMap(({ keys }) => keys)).toContain(run.key);
    });

    it('is never revived by a beat that comes late', async () => {
      const run = aRun();
      await clock.advance(45_000);
      await heartbeat.beat();
      expect(run.isLost).toBe(true);
      await beatsDuring(60_000);
      expect(run.isLost).toBe(true);
      expect(said('run-lost')).toHaveLength(1);
      expect(said('runs-vouched')).toEqual([]);
    });

    it('is not revived by the reply to a beat that was sent in time and answered too late', async () => {
      const run = aRun();
      await clock.advance(25_000);
      areLeasesReachable = false;
      const reply = holdReply();
      const beating = heartbeat.beat();
      await clock.advance(5_001);
      reply.resolve();
      await beating;
      expect(run.isLost).toBe(true);
    });

    it('has the age of the beat when it was sent, not when it was answered', async () => {
      const run = aRun();
      areLeasesReachable = false;
      await clock.advance(1_000);
      const reply = holdReply();
      const beating = heartbeat.beat();
      await clock.advance(5_000);
      reply.resolve();
      await beating;
      expect(run.renewedAtMs).toBe(1_000);
    });

    it('that the store does not confirm is aborted', async () => {
      const run = aRun();
      registry.beliefs = [];
      await heartbeat.beat();
      expect(said('run-lost')).toEqual([{ kind: 'run-lost', reason: 'unconfirmed', key: run.key }]);
    });

    it('that the store knows under another claim is not confirmed', async () => {
      const run = aRun();
      registry.beliefs = [{ ...beliefIn(run), token: 'of a later claim' }];
      await heartbeat.beat();
      expect(run.isLost).toBe(true);
      expect(orphans()).toHaveLength(1);
    });

    it('that was claimed while the beat was under way is not judged by it', async () => {
      const reply = holdReply();
      const beating = heartbeat.beat();
      const run = aRun();
      reply.resolve();
      await beating;
      expect(run.isLost).toBe(false);
    });

    it('whose outcome is on its way is left to the fence', async () => {
      const run = aRun();
      holdings.apply({ kind: 'run-settling', key: run.key });
      registry.beliefs = [];
      await heartbeat.beat();
      await clock.advance(60_000);
      await heartbeat.beat();
      expect(run.isLost).toBe(false);
    });

    it('past its timeout is no longer renewed, and lost a TTL later', async () => {
      const run = aRun({ timeoutMs: 60_000 });
      await beatsDuring(60_000 + POLICY.timeoutSlackMs);
      const lastRenewalMs = run.renewedAtMs;
      expect(run.isLost).toBe(false);
      await beatsDuring(POLICY.ttlMs);
      expect(run.renewedAtMs).toBe(lastRenewalMs);
      expect(run.isLost).toBe(true);
    });

    it('whose lease another holds is still vouched for by its row', async () => {
      const run = aRun();
      await leases.acquire([{ ...run.lease, workerId: 'another', attempt: 9 }], 300_000);
      await beatsDuring(60_000);
      expect(run.isLost).toBe(false);
      expect(events.of('leases-renewed').every(({ result }) => result === 'refused')).toBe(true);
    });

    it('is aborted when a cancel was asked for it', async () => {
      const [run, neighbour] = [aRun(), aRun()];
      registry.beliefs = [beliefIn(run, true), beliefIn(neighbour)];
      await heartbeat.beat();
      expect(said('cancel-asked')).toEqual([{ kind: 'cancel-asked', keys: [run.key] }]);
    });

    it('for which a cancel was asked while the reply of its claim is out is kept for the end of that claim', async () => {
      const [run, neighbour] = [new Run(aClaimedJob(), 0), new Run(aClaimedJob(), 0)];
      for (const { lease } of [run, neighbour]) holdings.apply({ kind: 'claim-began', token: lease.token });
      registry.beliefs = [beliefIn(run, true), beliefIn(neighbour)];
      await heartbeat.beat();
      for (const one of [run, neighbour]) hold(one);
      expect(said('cancel-asked')).toEqual([]);
      expect(holdings.cancelledEarly(run.lease.token).map(({ key }) => key)).toEqual([run.key]);
      expect(holdings.cancelledEarly(neighbour.lease.token)).toEqual([]);
    });
  });

  describe('an orphan', () => {
    it('is what the store believes to run here and nobody holds', async () => {
      const stray = new Run(aClaimedJob(), 0);
      aRun();
      registry.beliefs.push(beliefIn(stray));
      await heartbeat.beat();
      expect(orphans()).toEqual([beliefIn(stray)]);
    });

    it('is no claim whose reply is out, nor one whose reply came while the beat was under way', async () => {
      const run = new Run(aClaimedJob(), 0);
      registry.beliefs = [beliefIn(run)];
      holdings.apply({ kind: 'claim-began', token: run.lease.token });
      await heartbeat.beat();
      const reply = holdReply();
      const beating = heartbeat.beat();
      hold(run);
      holdings.apply({ kind: 'claim-ended', token: run.lease.token });
      reply.resolve();
      await beating;
      expect(orphans()).toEqual([]);
    });

    it('is no claim that began while the beat was under way', async () => {
      const run = new Run(aClaimedJob(), 0);
      registry.beliefs = [beliefIn(run)];
      const reply = holdReply();
      const beating = heartbeat.beat();
      holdings.apply({ kind: 'claim-began', token: run.lease.token });
      reply.resolve();
      await beating;
      expect(orphans()).toEqual([]);
    });

    it('is no run that was settled while the beat was under way', async () => {
      const run = aRun();
      const reply = holdReply();
      const beating = heartbeat.beat();
      holdings.apply({ kind: 'run-dropped', key: run.key });
      reply.resolve();
      await beating;
      expect(orphans()).toEqual([]);
    });

    it('is no run that came and went while the beat was under way, if its claim was out when that was sent', async () => {
      const run = new Run(aClaimedJob(), 0);
      registry.beliefs = [beliefIn(run)];
      holdings.apply({ kind: 'claim-began', token: run.lease.token });
      const reply = holdReply();
      const beating = heartbeat.beat();
      hold(run);
      holdings.apply({ kind: 'claim-ended', token: run.lease.token });
      holdings.apply({ kind: 'run-dropped', key: run.key });
      reply.resolve();
      await beating;
      expect(orphans()).toEqual([]);
    });

    it('is no run that is past its timeout', async () => {
      const run = aRun({ timeoutMs: 1_000 });
      await clock.advance(20_000);
      await heartbeat.beat();
      expect([run.isLost, orphans()]).toEqual([false, []]);
    });
  });

  describe('a reply that comes before news that were told earlier', () => {
    it('does not make an orphan of a claim that had begun', async () => {
      const run = new Run(aClaimedJob(), 0);
      registry.beliefs = [beliefIn(run)];
      const reply = holdReply();
      const beating = heartbeat.beat();
      untold.push(() => holdings.apply({ kind: 'claim-began', token: run.lease.token }));
      reply.resolve();
      await beating;
      expect(orphans()).toEqual([]);
    });

    it('does not lose a run whose outcome the store had already', async () => {
      const run = aRun();
      registry.beliefs = [];
      untold.push(() => holdings.apply({ kind: 'run-settling', key: run.key }));
      await heartbeat.beat();
      const other = aRun();
      registry.beliefs = [];
      const reply = holdReply();
      const beating = heartbeat.beat();
      untold.push(() => holdings.apply({ kind: 'run-settling', key: other.key }));
      reply.resolve();
      await beating;
      expect(said('run-lost')).toEqual([]);
    });
  });

  describe('quarantine', () => {
    it('makes about half of the workers that hear of a waiting job make room, beat by beat', async () => {
      const random = SeededRandom.announced('draining for quarantine');
      heartbeat = heartbeatWith(random);
      registry.isQuarantineWaiting = true;
      for (let beat = 0; beat < 1_000; beat += 1) await heartbeat.beat();
      // 1,000 throws of a fair coin leave this range less than once in 10^9.
      expect(quarantine().length).toBeGreaterThan(400);
      expect(quarantine().length).toBeLessThan(600);
      expect(new Set(quarantine())).toEqual(new Set(['quarantine-waits']));
    });

    it('says when nothing waits there', async () => {
      await heartbeat.beat();
      expect(quarantine()).toEqual(['quarantine-clear']);
    });

    it('says nothing when the store said nothing', async () => {
      registry.failure = new Error('away');
      await heartbeat.beat();
      expect(quarantine()).toEqual([]);
    });
  });

  it('takes less than the time between two beats, whoever hangs', async () => {
    aRun();
    holdReply();
    const beating = heartbeat.beat();
    await clock.advance(POLICY.beatMs - 1);
    expect(await beating).toBe(false);
  });

  it('loses what is stale even when a store fails in a way that nobody foresaw', async () => {
    const run = aRun();
    registry.failure = new TypeError('a bug');
    areLeasesReachable = false;
    await clock.advance(30_001);
    await heartbeat.beat();
    expect(run.isLost).toBe(true);
  });
});
