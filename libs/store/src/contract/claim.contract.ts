import { randomUUID } from 'node:crypto';
import { transition, Transition } from '@deadman/domain';
import type { ClaimedJob, Job } from '@deadman/domain';
import { aCancel, aFailure, aLapse, aSubmissionDueIn, aSuccess, TEST_RULES } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import {
  aTicketClaim,
  anIdleClaim,
  applyOne,
  claimOne,
  jobNow,
  QUARANTINE_FROM,
  runningJob,
  submitMany,
  submitOne,
} from './store-under-test.contract.js';
import type { StoreUnderTest } from './store-under-test.contract.js';

export function claimContract(given: () => StoreUnderTest): void {
  describe('claim', () => {
    it('changes a job as `transition` says, and puts the claim on it', async () => {
      const { store } = given();
      const before = await submitOne(store);
      const request = aTicketClaim([before.id]);
      const [claimed] = await store.claim(request);
      expectClaimed(before, claimed!, { ...request, alone: false });
      const { workerSeenAt, progress, ...row } = await jobNow(store, before.id);
      expect(row).toEqual(claimed);
      expect([workerSeenAt, progress]).toEqual([null, null]);
    });

    it('never gives one job to two of 8 claimers', async () => {
      const { store } = given();
      const ids = (await submitMany(store, 200)).map(({ id }) => id);
      const requests = Array.from({ length: 8 }, (_, index) => aTicketClaim(index % 2 ? ids : ids.toReversed()));
      const claims = await Promise.all(requests.map((request) => store.claim(request)));
      expect(claims.flat()).toHaveLength(200);
      expect(new Set(claims.flat().map(({ id }) => id)).size).toBe(200);
      for (const [index, claimed] of claims.entries()) {
        expect(claimed.every(({ claim }) => claim.token === requests[index]!.token)).toBe(true);
      }
    });

    it('takes nothing that is not PENDING, and nothing that does not exist', async () => {
      const { store } = given();
      const scheduled = (await store.submit([aSubmissionDueIn(60_000)])).results[0]!.job;
      const running = await runningJob(store);
      const failed = await runningJob(store);
      await applyOne(store, aFailure(failed));
      const cancelled = await submitOne(store);
      await applyOne(store, aCancel(cancelled));
      const ids = [scheduled, running, failed, cancelled].map(({ id }) => id);
      expect(await store.claim(aTicketClaim([...ids, randomUUID()]))).toEqual([]);
      expect((await jobNow(store, running.id)).claim).toEqual(running.claim);
    });

    it('leaves jobs of types that the worker does not know', async () => {
      const { store } = given();
      const jobs = [await submitOne(store, { type: 'a' }), await submitOne(store, { type: 'b' })];
      const ids = jobs.map(({ id }) => id);
      const claimed = await store.claim(aTicketClaim(ids, { types: ['b', 'c'] }));
      expect(claimed.map(({ id }) => id)).toEqual([ids[1]]);
      expect(await store.claim(aTicketClaim(ids, { types: [] }))).toEqual([]);
    });

    it('takes a job once when its ticket names it twice', async () => {
      const { store } = given();
      const { id } = await submitOne(store);
      expect(await store.claim(aTicketClaim([id, id]))).toHaveLength(1);
      expect((await jobNow(store, id)).attempt).toBe(1);
    });

    it('leaves a job in quarantine to whoever runs it alone', async () => {
      const { store } = given();
      const { id } = await lapseInRow(given(), QUARANTINE_FROM);
      expect(await store.claim(aTicketClaim([id]))).toEqual([]);
      expect(await store.claimIdle(anIdleClaim())).toEqual([]);
      const before = await jobNow(store, id);
      const request = anIdleClaim({ alone: true });
      const [claimed] = await store.claimIdle(request);
      expectClaimed(before, claimed!, request);
    });

    it('takes a job that lapsed often, but not often enough for quarantine', async () => {
      const { store } = given();
      const { id } = await lapseInRow(given(), QUARANTINE_FROM - 1);
      expect(await store.claim(aTicketClaim([id]))).toHaveLength(1);
    });

    it('finds what it claimed by its token, as long as that runs', async () => {
      const { store } = given();
      const ids = (await submitMany(store, 3)).map(({ id }) => id);
      const request = aTicketClaim(ids);
      const claimed = await store.claim(request);
      await runningJob(store);
      const byId = (a: Job, b: Job): number => (a.id < b.id ? -1 : 1);
      expect([...(await store.findClaimed(request.token))].toSorted(byId)).toEqual([...claimed].toSorted(byId));
      await applyOne(store, aSuccess(claimed[0]!));
      expect(await store.findClaimed(request.token)).toHaveLength(2);
      expect(await store.findClaimed(randomUUID())).toEqual([]);
    });
  });

  describe('claimIdle', () => {
    it('never gives one job to two of 8 claimers, and leaves none', async () => {
      const { store } = given();
      await submitMany(store, 200);
      const taken = new Map<string, number>();
      const claimer = async (): Promise<void> => {
        for (let claimed: readonly ClaimedJob[] = []; ;) {
          claimed = await store.claimIdle(anIdleClaim({ limit: 7 }));
          for (const { id } of claimed) taken.set(id, (taken.get(id) ?? 0) + 1);
          if (claimed.length === 0) return;
        }
      };
      await Promise.all(Array.from({ length: 8 }, claimer));
      for (
        let rest = await store.claimIdle(anIdleClaim());
        rest.length > 0;
        rest = await store.claimIdle(anIdleClaim())
      ) {
        for (const { id } of rest) taken.set(id, (taken.get(id) ?? 0) + 1);
      }
      expect(taken.size).toBe(200);
      expect([...taken.values()].every((times) => times === 1)).toBe(true);
    });

    it('takes the oldest first, and no more than asked', async () => {
      const { store, elapse } = given();
      const old = await submitOne(store);
      await elapse(10);
      const bulk = await submitMany(store, 5);
      expect((await store.claimIdle(anIdleClaim({ limit: 1 }))).map(({ id }) => id)).toEqual([old.id]);
      expect(await store.claimIdle(anIdleClaim({ limit: 3 }))).toHaveLength(3);
      expect(await store.claimIdle(anIdleClaim({ limit: 100 }))).toHaveLength(bulk.length - 3);
    });

    it('takes the oldest first over several queues', async () => {
      const { store, elapse } = given();
      const ids: string[] = [];
      for (const queue of ['b', 'a', 'b', 'c', 'a']) {
        ids.push((await submitOne(store, { queue })).id);
        await elapse(5);
      }
      const claimed = await store.claimIdle(anIdleClaim({ queues: ['a', 'b'], limit: 3 }));
      expect(claimed.map(({ id }) => id).toSorted()).toEqual(ids.slice(0, 3).toSorted());
      expect(await store.claimIdle(anIdleClaim({ queues: [] }))).toEqual([]);
    });

    it('takes only jobs of its types and of the age asked for', async () => {
      const { store, elapse } = given();
      await submitOne(store, { type: 'other' });
      const { id } = await submitOne(store);
      expect(await store.claimIdle(anIdleClaim({ minAgeMs: 60_000 }))).toEqual([]);
      await elapse(60_001);
      const young = await submitOne(store);
      const claimed = await store.claimIdle(anIdleClaim({ minAgeMs: 60_000 }));
      expect(claimed.map((job) => job.id)).toEqual([id]);
      expect((await jobNow(store, young.id)).state).toBe('PENDING');
    });

    it('changes a job as `transition` says', async () => {
      const { store } = given();
      const before = await submitOne(store);
      const request = anIdleClaim();
      expectClaimed(before, (await store.claimIdle(request))[0]!, request);
    });

    it('takes nothing but quarantine when it runs alone', async () => {
      const { store } = given();
      await submitOne(store);
      expect(await store.claimIdle(anIdleClaim({ alone: true }))).toEqual([]);
    });
  });
}

function expectClaimed(
  before: Job,
  claimed: ClaimedJob,
  { token, workerId, alone }: { token: string; workerId: string; alone: boolean },
): void {
  const made = transition(before, { kind: 'claim', alone }, TEST_RULES);
  if (!Transition.isGenuine(made)) throw new Error('A pending job can be claimed');
  const { state, attempt, failures, lapses, lapsesInRow, crashes, snoozes } = made.decision;
  const { id, type, queue, payload, maxAttempts, retry, timeoutMs, tags, idempotencyKey, traceparent } = before;
  const spec = { id, type, queue, payload, maxAttempts, retry, timeoutMs, tags, idempotencyKey, traceparent };
  expect(claimed).toEqual({
    ...spec,
    state,
    attempt,
    failures,
    lapses,
    lapsesInRow,
    crashes,
    snoozes,
    version: before.version + 1,
    result: null,
    createdAt: before.createdAt,
    scheduledFor: before.scheduledFor,
    startedAt: claimed.claim.claimedAt,
    finishedAt: null,
    cancelRequestedAt: null,
    lastError: before.lastError,
    claim: { token, workerId, alone, claimedAt: claimed.claim.claimedAt },
  });
  expect(claimed.claim.claimedAt.getTime()).toBeGreaterThanOrEqual(before.createdAt.getTime());
}

/** A PENDING job that lapsed `times` times in a row, its quarantine over. */
export async function lapseInRow({ store, elapse }: StoreUnderTest, times: number): Promise<Job> {
  const { id } = await submitOne(store);
  for (let lapses = 0; lapses < times; lapses += 1) {
    const job = await claimOne(store, id);
    await applyOne(store, aLapse(job));
  }
  if (times >= QUARANTINE_FROM) {
    await elapse(60_000);
    await store.promoteDue({ limit: 10 });
  }
  return jobNow(store, id);
}
