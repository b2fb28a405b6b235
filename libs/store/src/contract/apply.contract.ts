import { randomUUID } from 'node:crypto';
import { isTerminal, transition, Transition } from '@deadman/domain';
import type {
  Applied,
  AttemptRecord,
  CancelledClaim,
  ClaimedJob,
  Decision,
  Job,
  JobEvent,
  JobState,
  JobStore,
  JobView,
  StoreNotice,
} from '@deadman/domain';
import {
  aCancel,
  aClaimedJob,
  aFailure,
  aJob,
  aLapse,
  anAttemptError,
  aRelease,
  aRetry,
  aSnooze,
  aSubmissionDueIn,
  aSuccess,
  aTransition,
  eventually,
  TEST_RULES,
} from '@deadman/testing';
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
  told,
} from './store-under-test.contract.js';
import type { StoreUnderTest } from './store-under-test.contract.js';

const ERROR = anAttemptError({
  name: 'GatewayTimeout',
  message: 'it said "no" \\ {and, more} NULL 😀',
  code: 'psp-timeout',
  stack: 'GatewayTimeout: no\n    at charge (pay.ts:1:1)',
  causes: [{ name: 'Error', message: 'socket' }],
  issues: [{ pointer: '/amount', message: 'must be a number' }],
});

/** Every event that `apply` writes, in the shapes that decide differently. */
const EVENTS: readonly (readonly [string, JobEvent])[] = [
  ['due', { kind: 'due' }],
  ['succeed', { kind: 'succeed', result: '{"n":1.10}', effects: [], startedAfterMs: 3 }],
  ['succeed, with its effects there', { kind: 'succeed', result: '1', effects: ['there', 'also'], startedAfterMs: 3 }],
  ['succeed, with an effect lost', { kind: 'succeed', result: '1', effects: ['there', 'lost'], startedAfterMs: 3 }],
  ['fail, to be retried', { kind: 'fail', error: ERROR, retryable: true, startedAfterMs: 5 }],
  ['fail, for good', { kind: 'fail', error: ERROR, retryable: false, startedAfterMs: null }],
  ['snooze', { kind: 'snooze', delayMs: 30_000, startedAfterMs: 1 }],
  ['release', { kind: 'release', reason: 'shutdown', startedAfterMs: 2 }],
  ['lapse', { kind: 'lapse', reason: 'lease-lapsed', reclaimedBy: 'reaper-1' }],
  ['cancelled', { kind: 'cancelled', startedAfterMs: 2 }],
  ['cancel', { kind: 'cancel' }],
  ['retry', { kind: 'retry' }],
];

/** How a job gets into each state, with counters that are not all 0. */
const PATHS: Readonly<Record<JobState, (given: StoreUnderTest) => Promise<Job>>> = {
  PENDING: async ({ store }) => {
    const job = await runningJob(store);
    await applyOne(store, aLapse(job));
    return jobNow(store, job.id);
  },
  SCHEDULED: async ({ store }) => {
    const job = await runningJob(store);
    await applyOne(store, aSnooze(job));
    return jobNow(store, job.id);
  },
  RUNNING: async (given) => {
    const { id } = await PATHS.PENDING(given);
    return claimOne(given.store, id);
  },
  SUCCEEDED: async ({ store }) => {
    const job = await runningJob(store);
    await applyOne(store, aSuccess(job));
    return jobNow(store, job.id);
  },
  FAILED: async ({ store }) => {
    const job = await runningJob(store);
    await applyOne(store, aFailure(job));
    return jobNow(store, job.id);
  },
  DEAD: async ({ store }) => {
    const job = await runningJob(store);
    await applyOne(store, aFailure(job, {}, false));
    return jobNow(store, job.id);
  },
  CANCELLED: async ({ store }) => {
    const job = await runningJob(store);
    await applyOne(store, aCancel(job));
    await applyOne(store, aRelease(job));
    return jobNow(store, job.id);
  },
};

/** The events that the domain allows in a state. Whatever it refuses gives no transition that could be applied. */
function eventsFor(state: JobState): typeof EVENTS {
  const job = state === 'RUNNING' ? aClaimedJob() : aJob({ state });
  return EVENTS.filter(([, event]) => Transition.isGenuine(transition(job, event, TEST_RULES)));
}

const CHANGEABLE = (Object.keys(PATHS) as JobState[]).filter((state) => eventsFor(state).length > 0);

export function applyContract(given: () => StoreUnderTest): void {
  describe('apply', () => {
    describe.each(CHANGEABLE)('to a job that is %s', (state) => {
      it.each(eventsFor(state))('%s: does what `transition` says', async (_name, event) => {
        const before = await PATHS[state](given());
        await expectAsDecided(given(), before, event, false);
      });
    });

    describe('to a job that is RUNNING with a cancel asked that the decider has not seen', () => {
      it.each(eventsFor('RUNNING'))('%s: does what `transition` says', async (_name, event) => {
        const { store } = given();
        const unaware = await PATHS.RUNNING(given());
        await applyOne(store, aCancel(unaware));
        await expectAsDecided(given(), unaware, event, true);
      });
    });

    it('does nothing for nothing', async () => {
      expect(await given().store.apply([])).toEqual({ results: [], outbox: [] });
    });

    it('answers in the order of the batch', async () => {
      const { store } = given();
      const jobs = await claimMany(store, 40);
      const batch = jobs.map((job, index) => (index % 3 ? aSuccess(job) : aFailure(job, {}, index % 2 === 0)));
      const { results } = await store.apply(batch.toReversed());
      const expected = batch.map(({ decision }) => ({ kind: 'applied', state: decision.state, by: 'decision' }));
      expect(results).toEqual(expected.toReversed());
    });

    it('sends one row per queue for what became ready, and one row per death', async () => {
      const { store } = given();
      const released = [await runningJob(store), await runningJob(store, { queue: 'bulk' }), await runningJob(store)];
      const dying = [await runningJob(store), await runningJob(store)];
      const succeeding = await runningJob(store);
      await clearOutbox(store);
      const batch = [...released.map(aRelease), ...dying.map((job) => aFailure(job, {}, false)), aSuccess(succeeding)];
      const { outbox } = await store.apply(batch);
      const tickets = [
        { id: '', kind: 'ready' as const, queue: 'default', jobIds: [released[0]!.id, released[2]!.id] },
        { id: '', kind: 'ready' as const, queue: 'bulk', jobIds: [released[1]!.id] },
      ];
      const deaths = dying.map(({ id: jobId }) => ({ id: '', kind: 'dead' as const, jobId, attempt: 1 }));
      expect(told(outbox)).toEqual(told([...tickets, ...deaths]));
      expect(await outboxRows(store)).toHaveLength(outbox.length);
    });

    it('keeps the first cancel request when asked again, and counts both', async () => {
      const { store, elapse } = given();
      const job = await runningJob(store);
      await applyOne(store, aCancel(job));
      const asked = await jobNow(store, job.id);
      await elapse(1_000);
      await applyOne(store, aCancel(asked));
      const again = await jobNow(store, job.id);
      expect(again.cancelRequestedAt).toEqual(asked.cancelRequestedAt);
      expect([job.version, asked.version, again.version]).toEqual([2, 3, 4]);
    });

    it('a person’s retry forgets the cancel request and the budgets, never the attempt', async () => {
      const { store } = given();
      const before = await PATHS.CANCELLED(given());
      await applyOne(store, aRetry(before));
      const after = await jobNow(store, before.id);
      expect(after).toMatchObject({ state: 'PENDING', cancelRequestedAt: null, attempt: 1, finishedAt: null });
      expect(await store.listAttempts(before.id, { after: 0, limit: 10 })).toHaveLength(1);
    });

    it('keeps the last error through a success', async () => {
      const { store, elapse } = given();
      const { id } = await PATHS.FAILED(given());
      await elapse(3_600_000);
      await store.promoteDue({ limit: 10 });
      await applyOne(store, aSuccess(await claimOne(store, id)));
      expect(await jobNow(store, id)).toMatchObject({ state: 'SUCCEEDED', lastError: { attempt: 1 } });
    });

    it('refuses what the domain did not make, two transitions of one job, and events with a statement of their own', async () => {
      const { store } = given();
      const job = await runningJob(store);
      const pending = await submitOne(store);
      const forged = Object.assign({}, aSuccess(job)) as unknown as Transition;
      const claim = aTransition(pending, { kind: 'claim', alone: false });
      for (const batch of [[forged], [aSuccess(job), aRelease(job)], [claim]]) {
        expect(await failureOf(store.apply(batch))).toBeInstanceOf(TypeError);
      }
      expect((await jobNow(store, job.id)).state).toBe('RUNNING');
    });
  });

  describe('the fence', () => {
    it('refuses the right attempt with another token', async () => {
      const { store } = given();
      const job = await runningJob(store);
      const stranger: ClaimedJob = { ...job, claim: { ...job.claim, token: randomUUID() } };
      expect(await applyOne(store, aSuccess(stranger))).toEqual({ kind: 'fenced' });
      expect(await jobNow(store, job.id)).toMatchObject({ state: 'RUNNING', version: job.version, result: null });
      expect(await store.listAttempts(job.id, { after: 0, limit: 10 })).toHaveLength(1);
    });

    it('refuses the right token with another attempt', async () => {
      const { store } = given();
      const job = await runningJob(store);
      expect(await applyOne(store, aSuccess({ ...job, attempt: 2 }))).toEqual({ kind: 'fenced' });
    });

    it('refuses a claim that was taken away, before and after the next claim', async () => {
      const { store } = given();
      const zombie = await runningJob(store);
      await applyOne(store, aLapse(zombie));
      const results = [await applyOne(store, aFailure(zombie))];
      await claimOne(store, zombie.id);
      results.push(await applyOne(store, aSuccess(zombie)));
      expect(results).toEqual([{ kind: 'fenced' }, { kind: 'fenced' }]);
      expect((await jobNow(store, zombie.id)).state).toBe('RUNNING');
    });

    it('tells a lost reply from a lost claim', async () => {
      const { store } = given();
      const job = await runningJob(store);
      const outcome = aSuccess(job);
      expect(await applyOne(store, outcome)).toMatchObject({ kind: 'applied' });
      const { results, outbox } = await store.apply([outcome]);
      expect({ results, outbox }).toEqual({ results: [{ kind: 'already' }], outbox: [] });
    });

    it('tells what a reaper did from what a repeated reaper did', async () => {
      const { store } = given();
      const job = await runningJob(store);
      await applyOne(store, aLapse(job, 'reaper-1'));
      expect(await applyOne(store, aLapse(job, 'reaper-1'))).toEqual({ kind: 'already' });
      expect(await applyOne(store, aLapse(job, 'reaper-2'))).toEqual({ kind: 'fenced' });
    });

    it('says `already` when a cancel request or a lost effect had decided instead', async () => {
      const { store } = given();
      const [cancelled, released] = [await runningJob(store), await runningJob(store)];
      await applyOne(store, aCancel(cancelled));
      const batch = [aFailure(cancelled), aSuccess(released, '1', ['lost'])];
      expect((await store.apply(batch)).results.map(({ kind }) => kind)).toEqual(['applied', 'applied']);
      expect((await store.apply(batch)).results.map(({ kind }) => kind)).toEqual(['already', 'already']);
    });

    it('does not take its own release for a success', async () => {
      const { store } = given();
      const job = await runningJob(store);
      await applyOne(store, aRelease(job));
      expect(await applyOne(store, aSuccess(job))).toEqual({ kind: 'fenced' });
    });

    it('does not take a release for another reason for what it would have written itself', async () => {
      const { store } = given();
      const [handedBack, finished] = [await runningJob(store), await runningJob(store)];
      for (const job of [handedBack, finished]) {
        await applyOne(store, aTransition(job, { kind: 'release', reason: 'orphan-claim', startedAfterMs: null }));
      }
      const batch = [aRelease(handedBack), aSuccess(finished, '1', ['lost'])];
      expect((await store.apply(batch)).results).toEqual([{ kind: 'fenced' }, { kind: 'fenced' }]);
    });

    it('says `already` also when the job has moved on since', async () => {
      const { store } = given();
      const job = await runningJob(store);
      await applyOne(store, aRelease(job));
      await claimOne(store, job.id);
      expect(await applyOne(store, aRelease(job))).toEqual({ kind: 'already' });
    });

    it('refuses a version that has passed', async () => {
      const { store } = given();
      const job = await submitOne(store);
      const stale = aCancel(job);
      await claimOne(store, job.id);
      expect(await applyOne(store, stale)).toEqual({ kind: 'fenced' });
      expect(await jobNow(store, job.id)).toMatchObject({ state: 'RUNNING', cancelRequestedAt: null });
    });

    it('refuses a job that does not exist', async () => {
      const { store } = given();
      const job = await runningJob(store);
      const unknown = { ...job, id: randomUUID() };
      const { results } = await store.apply([aSuccess(unknown), aCancel({ ...unknown, id: randomUUID() })]);
      expect(results).toEqual([{ kind: 'fenced' }, { kind: 'fenced' }]);
    });

    it('of one row never stops the others', async () => {
      const { store } = given();
      const jobs = await claimMany(store, 10);
      await applyOne(store, aSuccess(jobs[3]!));
      const stranger = { ...jobs[6]!, claim: { ...jobs[6]!.claim, token: randomUUID() } };
      const { results } = await store.apply(jobs.map((job, index) => aSuccess(index === 6 ? stranger : job)));
      expect(results.map(({ kind }) => kind)).toEqual(
        jobs.map((_, index) => (index === 3 ? 'already' : index === 6 ? 'fenced' : 'applied')),
      );
    });

    it('lets one of 8 writers through', async () => {
      const { store } = given();
      const jobs = await claimMany(store, 50);
      const writers = Array.from({ length: 8 }, (_, index) =>
        store.apply(jobs.map((job) => (index % 2 ? aSuccess(job, `${index}`) : aRelease(job)))),
      );
      const kinds = (await Promise.all(writers)).map(({ results }) => results.map(({ kind }) => kind));
      for (const index of jobs.keys()) {
        const ofJob = kinds.map((row) => row[index]);
        expect(ofJob.filter((kind) => kind === 'applied')).toHaveLength(1);
        expect(ofJob.filter((kind) => kind === 'already')).toHaveLength(3);
        expect(ofJob.filter((kind) => kind === 'fenced')).toHaveLength(4);
      }
    });
  });

  describe('a batch', () => {
    it('with one bad row changes nothing', async () => {
      const { store } = given();
      const jobs = await claimMany(store, 5);
      await clearOutbox(store);
      for (const bad of [
        aSuccess(jobs[2]!, '"a\0b"'),
        aFailure(jobs[2]!, { message: '\0' }),
        aFailure(jobs[2]!, { stack: '\ud800' }),
      ]) {
        const batch = [aSuccess(jobs[0]!), aRelease(jobs[1]!), bad, aFailure(jobs[3]!, {}, false)];
        expect(await failureOf(store.apply(batch))).toBe('data-rejected');
      }
      for (const job of jobs) expect((await jobNow(store, job.id)).version).toBe(job.version);
      expect(await outboxRows(store)).toEqual([]);
    });

    it('never deadlocks another one in the opposite order', async () => {
      const { store } = given();
      const jobs = await submitMany(store, 60);
      const ask = async (ordered: readonly Job[]): Promise<number> => {
        const current = await store.findJobs(ordered.map(({ id }) => id));
        const byId = new Map(current.map((job) => [job.id, job]));
        const batch = ordered.map(({ id }) => aTransition(byId.get(id)!, { kind: 'cancel' }));
        return (await store.apply(batch)).results.filter(({ kind }) => kind === 'applied').length;
      };
      const claimed = await store.claim(claimOf(jobs));
      expect(claimed).toHaveLength(60);
      const rounds = Array.from({ length: 24 }, (_, round) => ask(round % 2 ? jobs : jobs.toReversed()));
      expect((await Promise.all(rounds)).every((applied) => applied >= 0)).toBe(true);
    });

    it('passes over rows that others hold, when asked to, and writes the rest', async () => {
      const { store } = given();
      const jobs = await claimMany(store, 3);
      const { results } = await store.apply(
        jobs.map((job) => aLapse(job)),
        { skipLocked: true },
      );
      expect(results).toEqual(jobs.map(() => ({ kind: 'applied', state: 'PENDING', by: 'decision' })));
    });
  });

  describe('the notice of a cancel', () => {
    it('names the running jobs that were asked, each with its claim, and no others', async () => {
      const { store, notices } = given();
      const heard: StoreNotice[] = [];
      const { unsubscribe } = await notices.subscribe((notice) => heard.push(notice));
      const running = await claimMany(store, 450);
      const waiting = (await store.submit([aSubmissionDueIn(60_000)])).results[0]!.job;
      await store.apply([aCancel(waiting)]);
      await store.apply(running.map((job) => aCancel(job)));
      const named = (): string[] =>
        heard.flatMap((notice) => (notice.kind === 'cancel' ? notice.claims.map(toText) : []));
      await eventually(() => expect(named()).toHaveLength(450));
      const asked = running.map(({ id, claim }) => toText({ jobId: id, token: claim.token }));
      expect(named().toSorted()).toEqual(asked.toSorted());
      await unsubscribe();
    });
  });
}

function toText({ jobId, token }: CancelledClaim): string {
  return `${jobId} ${token}`;
}

/**
 * Applies the event and compares the row, its history and its answer with the decision: an independent reading of
 * `Decision`, so that neither adapter can share a mistake with it.
 */
async function expectAsDecided(
  under: StoreUnderTest,
  before: Job,
  event: JobEvent,
  isCancelAsked: boolean,
): Promise<void> {
  const { store } = under;
  for (const key of ['there', 'also']) await under.recordEffect(before.id, key);
  const made = aTransition(before, event);
  if (isCancelAsked && made.fence.by === 'version') return expectFenced(store, made);
  const row = await jobNow(store, before.id);
  const history = await store.listAttempts(before.id, { after: 0, limit: 100 });
  await clearOutbox(store);
  const [from, { results, outbox }, to] = [await under.now(), await store.apply([made]), await under.now()];
  const after = await jobNow(store, before.id);
  const isLost = event.kind === 'succeed' && event.effects.includes('lost');
  const { decision, by } = expectedChoice(made, isLost, isCancelAsked);
  expect(results).toEqual([{ kind: 'applied', state: after.state, by }]);
  expectRow(row, after, decision, [from, to]);
  await expectHistory(store, before, history, decision, after);
  expectOutbox(after, outbox);
  expect(await outboxRows(store)).toEqual(outbox);
}

/** The cancel request has raised the version that the decider read. */
async function expectFenced(store: JobStore, made: Transition): Promise<void> {
  expect(await applyOne(store, made)).toEqual({ kind: 'fenced' });
}

function expectedChoice(
  made: Transition,
  isLost: boolean,
  isCancelAsked: boolean,
): { decision: Decision; by: Applied['by'] } {
  const verdict = isLost ? made.withoutEffects! : made;
  if (isCancelAsked && verdict.underCancel) return { decision: verdict.underCancel, by: 'cancel-request' };
  return { decision: verdict.decision, by: isLost ? 'effects-missing' : 'decision' };
}

function expectRow(before: JobView, after: JobView, decision: Decision, [from, to]: readonly [Date, Date]): void {
  const { failures, lapses, lapsesInRow, crashes, snoozes, attempt, result } = decision;
  const written = { failures, lapses, lapsesInRow, crashes, snoozes, attempt, result };
  const isEarly = decision.state === 'PENDING' && after.scheduledFor > to;
  const state = isEarly ? 'SCHEDULED' : decision.state;
  expect(after).toEqual({
    ...before,
    ...written,
    state,
    version: before.version + 1,
    scheduledFor: decision.due === 'keep' ? before.scheduledFor : after.scheduledFor,
    finishedAt: isTerminal(state) ? after.finishedAt : null,
    cancelRequestedAt: { keep: before.cancelRequestedAt, ask: after.cancelRequestedAt, clear: null }[
      decision.cancelRequest
    ],
    lastError: expectedError(before, after, decision),
    claim: state === 'RUNNING' ? before.claim : null,
    workerSeenAt: null,
  });
  if (decision.due !== 'keep') {
    const delayMs = decision.due.kind === 'after' ? decision.due.delayMs : 0;
    expectBetween(after.scheduledFor, from, to, delayMs);
  }
  if (isTerminal(state)) expectBetween(after.finishedAt, from, to);
  if (decision.cancelRequest === 'ask') expectBetween(after.cancelRequestedAt, from, to);
}

function expectedError(before: JobView, after: JobView, { lastError }: Decision): JobView['lastError'] {
  if (lastError === 'keep') return before.lastError;
  if (lastError === 'clear') return null;
  return { ...lastError, attempt: before.attempt, at: after.lastError?.at ?? new Date(NaN) };
}

async function expectHistory(
  store: JobStore,
  before: Job,
  earlier: readonly AttemptRecord[],
  { ends }: Decision,
  after: JobView,
): Promise<void> {
  const history = await store.listAttempts(before.id, { after: 0, limit: 100 });
  if (ends === null) return expect(history).toEqual(earlier);
  const last = history.at(-1)!;
  expect(history.slice(0, -1)).toEqual(earlier.slice(0, -1));
  const { claimedAt, token, workerId } = before.claim!;
  expect(last).toEqual({
    jobId: before.id,
    attempt: before.attempt,
    outcome: ends.outcome,
    claimToken: token,
    workerId,
    claimedAt,
    startedAt: ends.startedAfterMs === null ? null : new Date(claimedAt.getTime() + ends.startedAfterMs),
    finishedAt: last.finishedAt,
    error: ends.error,
    reclaimedBy: ends.reclaimedBy,
    reason: ends.reason,
  });
  if (after.finishedAt !== null) expect(last.finishedAt).toEqual(after.finishedAt);
  expect(last.finishedAt!.getTime()).toBeGreaterThanOrEqual(claimedAt.getTime());
}

/** Every move to PENDING and to DEAD is said, and nothing else is. */
function expectOutbox(after: JobView, outbox: Awaited<ReturnType<JobStore['apply']>>['outbox']): void {
  const said = outbox.map(({ id: _id, ...row }) => row);
  const { id, queue, attempt, state } = after;
  if (state === 'PENDING') expect(said).toEqual([{ kind: 'ready', queue, jobIds: [id] }]);
  else if (state === 'DEAD') expect(said).toEqual([{ kind: 'dead', jobId: id, attempt }]);
  else expect(said).toEqual([]);
}

function expectBetween(at: Date | null, from: Date, to: Date, delayMs = 0): void {
  expect(at!.getTime() - delayMs).toBeGreaterThanOrEqual(from.getTime());
  expect(at!.getTime() - delayMs).toBeLessThanOrEqual(to.getTime());
}

async function claimMany(store: JobStore, count: number): Promise<readonly ClaimedJob[]> {
  return store.claim(claimOf(await submitMany(store, count)));
}

function claimOf(jobs: readonly Job[]): Parameters<JobStore['claim']>[0] {
  const ids = jobs.map(({ id }) => id);
  return { token: randomUUID(), workerId: randomUUID(), types: ['demo.echo'], quarantineFrom: 7, ids };
}

/** Empties the outbox as it empties in life: tickets by being sent, deaths by being recorded. */
async function clearOutbox(store: JobStore): Promise<void> {
  const rows = await outboxRows(store);
  await store.deleteOutbox(rows.map(({ id }) => id));
  await store.recordDeadLetters(rows.flatMap((row) => (row.kind === 'dead' ? [row] : [])));
}
