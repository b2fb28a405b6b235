import { randomUUID } from 'node:crypto';
import type { Job, OutboxQuery, PurgeRequest, SuspectQuery } from '@deadman/domain';
import { aCancel, aFailure, aLapse, aRetry, aSnooze, aSubmission, aSubmissionDueIn, aSuccess } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import {
  applyOne,
  claimOne,
  failureOf,
  jobNow,
  outboxRows,
  runningJob,
  submitMany,
  submitOne,
} from './store-under-test.contract.js';
import type { StoreUnderTest } from './store-under-test.contract.js';

const DAY_MS = 86_400_000;

const KEEP: PurgeRequest = {
  finishedKeptMs: 7 * DAY_MS,
  deadKeptMs: 90 * DAY_MS,
  keyKeptMs: 7 * DAY_MS,
  workerKeptMs: DAY_MS,
  limit: 1_000,
};

const LOOK: SuspectQuery = { ttlMs: 30_000, timeoutSlackMs: 5_000, cancelGraceMs: 30_000, limit: 100 };

const RELAY: OutboxQuery = { olderThanMs: 3_000, limit: 100, backoffBaseMs: 1_000, backoffMaxMs: 60_000 };

export function upkeepContract(given: () => StoreUnderTest): void {
  describe('promoteDue', () => {
    it('moves what is due to PENDING as `transition` says, and nothing else', async () => {
      const { store, elapse } = given();
      const failed = await runningJob(store);
      await applyOne(store, aFailure(failed));
      const due = await store.submit([aSubmissionDueIn(2_000), aSubmissionDueIn(900_000)]);
      const later = due.results[1]!.job;
      await elapse(10_000);
      const before = await Promise.all([failed.id, due.results[0]!.job.id].map((id) => jobNow(store, id)));
      const receipt = await store.promoteDue({ limit: 10 });
      expect(receipt.promoted).toBe(2);
      for (const job of before) {
        expect(await jobNow(store, job.id)).toEqual({ ...job, state: 'PENDING', version: job.version + 1 });
      }
      expect((await jobNow(store, later.id)).state).toBe('SCHEDULED');
      expect(receipt.outbox).toMatchObject([{ kind: 'ready', queue: 'default' }]);
      expect(receipt.outbox.flatMap((row) => (row.kind === 'ready' ? row.jobIds : [])).toSorted()).toEqual(
        before.map(({ id }) => id).toSorted(),
      );
    });

    it('says by how much the latest was late', async () => {
      const { store, elapse } = given();
      await store.submit([aSubmissionDueIn(1_000), aSubmissionDueIn(4_000)]);
      await elapse(60_000);
      const { maxDelayMs } = await store.promoteDue({ limit: 10 });
      expect(maxDelayMs).toBeGreaterThanOrEqual(59_000);
      expect(maxDelayMs).toBeLessThan(70_000);
      expect(await store.promoteDue({ limit: 10 })).toEqual({ promoted: 0, maxDelayMs: 0, outbox: [] });
    });

    it('takes the longest due first, and no more than asked', async () => {
      const { store, elapse } = given();
      const { results } = await store.submit([3_000, 1_000, 2_000].map((delayMs) => aSubmissionDueIn(delayMs)));
      await elapse(60_000);
      expect((await store.promoteDue({ limit: 2 })).promoted).toBe(2);
      const states = await Promise.all(results.map(async ({ job }) => (await jobNow(store, job.id)).state));
      expect(states).toEqual(['SCHEDULED', 'PENDING', 'PENDING']);
    });

    it('takes those that are named and due', async () => {
      const { store, elapse } = given();
      const { results } = await store.submit([
        aSubmissionDueIn(1_000),
        aSubmissionDueIn(1_000),
        aSubmissionDueIn(900_000),
      ]);
      const ids = results.map(({ job }) => job.id);
      await elapse(5_000);
      const { promoted } = await store.promoteDue({ limit: 10, ids: [ids[0]!, ids[2]!, ids[0]!, randomUUID()] });
      expect(promoted).toBe(1);
      expect((await jobNow(store, ids[0]!)).state).toBe('PENDING');
      expect(await store.promoteDue({ limit: 10, ids: [] })).toMatchObject({ promoted: 0 });
    });

    it('moves each job once, however many promote', async () => {
      const { store, elapse } = given();
      await store.submit(Array.from({ length: 100 }, () => aSubmissionDueIn(1_000)));
      await elapse(5_000);
      const receipts = await Promise.all(Array.from({ length: 4 }, () => store.promoteDue({ limit: 100 })));
      expect(receipts.reduce((sum, { promoted }) => sum + promoted, 0)).toBe(100);
    });
  });

  describe('findDueSoon', () => {
    it('tells what is due within the time, soonest first, by the database clock', async () => {
      const { store, elapse } = given();
      const { results } = await store.submit(
        [30_000, 10_000, 90_000, 20_000].map((delayMs) => aSubmissionDueIn(delayMs)),
      );
      await elapse(15_000);
      const soon = await store.findDueSoon({ withinMs: 60_000, limit: 10 });
      expect(soon.map(({ id }) => id)).toEqual([1, 3, 0].map((place) => results[place]!.job.id));
      expect(soon[0]!.inMs).toBeLessThanOrEqual(-5_000);
      expect(soon[1]!.inMs).toBeLessThanOrEqual(5_000);
      expect(await store.findDueSoon({ withinMs: 60_000, limit: 1 })).toHaveLength(1);
    });
  });

  describe('markScan', () => {
    const scan = { gapMs: 3_000, sawError: false };

    it('counts for how long scans have come without a gap', async () => {
      const { store, elapse } = given();
      await store.markScan({ ...scan, sawError: true });
      for (let beat = 0; beat < 3; beat += 1) {
        await elapse(1_000);
        await store.markScan(scan);
      }
      const unbrokenMs = await store.markScan(scan);
      expect(unbrokenMs).toBeGreaterThanOrEqual(3_000);
      expect(unbrokenMs).toBeLessThan(13_000);
    });

    it('starts again after a gap, and after an error that a reaper saw', async () => {
      const { store, elapse } = given();
      await store.markScan({ ...scan, sawError: true });
      await elapse(2_000);
      expect(await store.markScan(scan)).toBeGreaterThanOrEqual(2_000);
      await elapse(60_000);
      expect(await store.markScan(scan)).toBe(0);
      await elapse(2_000);
      expect(await store.markScan(scan)).toBeGreaterThanOrEqual(2_000);
      expect(await store.markScan({ ...scan, sawError: true })).toBe(0);
    });
  });

  describe('findSuspects', () => {
    const beat = async (workerId: string): Promise<void> => {
      const worker = { incarnation: workerId, name: 'w', types: ['demo.echo'], queues: ['default'], slots: 1 };
      await given().workers.beat({ worker, quarantineFrom: 7, quarantineWaitMs: 60_000 });
    };
    const suspects = async (): Promise<readonly string[]> =>
      (await given().store.findSuspects(LOOK)).map(({ job }) => job.id);

    it('leaves a young claim, whatever else is wrong', async () => {
      const { store, elapse } = given();
      await runningJob(store, { timeoutMs: 1 });
      await elapse(29_000);
      expect(await suspects()).toEqual([]);
    });

    it('finds the jobs of a worker that is silent for a TTL, and of one without a row', async () => {
      const { store, elapse } = given();
      const [silent, living] = [randomUUID(), randomUUID()];
      const mine = async (workerId: string): Promise<Job> => claimOne(store, (await submitOne(store)).id, { workerId });
      await beat(silent);
      const ofSilent = await mine(silent);
      const ofNobody = await mine(randomUUID());
      await mine(living);
      await elapse(31_000);
      await beat(living);
      const found = await store.findSuspects(LOOK);
      expect(found.map(({ job }) => job.id).toSorted()).toEqual([ofSilent.id, ofNobody.id].toSorted());
      const { workerAgeMs, claimAgeMs, cancelAgeMs, job } = found.find((suspect) => suspect.job.id === ofSilent.id)!;
      expect(workerAgeMs).toBeGreaterThanOrEqual(31_000);
      expect(claimAgeMs).toBeGreaterThanOrEqual(31_000);
      expect(cancelAgeMs).toBeNull();
      expect(job).toEqual(ofSilent);
      expect(found.find((suspect) => suspect.job.id === ofNobody.id)!.workerAgeMs).toBeNull();
    });

    it('finds a run past its timeout and a cancel past its grace, though the worker lives', async () => {
      const { store, elapse } = given();
      const workerId = randomUUID();
      const claim = async (timeoutMs: number): Promise<Job> =>
        claimOne(store, (await submitOne(store, { timeoutMs })).id, { workerId });
      const overrun = await claim(10_000);
      const asked = await claim(900_000);
      await claim(900_000);
      await applyOne(store, aCancel(asked));
      await elapse(31_000);
      await beat(workerId);
      expect(await suspects()).toEqual([asked.id]);
      await elapse(15_000);
      await beat(workerId);
      expect((await suspects()).toSorted()).toEqual([asked.id, overrun.id].toSorted());
      expect((await store.findSuspects(LOOK)).find(({ job }) => job.id === asked.id)!.cancelAgeMs).toBeGreaterThan(
        45_000,
      );
    });

    it('looks at the longest claimed first, and at no more than asked', async () => {
      const { store, elapse } = given();
      const first = await runningJob(store);
      await elapse(1_000);
      await runningJob(store);
      await elapse(60_000);
      expect((await store.findSuspects({ ...LOOK, limit: 1 })).map(({ job }) => job.id)).toEqual([first.id]);
    });
  });

  describe('the outbox', () => {
    it('is taken once it is old enough, and again after a backoff that doubles', async () => {
      const { store, elapse } = given();
      const { outbox } = await store.submit([aSubmission()]);
      expect(await store.takeOutbox(RELAY)).toEqual([]);
      await elapse(3_000);
      expect(await store.takeOutbox(RELAY)).toEqual(outbox);
      expect(await store.takeOutbox(RELAY)).toEqual([]);
      await elapse(1_000);
      expect(await store.takeOutbox(RELAY)).toEqual(outbox);
      await elapse(1_000);
      expect(await store.takeOutbox(RELAY)).toEqual([]);
      await elapse(1_000);
      expect(await store.takeOutbox(RELAY)).toEqual(outbox);
    });

    it('backs off no longer than allowed, however often it was tried', async () => {
      const { store, elapse } = given();
      await store.submit([aSubmission()]);
      await elapse(3_000);
      for (let tries = 0; tries < 70; tries += 1) {
        expect(await store.takeOutbox({ ...RELAY, backoffMaxMs: 5_000 })).toHaveLength(1);
        await elapse(5_000);
      }
    });

    it('gives each row to one of several relays', async () => {
      const { store, elapse } = given();
      for (let row = 0; row < 40; row += 1) await store.submit([aSubmission()]);
      await elapse(3_000);
      const taken = await Promise.all(Array.from({ length: 4 }, () => store.takeOutbox({ ...RELAY, limit: 15 })));
      const ids = taken.flat().map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      for (let rest = await store.takeOutbox(RELAY); rest.length > 0; rest = await store.takeOutbox(RELAY)) {
        ids.push(...rest.map(({ id }) => id));
      }
      expect(new Set(ids).size).toBe(40);
    });

    it('loses what was sent, but never a death', async () => {
      const { store } = given();
      await store.apply([aFailure(await runningJob(store), {}, false)]);
      const rows = await outboxRows(store);
      expect(rows.map(({ kind }) => kind).toSorted()).toEqual(['dead', 'ready']);
      await store.deleteOutbox(rows.map(({ id }) => id));
      await store.deleteOutbox([]);
      expect((await outboxRows(store)).map(({ kind }) => kind)).toEqual(['dead']);
    });

    it('tells how old its oldest row is', async () => {
      const { store, elapse } = given();
      expect(await store.outboxAgeMs()).toBe(0);
      await store.submit([aSubmission()]);
      await elapse(5_000);
      await store.submit([aSubmission()]);
      const ageMs = await store.outboxAgeMs();
      expect(ageMs).toBeGreaterThanOrEqual(5_000);
      expect(ageMs).toBeLessThan(15_000);
    });
  });

  describe('dead letters', () => {
    it('are recorded with what the death left, and only then is its outbox row gone', async () => {
      const { store } = given();
      const { id: jobId } = await submitOne(store, { type: 'order.charge', queue: 'bulk' });
      await applyOne(store, aLapse(await claimOne(store, jobId, { types: ['order.charge'] })));
      const dying = await claimOne(store, jobId, { types: ['order.charge'] });
      await applyOne(store, aFailure(dying, { message: 'no' }, false));
      expect(await store.recordDeadLetters([{ jobId, attempt: 2 }])).toEqual([
        { jobId, attempt: 2, kind: 'recorded', reason: 'non-retryable' },
      ]);
      expect((await outboxRows(store)).filter(({ kind }) => kind === 'dead')).toEqual([]);
      const { items } = await store.listDeadLetters({ order: 'newest-first', limit: 10 });
      const [letter] = items;
      const { finishedAt } = await jobNow(store, jobId);
      expect(letter).toEqual({
        id: letter!.id,
        jobId,
        attempt: 2,
        type: 'order.charge',
        queue: 'bulk',
        reason: 'non-retryable',
        error: { name: 'Error', message: 'no', code: null, stack: null, causes: [], issues: [] },
        failures: 1,
        lapses: 1,
        diedAt: finishedAt,
        recordedAt: letter!.recordedAt,
        superseded: false,
      });
      expect(await store.findDeadLetter(letter!.id)).toEqual(letter);
      expect(await store.findDeadLetter(randomUUID())).toBeNull();
    });

    it('are recorded once, however often the death is told', async () => {
      const { store } = given();
      const { id: jobId } = await deadJob(given());
      const told = Array.from({ length: 6 }, () =>
        store.recordDeadLetters([
          { jobId, attempt: 1 },
          { jobId, attempt: 1 },
        ]),
      );
      const kinds = (await Promise.all(told)).flat().map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'recorded')).toHaveLength(1);
      expect(kinds.filter((kind) => kind === 'already')).toHaveLength(11);
      expect((await store.listDeadLetters({ order: 'newest-first', limit: 10 })).items).toHaveLength(1);
    });

    it('are recorded as superseded when a person was faster, with the counters of the death', async () => {
      const { store } = given();
      const job = await deadJob(given());
      await applyOne(store, aRetry(job));
      expect(await store.recordDeadLetters([{ jobId: job.id, attempt: 1 }])).toMatchObject([{ kind: 'superseded' }]);
      const { items } = await store.listDeadLetters({ order: 'newest-first', limit: 10 });
      expect(items).toMatchObject([{ superseded: true, failures: 1, reason: 'non-retryable' }]);
    });

    it('are recorded once per attempt that died', async () => {
      const { store } = given();
      const job = await deadJob(given());
      await applyOne(store, aRetry(job));
      await applyOne(store, aFailure(await claimOne(store, job.id), {}, false));
      const kinds = (await store.recordDeadLetters([1, 2].map((attempt) => ({ jobId: job.id, attempt })))).map(
        ({ kind }) => kind,
      );
      expect(kinds).toEqual(['superseded', 'recorded']);
    });

    it('are not made of deaths that never were', async () => {
      const { store } = given();
      const job = await deadJob(given());
      const living = await runningJob(store);
      const answers = await store.recordDeadLetters([
        { jobId: randomUUID(), attempt: 1 },
        { jobId: job.id, attempt: 2 },
        { jobId: living.id, attempt: 1 },
        { jobId: job.id, attempt: 1 },
      ]);
      expect(answers.map(({ kind, reason }) => [kind, reason])).toEqual([
        ['unknown', null],
        ['unknown', null],
        ['unknown', null],
        ['recorded', 'non-retryable'],
      ]);
      expect(await store.recordDeadLetters([])).toEqual([]);
    });
  });

  describe('purge', () => {
    it('deletes ended jobs that are past their time with all that belongs to them, and no others', async () => {
      const { store, elapse } = given();
      const [done, dead] = [await endedJob(given()), await deadJob(given())];
      await store.recordDeadLetters([{ jobId: dead.id, attempt: 1 }]);
      const open = [await submitOne(store), await runningJob(store)];
      await elapse(8 * DAY_MS);
      const young = await endedJob(given());
      expect(await store.purge(KEEP)).toEqual({ jobs: 1, keys: 0, workers: 0 });
      expect(await store.findJob(done.id)).toBeNull();
      expect(await store.listAttempts(done.id, { after: 0, limit: 10 })).toEqual([]);
      for (const { id } of [dead, young, ...open]) expect(await store.findJob(id)).not.toBeNull();
      await elapse(90 * DAY_MS);
      expect((await store.purge(KEEP)).jobs).toBe(2);
      expect(await store.findJob(dead.id)).toBeNull();
      expect((await store.listDeadLetters({ order: 'newest-first', limit: 10 })).items).toEqual([]);
    });

    it('keeps a job while its idempotency key lives', async () => {
      const { store, elapse } = given();
      const { id } = await endedJob(given(), 'k');
      const keepKeysLonger = { ...KEEP, finishedKeptMs: DAY_MS };
      await elapse(2 * DAY_MS);
      expect(await store.purge(keepKeysLonger)).toEqual({ jobs: 0, keys: 0, workers: 0 });
      expect((await store.submit([aSubmission({ idempotencyKey: 'k' })])).results[0]).toMatchObject({
        kind: 'replayed',
        job: { id },
      });
      await elapse(6 * DAY_MS);
      expect(await store.purge(keepKeysLonger)).toEqual({ jobs: 1, keys: 1, workers: 0 });
      expect((await store.submit([aSubmission({ idempotencyKey: 'k' })])).results[0]!.kind).toBe('created');
    });

    it('frees the key of a dead job long before the job goes', async () => {
      const { store, elapse } = given();
      const job = await deadJob(given(), 'k');
      await store.recordDeadLetters([{ jobId: job.id, attempt: 1 }]);
      await elapse(8 * DAY_MS);
      expect(await store.purge(KEEP)).toEqual({ jobs: 0, keys: 1, workers: 0 });
      expect((await store.submit([aSubmission({ idempotencyKey: 'k' })])).results[0]!.kind).toBe('created');
    });

    it('counts the life of a key from the end of its job, not from its submit', async () => {
      const { store, elapse } = given();
      const job = await runningJob(store, { idempotencyKey: 'k' });
      await elapse(30 * DAY_MS);
      expect(await store.purge(KEEP)).toEqual({ jobs: 0, keys: 0, workers: 0 });
      await applyOne(store, aSuccess(job));
      await elapse(6 * DAY_MS);
      expect(await store.purge(KEEP)).toEqual({ jobs: 0, keys: 0, workers: 0 });
      await elapse(2 * DAY_MS);
      expect(await store.purge(KEEP)).toEqual({ jobs: 1, keys: 1, workers: 0 });
    });

    it('keeps a dead job whose death nobody has recorded', async () => {
      const { store, elapse } = given();
      const job = await deadJob(given());
      await elapse(100 * DAY_MS);
      expect((await store.purge(KEEP)).jobs).toBe(0);
      await store.recordDeadLetters([{ jobId: job.id, attempt: 1 }]);
      expect((await store.purge(KEEP)).jobs).toBe(1);
    });

    it('deletes no more than asked', async () => {
      const { store, elapse } = given();
      for (const job of await submitMany(store, 5)) await applyOne(store, aCancel(job));
      await elapse(8 * DAY_MS);
      expect((await store.purge({ ...KEEP, limit: 3 })).jobs).toBe(3);
      expect((await store.purge({ ...KEEP, limit: 3 })).jobs).toBe(2);
    });

    it('deletes rows of workers that were last seen long ago', async () => {
      const { store, workers, elapse } = given();
      const beat = (incarnation: string): Promise<unknown> =>
        workers.beat({
          worker: { incarnation, name: 'w', types: [incarnation], queues: [], slots: 1 },
          quarantineFrom: 7,
          quarantineWaitMs: 60_000,
        });
      const [gone, living] = [randomUUID(), randomUUID()];
      await beat(gone);
      await elapse(2 * DAY_MS);
      await beat(living);
      expect(await store.purge(KEEP)).toEqual({ jobs: 0, keys: 0, workers: 1 });
      expect([...(await workers.liveTypes(10 * DAY_MS))]).toEqual([living]);
    });
  });

  describe('saveProgress', () => {
    const update = (job: Job, value: string): Parameters<typeof save>[0][number] => ({
      jobId: job.id,
      attempt: job.attempt,
      token: job.claim!.token,
      value,
    });
    const save = (updates: Parameters<ReturnType<typeof given>['store']['saveProgress']>[0]): Promise<void> =>
      given().store.saveProgress(updates);

    it('shows the last value of a running job, with a sequence that rises', async () => {
      const { store } = given();
      const job = await runningJob(store);
      await save([update(job, '{"percent":10}')]);
      await save([update(job, '{"percent":1.0}')]);
      const { progress, version } = await jobNow(store, job.id);
      expect(progress).toMatchObject({ value: '{"percent":1.0}', sequence: 2 });
      expect(version).toBe(job.version);
    });

    it('passes over a claim that is no longer held, and writes the others', async () => {
      const { store } = given();
      const [lost, held] = [await runningJob(store), await runningJob(store)];
      await applyOne(store, aSnooze(lost));
      const stranger = await runningJob(store);
      await save([
        update(lost, '1'),
        { ...update(stranger, '1'), token: randomUUID() },
        { ...update(stranger, '1'), jobId: randomUUID() },
        update(held, '2'),
      ]);
      const shown = await Promise.all(
        [lost, stranger, held].map(async ({ id }) => (await jobNow(store, id)).progress?.value),
      );
      expect(shown).toEqual([undefined, undefined, '2']);
      await save([]);
    });

    it('keeps the last of two values for one job', async () => {
      const { store } = given();
      const job = await runningJob(store);
      await save([update(job, '1'), update(job, '2')]);
      expect((await jobNow(store, job.id)).progress).toMatchObject({ value: '2' });
    });

    it('rejects what cannot be stored', async () => {
      const job = await runningJob(given().store);
      expect(await failureOf(save([update(job, '"\0"')]))).toBe('data-rejected');
    });
  });
}

async function endedJob({ store }: StoreUnderTest, idempotencyKey: string | null = null): Promise<Job> {
  const job = await runningJob(store, { idempotencyKey });
  await applyOne(store, aSuccess(job));
  return jobNow(store, job.id);
}

async function deadJob({ store }: StoreUnderTest, idempotencyKey: string | null = null): Promise<Job> {
  const job = await runningJob(store, { idempotencyKey });
  await applyOne(store, aFailure(job, {}, false));
  return jobNow(store, job.id);
}
