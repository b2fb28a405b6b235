import { DeadmanError, leasePolicy } from '@deadman/domain';
import type {
  ApplyReceipt,
  ClaimedJob,
  JobState,
  JobView,
  LeaseReading,
  LeaseStore,
  OutboxEntry,
  Suspect,
  SuspectQuery,
  Transition,
} from '@deadman/domain';
import { MemoryLeaseStore } from '@deadman/leases';
import { MemoryDatabase, MemoryJobStore, MemoryWorkerRegistry } from '@deadman/store';
import {
  aCancel,
  aSubmission,
  aSuccess,
  FakeClock,
  FixedRandom,
  RecordingEvents,
  SequenceIds,
  settle,
  TEST_RULES,
} from '@deadman/testing';
import { MemoryTransport } from '@deadman/transport';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { DeadLetterRecorder } from './dead-letter-recorder.js';
import { Publisher } from './publisher.js';
import { Reaper } from './reaper.js';

const TTL_MS = 30_000;
const TIMEOUT_MS = 600_000;
const POLICY = leasePolicy(TTL_MS, { cancelGraceMs: 60_000 });

/** A store that can be away, refuse a row, and lose a reply. */
class FaultyStore extends MemoryJobStore {
  isReachable = true;
  poisonedId: string | null = null;
  /** The job whose row somebody else holds. */
  heldId: string | null = null;
  losesReplies = false;
  scans = 0;
  readonly sawErrors: boolean[] = [];

  override async markScan(request: { readonly gapMs: number; readonly sawError: boolean }): Promise<number> {
    this.#reach();
    this.sawErrors.push(request.sawError);
    return super.markScan(request);
  }

  override async findSuspects(query: SuspectQuery): Promise<readonly Suspect[]> {
    this.#reach();
    this.scans += 1;
    return super.findSuspects(query);
  }

  override async apply(
    batch: readonly Transition[],
    { skipLocked = false }: { readonly skipLocked?: boolean } = {},
  ): Promise<ApplyReceipt> {
    if (batch.some(({ jobId }) => jobId === this.poisonedId)) throw new DeadmanError('data-rejected');
    const free = batch.filter(({ jobId }) => jobId !== this.heldId);
    if (free.length < batch.length && !skipLocked) throw new DeadmanError('statement-timeout');
    const { results, outbox } = await super.apply(free);
    if (this.losesReplies) throw new DeadmanError('unknown-outcome');
    const left = [...results];
    return { results: batch.map(({ jobId }) => (jobId === this.heldId ? { kind: 'fenced' } : left.shift()!)), outbox };
  }

  #reach(): void {
    if (!this.isReachable) throw new DeadmanError('store-unavailable');
  }
}

describe('Reaper', () => {
  const ids = new SequenceIds();
  let clock: FakeClock;
  let store: FaultyStore;
  let registry: MemoryWorkerRegistry;
  let areLeasesReachable: boolean;
  let leases: MemoryLeaseStore;
  let transport: MemoryTransport;
  let events: RecordingEvents;
  let reaper: Reaper;

  beforeEach(() => {
    clock = new FakeClock();
    const database = new MemoryDatabase(clock);
    store = new FaultyStore(database);
    registry = new MemoryWorkerRegistry(database);
    areLeasesReachable = true;
    leases = new MemoryLeaseStore(clock, { isReachable: () => areLeasesReachable });
    transport = new MemoryTransport(clock);
    events = new RecordingEvents();
    reaper = aReaper();
  });

  function aReaper(options: { name?: string; limit?: number; leaseStore?: LeaseStore } = {}): Reaper {
    const publisher = new Publisher({ transport, store, clock, events });
    const deps = { store, leases: options.leaseStore ?? leases, publisher, clock, events, rules: TEST_RULES };
    return new Reaper(deps, { name: options.name ?? 'reaper-1', policy: POLICY, limit: options.limit ?? 500 });
  }

  /** Time passes, second by second, with a scan in each and whatever else lives. */
  async function pass(ms: number, living: () => Promise<unknown> = async () => {}): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += 1_000) {
      await clock.advance(1_000);
      await living();
      await reaper.turn();
    }
  }

  async function claim(workerId: string, count = 1): Promise<readonly ClaimedJob[]> {
    await submit(count);
    return claimIdle(workerId, count);
  }

  /** Jobs whose tickets have been sent, so that the outbox holds what came later. */
  async function submit(count: number): Promise<void> {
    const batch = Array.from({ length: count }, () => aSubmission({ timeoutMs: TIMEOUT_MS }));
    const { outbox } = await store.submit(batch);
    await store.deleteOutbox(outbox.map(({ id }) => id));
  }

  function claimIdle(workerId: string, limit: number, alone = false): Promise<readonly ClaimedJob[]> {
    const request = { token: ids.random(), workerId, types: ['demo.echo'], quarantineFrom: 7 };
    return store.claimIdle({ ...request, queues: ['default'], limit, minAgeMs: 0, alone });
  }

  function beat(incarnation: string): Promise<unknown> {
    const worker = { incarnation, name: 'worker', types: ['demo.echo'], queues: ['default'], slots: 4 };
    return registry.beat({ worker, quarantineFrom: 7, quarantineWaitMs: 60_000 });
  }

  const leaseOf = ({ id, attempt, claim: { token, workerId } }: ClaimedJob) => ({
    jobId: id,
    workerId,
    attempt,
    token,
  });
  const renew = (jobs: readonly ClaimedJob[]): Promise<unknown> => leases.renew(jobs.map(leaseOf), TTL_MS);
  const rowOf = async ({ id }: ClaimedJob): Promise<JobView> => (await store.findJob(id))!;
  const outbox = (): Promise<readonly OutboxEntry[]> =>
    store.takeOutbox({ olderThanMs: 0, limit: 100, backoffBaseMs: 0, backoffMaxMs: 0 });
  const reclaims = () => events.of('job-reclaimed');

  /** A worker that has just beaten, holds one job, and is watched by a reaper that both stores trust. */
  async function aWorkerAtWork(
    count = 1,
  ): Promise<{ readonly workerId: string; readonly jobs: readonly ClaimedJob[]; readonly job: ClaimedJob }> {
    await pass(TTL_MS);
    const workerId = ids.random();
    await beat(workerId);
    const jobs = await claim(workerId, count);
    await leases.acquire(jobs.map(leaseOf), TTL_MS);
    return { workerId, jobs, job: jobs[0]! };
  }

  describe('row by row', () => {
    it('takes a job whose worker is silent and whose lease is gone, right after a TTL: the usual death', async () => {
      const { job, workerId } = await aWorkerAtWork();
      await pass(TTL_MS);
      expect(reclaims()).toEqual([]);
      await pass(1_000);
      const { id: jobId, type, queue } = job;
      const told = { jobId, type, queue, attempt: 1, workerId, reason: 'lease-lapsed', state: 'PENDING' };
      expect(reclaims()).toEqual([{ kind: 'job-reclaimed', ...told, recoveryMs: TTL_MS + 1_000 }]);
      expect(await rowOf(job)).toMatchObject({ state: 'PENDING', lapses: 1, lapsesInRow: 1, failures: 0, claim: null });
    });

    it('counts the recovery from the last sign of life, be it the claim or a later beat', async () => {
      const { workerId } = await aWorkerAtWork();
      await pass(10_000, () => beat(workerId));
      await pass(TTL_MS + 1_000);
      expect(reclaims()).toMatchObject([{ recoveryMs: TTL_MS + 1_000 }]);
    });

    it('writes who took the job, and why, into its history', async () => {
      const { job } = await aWorkerAtWork();
      await pass(TTL_MS + 1_000);
      const [attempt] = await store.listAttempts(job.id, { after: 0, limit: 10 });
      expect(attempt).toMatchObject({ outcome: 'lapsed', reason: 'lease-lapsed', reclaimedBy: 'reaper-1' });
    });

    it('sends the ticket of the job right away', async () => {
      await aWorkerAtWork();
      await pass(TTL_MS + 1_000);
      expect(events.of('outbox-sent')).toEqual([{ kind: 'outbox-sent', by: 'writer', count: 1, failed: 0 }]);
    });

    it('leaves a job whose worker lives, whatever becomes of the lease', async () => {
      const { workerId } = await aWorkerAtWork();
      await pass(3 * TTL_MS, () => beat(workerId));
      areLeasesReachable = false;
      await pass(3 * TTL_MS, () => beat(workerId));
      expect(reclaims()).toEqual([]);
    });

    it('leaves a job whose lease is there although its worker is silent: cut off, not dead; and takes it when it lapses', async () => {
      const { jobs } = await aWorkerAtWork();
      await pass(5 * TTL_MS, () => renew(jobs));
      expect(reclaims()).toEqual([]);
      await pass(TTL_MS);
      expect(reclaims()).toMatchObject([{ reason: 'lease-lapsed' }]);
    });

    it('counts a lease of any holder as present', async () => {
      const { job } = await aWorkerAtWork();
      const another = { ...leaseOf(job), attempt: 2, token: ids.random(), workerId: ids.random() };
      await leases.acquire([another], TTL_MS);
      await pass(3 * TTL_MS, () => leases.renew([another], TTL_MS));
      expect(reclaims()).toEqual([]);
    });

    it('takes a job that has overrun its timeout, from a worker that lives and holds the lease', async () => {
      const { jobs, workerId } = await aWorkerAtWork();
      const lives = (): Promise<unknown> => Promise.all([beat(workerId), renew(jobs)]);
      await pass(TTL_MS + TIMEOUT_MS + POLICY.timeoutSlackMs, lives);
      expect(reclaims()).toEqual([]);
      await pass(1_000, lives);
      expect(reclaims()).toMatchObject([{ reason: 'timeout', state: 'PENDING' }]);
    });

    it('waits two TTLs when the lease store is away, and takes the job then', async () => {
      const { workerId } = await aWorkerAtWork();
      areLeasesReachable = false;
      await pass(2 * TTL_MS);
      expect(reclaims()).toEqual([]);
      await pass(1_000);
      expect(reclaims()).toMatchObject([{ workerId, reason: 'worker-gone', recoveryMs: 2 * TTL_MS + 1_000 }]);
    });

    it('waits for one TTL after it last saw the lease when the lease store goes away', async () => {
      const { jobs } = await aWorkerAtWork();
      await pass(3 * TTL_MS, () => renew(jobs));
      areLeasesReachable = false;
      await pass(TTL_MS);
      expect(reclaims()).toEqual([]);
      await pass(1_000);
      expect(reclaims()).toMatchObject([{ reason: 'worker-gone' }]);
    });

    it('believes no absence of a lease for a TTL after the lease store came back without its memory', async () => {
      await aWorkerAtWork();
      await pass(TTL_MS - 1_000);
      leases.forget();
      await pass(TTL_MS);
      expect(reclaims()).toEqual([]);
      await pass(1_000);
      expect(reclaims()).toMatchObject([{ reason: 'lease-lapsed' }]);
    });

    it('takes a job whose worker has no row at all', async () => {
      await pass(TTL_MS);
      await claim(ids.random());
      await pass(TTL_MS + 1_000);
      expect(reclaims()).toMatchObject([{ reason: 'lease-lapsed', recoveryMs: TTL_MS + 1_000 }]);
    });

    it('leaves a job that was claimed within a TTL, even by a worker that has been silent for longer', async () => {
      const workerId = ids.random();
      await beat(workerId);
      await pass(2 * TTL_MS);
      await claim(workerId);
      await pass(TTL_MS);
      expect(reclaims()).toEqual([]);
      await pass(1_000);
      expect(reclaims()).toMatchObject([{ workerId, reason: 'lease-lapsed' }]);
    });

    it('ends a job CANCELLED whose cancel is past its grace, although its worker lives', async () => {
      const { job, jobs, workerId } = await aWorkerAtWork();
      const lives = (): Promise<unknown> => Promise.all([beat(workerId), renew(jobs)]);
      await store.apply([aCancel(await rowOf(job))]);
      await pass(POLICY.cancelGraceMs, lives);
      expect(reclaims()).toEqual([]);
      await pass(1_000, lives);
      expect(reclaims()).toMatchObject([{ reason: 'cancel-grace', state: 'CANCELLED' }]);
      const [attempt] = await store.listAttempts(job.id, { after: 0, limit: 1 });
      expect(attempt).toMatchObject({ outcome: 'cancelled', reason: 'cancel-grace', reclaimedBy: 'reaper-1' });
    });

    it('ends a job CANCELLED that was asked to end and whose worker died', async () => {
      const { job } = await aWorkerAtWork();
      await store.apply([aCancel(await rowOf(job))]);
      await pass(TTL_MS + 1_000);
      expect(await rowOf(job)).toMatchObject({ state: 'CANCELLED', lapses: 1 });
    });
  });

  describe('what it must not believe', () => {
    it('never takes an error of the lease store for the absence of leases', async () => {
      const { jobs } = await aWorkerAtWork();
      const broken = new MemoryLeaseStore(clock);
      broken.read = () => Promise.reject(new Error('an error that nobody translated'));
      reaper = aReaper({ leaseStore: broken });
      await pass(2 * TTL_MS, () => renew(jobs));
      expect(reclaims()).toEqual([]);
      expect(events.of('reaper-scanned').at(-1)).toMatchObject({ isLeaseStoreTrusted: false });
    });

    it('takes an answer that is too short for no answer about the rest', async () => {
      await aWorkerAtWork(2);
      leases.read = async (): Promise<LeaseReading> => ({ present: [], unbrokenMs: 10 * TTL_MS });
      await pass(2 * TTL_MS);
      expect(reclaims()).toEqual([]);
    });

    it('earns the trust in leases while there is nothing to look at', async () => {
      await pass(TTL_MS + 1_000);
      expect(events.of('reaper-scanned').at(-1)).toMatchObject({ isLeaseStoreTrusted: true });
    });

    /** The lease store is trusted throughout, so that only the database's own gap protects the jobs. */
    function trustLeases(): void {
      const read = leases.read.bind(leases);
      leases.read = async (jobIds) => ({ ...(await read(jobIds)), unbrokenMs: 10 * TTL_MS });
    }

    it('takes nobody for a TTL after the database was away, when everyone looks stale, and the dead right after', async () => {
      const { workerId } = await aWorkerAtWork();
      trustLeases();
      await clock.advance(3 * TTL_MS);
      await pass(TTL_MS);
      expect(reclaims()).toEqual([]);
      await pass(1_000);
      expect(reclaims()).toMatchObject([{ workerId, reason: 'lease-lapsed' }]);
    });

    it('spares the living after an outage for good, once they have beaten again', async () => {
      const { workerId, job } = await aWorkerAtWork();
      trustLeases();
      await clock.advance(3 * TTL_MS);
      await pass(TTL_MS - 1_000);
      await beat(workerId);
      await pass(TTL_MS);
      expect(reclaims()).toEqual([]);
      expect(await rowOf(job)).toMatchObject({ state: 'RUNNING' });
    });

    it('takes nobody for a TTL after an error that is shorter than any gap', async () => {
      await aWorkerAtWork();
      trustLeases();
      await pass(TTL_MS);
      store.isReachable = false;
      await expect(reaper.turn()).rejects.toMatchObject({ code: 'store-unavailable' });
      store.isReachable = true;
      await pass(TTL_MS);
      expect(reclaims()).toEqual([]);
      await pass(1_000);
      expect(reclaims()).toHaveLength(1);
    });

    it('tells the next scan of an error that it saw, however short the gap', async () => {
      await reaper.turn();
      store.isReachable = false;
      await expect(reaper.turn()).rejects.toMatchObject({ code: 'store-unavailable' });
      store.isReachable = true;
      await reaper.turn();
      await reaper.turn();
      expect(store.sawErrors).toEqual([false, true, false]);
    });

    it('keeps an error that it saw until a scan was marked with it, though another transaction is in the way', async () => {
      await aWorkerAtWork();
      trustLeases();
      await pass(TTL_MS);
      store.isReachable = false;
      await expect(reaper.turn()).rejects.toMatchObject({ code: 'store-unavailable' });
      store.isReachable = true;
      const markScan = store.markScan.bind(store);
      store.markScan = () => Promise.reject(new DeadmanError('transaction-conflict'));
      await expect(reaper.turn()).rejects.toMatchObject({ code: 'transaction-conflict' });
      store.markScan = markScan;
      await pass(TTL_MS);
      expect(reclaims()).toEqual([]);
      await pass(1_000);
      expect(reclaims()).toHaveLength(1);
    });

    it('does not take a conflict for an outage: the database was there and answered', async () => {
      await reaper.turn();
      store.findSuspects = () => Promise.reject(new DeadmanError('transaction-conflict'));
      await expect(reaper.turn()).rejects.toMatchObject({ code: 'transaction-conflict' });
      await expect(reaper.turn()).rejects.toMatchObject({ code: 'transaction-conflict' });
      expect(store.sawErrors).toEqual([false, false, false]);
    });

    it('decides nothing from readings between which it was frozen', async () => {
      const { workerId, jobs } = await aWorkerAtWork();
      await pass(2 * TTL_MS, () => renew(jobs));
      const read = leases.read.bind(leases);
      leases.read = async (jobIds) => {
        await clock.advance(TTL_MS);
        await beat(workerId);
        return { ...(await read(jobIds)), unbrokenMs: 10 * TTL_MS };
      };
      await reaper.turn();
      expect(reclaims()).toEqual([]);
    });
  });

  describe('many at once', () => {
    it('takes a job once when two reapers see it together', async () => {
      const { job } = await aWorkerAtWork();
      await pass(TTL_MS - 1_000);
      await clock.advance(2_000);
      await Promise.all([reaper.turn(), aReaper({ name: 'reaper-2' }).turn()]);
      expect(reclaims()).toHaveLength(1);
      expect(await rowOf(job)).toMatchObject({ lapses: 1, state: 'PENDING' });
      expect(await store.listAttempts(job.id, { after: 0, limit: 10 })).toHaveLength(1);
    });

    it('loses against a worker that settles between its look and its write', async () => {
      const { job } = await aWorkerAtWork();
      await pass(TTL_MS - 1_000);
      await clock.advance(2_000);
      const read = leases.read.bind(leases);
      leases.read = async (jobIds) => {
        await store.apply([aSuccess(job)]);
        return read(jobIds);
      };
      await reaper.turn();
      expect(reclaims()).toEqual([]);
      expect(await rowOf(job)).toMatchObject({ state: 'SUCCEEDED', lapses: 0 });
    });

    it('fences the outcome of a zombie whose job it took, also after the next claim', async () => {
      const { job } = await aWorkerAtWork();
      await pass(TTL_MS + 1_000);
      expect((await store.apply([aSuccess(job)])).results).toEqual([{ kind: 'fenced' }]);
      await claimIdle(ids.random(), 1);
      expect((await store.apply([aSuccess(job)])).results).toEqual([{ kind: 'fenced' }]);
      expect(await rowOf(job)).toMatchObject({ state: 'RUNNING', attempt: 2 });
    });

    it('waits for no row that somebody else holds, and takes the rest', async () => {
      const { jobs } = await aWorkerAtWork(3);
      store.heldId = jobs[1]!.id;
      await pass(TTL_MS + 1_000);
      expect(reclaims().map(({ jobId }) => jobId)).toEqual([jobs[0]!.id, jobs[2]!.id]);
      store.heldId = null;
      await reaper.turn();
      expect(reclaims()).toHaveLength(3);
    });

    it('takes all others when the database refuses one, and tells of that one', async () => {
      const { jobs } = await aWorkerAtWork(20);
      store.poisonedId = jobs[7]!.id;
      await pass(TTL_MS + 1_000);
      expect(reclaims()).toHaveLength(19);
      expect(events.of('loop-failed')).toMatchObject([{ loop: 'reaper', error: { code: 'data-rejected' } }]);
      expect(events.of('outbox-sent').reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(0);
    });

    it('looks again at once while its limit was reached and something could be taken', async () => {
      await aWorkerAtWork(5);
      await pass(TTL_MS - 1_000);
      await clock.advance(2_000);
      const two = aReaper({ limit: 2 });
      expect([await two.turn(), await two.turn(), await two.turn()]).toEqual(['again', 'again', undefined]);
      expect(reclaims()).toHaveLength(5);
    });

    it('takes the dead behind a crowd that it has to leave', async () => {
      const { jobs: cutOff } = await aWorkerAtWork(50);
      const dead = await claim(ids.random(), 10);
      reaper = aReaper({ limit: 10 });
      await pass(TTL_MS + 5_000, () => renew(cutOff));
      expect(new Set(reclaims().map(({ jobId }) => jobId))).toEqual(new Set(dead.map(({ id }) => id)));
    });

    it('does not wait for a transport that never answers', async () => {
      transport.publish = () => new Promise(() => {});
      await aWorkerAtWork();
      await pass(TTL_MS + 1_000);
      expect(reclaims()).toHaveLength(1);
    });

    it('throws an unknown outcome; what was taken is in the history once, and its ticket in the outbox', async () => {
      const { job } = await aWorkerAtWork();
      await pass(TTL_MS - 1_000);
      await clock.advance(2_000);
      store.losesReplies = true;
      await expect(reaper.turn()).rejects.toMatchObject({ code: 'unknown-outcome' });
      store.losesReplies = false;
      await pass(2 * TTL_MS);
      expect(await rowOf(job)).toMatchObject({ state: 'PENDING', lapses: 1 });
      expect(await outbox()).toMatchObject([{ kind: 'ready', jobIds: [job.id] }]);
    });
  });

  describe('a job that kills its process', () => {
    /** Dies with whatever it claims: no beat, no lease, until the reaper has taken the job. */
    async function dieOnce(alone: boolean): Promise<ClaimedJob> {
      const [job] = await claimIdle(ids.random(), 1, alone);
      await pass(TTL_MS + 1_000);
      return job!;
    }

    const deaths = async (): Promise<readonly OutboxEntry[]> => (await outbox()).filter(({ kind }) => kind === 'dead');

    /** Returns the job's id; `onLapse` hears the state after each. */
    async function dieUntilDead(onLapse: (state: JobState) => void = () => {}): Promise<string> {
      await pass(TTL_MS);
      await submit(1);
      for (let lapse = 1; ; lapse += 1) {
        const job = await dieOnce(lapse > 7);
        const { state } = await rowOf(job);
        onLapse(state);
        if (state === 'DEAD') return job.id;
        await pass(61_000);
        await store.promoteDue({ limit: 1 });
      }
    }

    it('goes to quarantine from its seventh lapse in a row, and ends DEAD after eight alone', async () => {
      const states: JobState[] = [];
      await dieUntilDead((state) => states.push(state));
      expect(states.slice(0, 6)).toEqual(Array.from({ length: 6 }, () => 'PENDING'));
      expect(states.slice(6, 14)).toEqual(Array.from({ length: 8 }, () => 'SCHEDULED'));
      expect(states.slice(14)).toEqual(['DEAD']);
    });

    it('leaves a dead letter that says why, by way of the outbox', async () => {
      await dieUntilDead();
      expect(await deaths()).toMatchObject([{ attempt: 15 }]);
      const recorder = new DeadLetterRecorder({ transport, store, clock, random: new FixedRandom(), events });
      await recorder.start();
      await settle();
      expect(events.of('dead-letter-recorded')).toMatchObject([
        { attempt: 15, reason: 'crash-loop', superseded: false },
      ]);
      expect(await deaths()).toEqual([]);
      await recorder.stop();
    });

    it('is blamed for no failure, and its history tells of every lapse', async () => {
      const id = await dieUntilDead();
      expect(await store.findJob(id)).toMatchObject({ failures: 0, lapses: 15, crashes: 8, attempt: 15 });
      const attempts = await store.listAttempts(id, { after: 0, limit: 100 });
      const reasons = attempts.map(({ reason }) => reason);
      expect(reasons).toEqual([...Array.from({ length: 14 }, () => 'lease-lapsed'), 'crash-loop']);
    });
  });
});
