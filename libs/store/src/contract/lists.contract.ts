import { randomUUID } from 'node:crypto';
import { JOB_STATES } from '@deadman/domain';
import type { DeadLetter, Job, JobFilter, JobQuery, JobStore, JobView, Page, Position } from '@deadman/domain';
import { aCancel, aFailure, aSubmission, aSubmissionDueIn, aSuccess } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { applyOne, claimOne, jobNow, runningJob, submitMany, submitOne } from './store-under-test.contract.js';
import type { StoreUnderTest } from './store-under-test.contract.js';

const TYPES = ['a.one', 'b.two', 'c.three'];
const QUEUES = ['default', 'bulk'];
const TAGS = ['tenant:acme', 'tenant:zenith', 'x'];

export function listsContract(given: () => StoreUnderTest): void {
  describe('findJobs', () => {
    it('finds those that are stored', async () => {
      const { store } = given();
      const jobs = await submitMany(store, 3);
      const found = await store.findJobs([jobs[2]!.id, randomUUID(), jobs[0]!.id]);
      expect(found.map(({ id }) => id).toSorted()).toEqual([jobs[0]!.id, jobs[2]!.id].toSorted());
      expect(found.find(({ id }) => id === jobs[0]!.id)).toEqual(jobs[0]);
      expect(await store.findJobs([])).toEqual([]);
    });
  });

  describe('findJob', () => {
    it('shows when the worker of a running job was last seen, and never that of another', async () => {
      const { store, workers, now } = given();
      const job = await runningJob(store);
      expect((await jobNow(store, job.id)).workerSeenAt).toBeNull();
      const worker = { incarnation: job.claim.workerId, name: 'w', types: [], queues: [], slots: 1 };
      const before = await now();
      await workers.beat({ worker, quarantineFrom: 7, quarantineWaitMs: 60_000 });
      expect((await jobNow(store, job.id)).workerSeenAt!.getTime()).toBeGreaterThanOrEqual(before.getTime());
      await applyOne(store, aSuccess(job));
      expect((await jobNow(store, job.id)).workerSeenAt).toBeNull();
      expect(await store.findJob(randomUUID())).toBeNull();
    });
  });

  describe('listJobs', () => {
    it('pages through jobs that were made in the same instant without losing or repeating one', async () => {
      const { store } = given();
      const ids = new Set<string>();
      // One batch has one `createdAt`: over 1,000 ties, and pages that end in the middle of them.
      for (let batch = 0; batch < 3; batch += 1) {
        for (const { id } of await submitMany(store, 400)) ids.add(id);
      }
      for (const order of ['newest-first', 'oldest-first'] as const) {
        const listed = await allPages(store, { order, limit: 97 });
        expect(listed).toHaveLength(1_200);
        expect(new Set(listed.map(({ id }) => id))).toEqual(ids);
        expect(isOrdered(listed, order)).toBe(true);
      }
    });

    it('ends with a page that says so', async () => {
      const { store } = given();
      expect(await store.listJobs({ order: 'newest-first', limit: 5 })).toEqual({ items: [], next: null });
      await submitMany(store, 10);
      const first = await store.listJobs({ order: 'newest-first', limit: 5 });
      expect(first.next).toEqual(placeOf(first.items[4]!));
      const second = await store.listJobs({ order: 'newest-first', limit: 5, after: first.next! });
      expect([second.items.length, second.next]).toEqual([5, null]);
    });

    it('shows each job as findJob does', async () => {
      const { store } = given();
      const job = await runningJob(store, { tags: ['t'] });
      await store.saveProgress([{ jobId: job.id, attempt: 1, token: job.claim.token, value: '1' }]);
      const { items } = await store.listJobs({ order: 'newest-first', limit: 5 });
      expect(items).toEqual([await jobNow(store, job.id)]);
    });

    it('is not shaken by jobs that are made meanwhile', async () => {
      const { store, elapse } = given();
      await submitMany(store, 6);
      const first = await store.listJobs({ order: 'newest-first', limit: 3 });
      await elapse(5);
      await submitMany(store, 3);
      const second = await store.listJobs({ order: 'newest-first', limit: 3, after: first.next! });
      const ids = [...first.items, ...second.items].map(({ id }) => id);
      expect(new Set(ids).size).toBe(6);
    });

    describe('of a mixed crowd', () => {
      let jobs: readonly JobView[];
      let middle: Date;

      beforeEach(async () => {
        ({ jobs, middle } = await aCrowd(given()));
      });

      const filters: readonly (readonly [string, (from: Date) => JobFilter])[] = [
        ['everything', () => ({})],
        ['a state', () => ({ states: ['SUCCEEDED'] })],
        ['several states', () => ({ states: ['DEAD', 'FAILED', 'PENDING'] })],
        ['a type', () => ({ types: ['a.one'] })],
        ['several types', () => ({ types: ['a.one', 'c.three'] })],
        ['a type nobody has', () => ({ types: ['nobody'] })],
        ['a queue', () => ({ queues: ['bulk'] })],
        ['several queues', () => ({ queues: ['bulk', 'default', 'empty'] })],
        ['a tag', () => ({ tags: ['x'] })],
        ['several tags', () => ({ tags: ['tenant:acme', 'x'] })],
        ['a state and a type', () => ({ states: ['PENDING'], types: ['b.two'] })],
        ['a state and a queue', () => ({ states: ['SUCCEEDED'], queues: ['bulk'] })],
        ['a tag and a state', () => ({ states: ['PENDING', 'RUNNING'], tags: ['tenant:acme'] })],
        [
          'all of them',
          () => ({ states: ['PENDING'], types: ['a.one'], queues: ['default'], tags: ['x', 'tenant:acme'] }),
        ],
        ['what was made after an instant', (from) => ({ createdAfter: from })],
        ['what was made before an instant', (from) => ({ createdBefore: from })],
        ['a state, made before an instant', (from) => ({ states: ['PENDING'], createdBefore: from })],
        ['a tag, made after an instant', (from) => ({ tags: ['x'], createdAfter: from })],
        [
          'a type between two instants',
          (from) => ({
            types: ['a.one'],
            createdAfter: new Date(from.getTime() - 1),
            createdBefore: new Date(from.getTime() + 1),
          }),
        ],
        ['no state at all', () => ({ states: [] })],
      ];

      it.each(filters)('filters by %s, page by page in both orders, and counts the same', async (_what, filterOf) => {
        const { store } = given();
        const filter = filterOf(middle);
        const expected = jobs.filter((job) => isWanted(job, filter)).map(({ id }) => id);
        for (const order of ['newest-first', 'oldest-first'] as const) {
          const listed = await allPages(store, { ...filter, order, limit: 4 });
          expect(listed.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
          expect(isOrdered(listed, order)).toBe(true);
        }
        expect(await store.countJobs(filter, 1_000)).toBe(expected.length);
      });

      it('counts no further than asked', async () => {
        const { store } = given();
        expect(await store.countJobs({}, 7)).toBe(7);
        expect(await store.countJobs({ queues: ['default'] }, 3)).toBe(3);
      });

      it('tells each queue’s jobs by state, and stops counting what ended', async () => {
        const { store } = given();
        const stats = await store.queueStats(['bulk', 'empty', 'default'], 1_000);
        expect(stats.map(({ queue }) => queue)).toEqual(['bulk', 'empty', 'default']);
        for (const { queue, counts, capped } of stats) {
          const ofQueue = jobs.filter((job) => job.queue === queue);
          const expected = JOB_STATES.map((state) => [state, ofQueue.filter((job) => job.state === state).length]);
          expect(counts).toEqual(Object.fromEntries(expected));
          expect(capped).toEqual([]);
        }
        const succeeded = stats[2]!.counts.SUCCEEDED;
        const [atLimit] = await store.queueStats(['default'], succeeded);
        expect(atLimit!.capped).not.toContain('SUCCEEDED');
        const [capped] = await store.queueStats(['default'], succeeded - 1);
        expect(capped!.counts.SUCCEEDED).toBe(succeeded - 1);
        expect(capped!.counts.PENDING).toBe(stats[2]!.counts.PENDING);
        expect(capped!.capped).toContain('SUCCEEDED');
      });
    });
  });

  describe('queueStats', () => {
    it('tells since when the oldest pending job is due, whenever it was made', async () => {
      const { store, elapse } = given();
      expect((await store.queueStats(['default'], 10))[0]!.oldestPendingAgeMs).toBeNull();
      await store.submit([aSubmissionDueIn(50_000)]);
      await elapse(40_000);
      await submitOne(store);
      await elapse(20_000);
      await store.promoteDue({ limit: 10 });
      const [{ oldestPendingAgeMs: ageMs } = { oldestPendingAgeMs: 0 }] = await store.queueStats(['default'], 10);
      expect(ageMs).toBeGreaterThanOrEqual(20_000);
      expect(ageMs).toBeLessThan(30_000);
    });
  });

  describe('listAttempts', () => {
    it('shows the attempts in order, the running one last, page by page', async () => {
      const { store, elapse } = given();
      const { id } = await submitOne(store);
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        await applyOne(store, aFailure(await claimOne(store, id)));
        await elapse(3_600_000);
        await store.promoteDue({ limit: 10 });
      }
      const { claim } = await claimOne(store, id);
      const all = await store.listAttempts(id, { after: 0, limit: 10 });
      expect(all.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
        [1, 'failed'],
        [2, 'failed'],
        [3, 'failed'],
        [4, 'running'],
      ]);
      expect(all[3]).toMatchObject({
        claimToken: claim.token,
        workerId: claim.workerId,
        claimedAt: claim.claimedAt,
        finishedAt: null,
      });
      expect(await store.listAttempts(id, { after: 2, limit: 1 })).toEqual([all[2]]);
      expect(await store.listAttempts(id, { after: 3, limit: 5 })).toEqual([all[3]]);
      expect(await store.listAttempts(randomUUID(), { after: 0, limit: 5 })).toEqual([]);
    });
  });

  describe('listDeadLetters', () => {
    it('pages in both orders and filters by type, queue and reason', async () => {
      const { store, elapse } = given();
      for (let index = 0; index < 12; index += 1) {
        const job = await runningJob(store, { type: TYPES[index % 3]!, queue: QUEUES[index % 2]! });
        await applyOne(store, aFailure(job.maxAttempts ? { ...job, maxAttempts: 1 } : job, {}, index % 4 === 0));
        await store.recordDeadLetters([{ jobId: job.id, attempt: 1 }]);
        if (index % 5 === 0) await elapse(3);
      }
      const list = async (query: Partial<Parameters<JobStore['listDeadLetters']>[0]>): Promise<DeadLetter[]> => {
        const items: DeadLetter[] = [];
        let after: Position | undefined;
        do {
          const page: Page<DeadLetter> = await store.listDeadLetters({
            order: 'newest-first',
            limit: 5,
            ...query,
            ...(after && { after }),
          });
          items.push(...page.items);
          after = page.next ?? undefined;
        } while (after);
        return items;
      };
      const newest = await list({});
      expect(newest).toHaveLength(12);
      expect((await list({ order: 'oldest-first' })).map(({ id }) => id)).toEqual(
        newest.map(({ id }) => id).toReversed(),
      );
      expect(await list({ types: ['a.one'], queues: ['bulk'] })).toHaveLength(2);
      expect(await list({ types: ['a.one', 'b.two'] })).toHaveLength(8);
      const exhausted = await list({ reasons: ['exhausted'] });
      expect(exhausted).toHaveLength(3);
      expect(exhausted.every(({ reason }) => reason === 'exhausted')).toBe(true);
    });
  });

  describe('ping', () => {
    it('answers', async () => {
      expect(await given().store.ping()).toBeUndefined();
    });
  });
}

/** Some 60 jobs over all states, types, queues and tags, and an instant at which some of them were made. */
async function aCrowd({ store, elapse }: StoreUnderTest): Promise<{ jobs: readonly JobView[]; middle: Date }> {
  const made: Job[] = [];
  for (let round = 0; round < 4; round += 1) {
    const batch = Array.from({ length: 15 }, (_, index) => {
      const place = round * 15 + index;
      const spec = { type: TYPES[place % 3]!, queue: QUEUES[place % 7 === 0 ? 1 : 0]!, tags: TAGS.slice(0, place % 4) };
      return place % 11 === 5 ? aSubmissionDueIn(3_600_000, spec) : aSubmission(spec);
    });
    made.push(...(await store.submit(batch)).results.map(({ job }) => job));
    await elapse(7);
  }
  for (const [index, job] of made.entries()) await lead(store, job, index);
  const jobs = await Promise.all(made.map(({ id }) => jobNow(store, id)));
  return { jobs, middle: made[20]!.createdAt };
}

/** Takes a job some way along. */
async function lead(store: JobStore, job: Job, index: number): Promise<void> {
  if (job.state !== 'PENDING' || index % 2 === 0) return;
  if (index % 9 === 0) return void (await applyOne(store, aCancel(job)));
  const claimed = await claimOne(store, job.id, { types: TYPES });
  if (index % 5 === 0) await applyOne(store, aSuccess(claimed));
  else if (index % 3 === 0) await applyOne(store, aFailure(claimed, {}, index % 4 === 1));
}

async function allPages(store: JobStore, query: JobQuery): Promise<JobView[]> {
  const listed: JobView[] = [];
  let after: Position | undefined;
  do {
    const page = await store.listJobs({ ...query, ...(after && { after }) });
    listed.push(...page.items);
    after = page.next ?? undefined;
  } while (after);
  return listed;
}

function isWanted(job: Job, filter: JobFilter): boolean {
  if (filter.states && !filter.states.includes(job.state)) return false;
  if (filter.types && !filter.types.includes(job.type)) return false;
  if (filter.queues && !filter.queues.includes(job.queue)) return false;
  if (filter.tags && !filter.tags.some((tag) => job.tags.includes(tag))) return false;
  if (filter.createdAfter && job.createdAt <= filter.createdAfter) return false;
  return !(filter.createdBefore && job.createdAt >= filter.createdBefore);
}

function isOrdered(jobs: readonly JobView[], order: JobQuery['order']): boolean {
  const places = jobs.map(({ createdAt, id }) => `${createdAt.toISOString()} ${id}`);
  const ascending = places.toSorted();
  const expected = order === 'oldest-first' ? ascending : ascending.toReversed();
  return places.every((place, index) => place === expected[index]);
}

function placeOf({ createdAt, id }: Position): Position {
  return { createdAt, id };
}
