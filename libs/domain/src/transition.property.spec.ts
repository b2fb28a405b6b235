import { aClaim, aJob, anAttemptError, SeededRandom } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JobEvent } from './job-event.js';
import { DEFAULT_LIMITS } from './job-limits.js';
import type { JobLimits } from './job-limits.js';
import { isTerminal, JOB_STATES } from './job-state.js';
import type { JobState } from './job-state.js';
import { Transition, transition } from './transition.js';
import type { Decision, JobSnapshot } from './transition.js';

/** Small budgets, so that short histories reach every end. */
const LIMITS: JobLimits = { ...DEFAULT_LIMITS, quarantineFrom: 3, crashBudget: 2, maxSnoozes: 2 };

/** Where a run may be after somebody asked for its cancel. */
const MAY_FOLLOW_CANCEL: readonly JobState[] = ['RUNNING', 'SUCCEEDED', 'CANCELLED'];

/** A job and what the row holds besides: whether a cancel was asked for, and the last decision written. */
interface Row {
  readonly job: JobSnapshot;
  readonly isCancelAsked: boolean;
}

interface Step extends Row {
  readonly before: Row;
  readonly event: JobEvent;
  /** Null when the event was refused. */
  readonly written: Decision | null;
}

const startedAfterMs = fc.constantFrom(null, 0, 1_500);

const anyEvent: fc.Arbitrary<JobEvent> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('claim' as const), alone: fc.boolean() }) },
  { weight: 2, arbitrary: fc.constant<JobEvent>({ kind: 'due' }) },
  fc.record({
    kind: fc.constant('succeed' as const),
    result: fc.constant('null'),
    effects: fc.constantFrom<readonly string[]>([], ['charge']),
    startedAfterMs,
  }),
  fc.record({
    kind: fc.constant('fail' as const),
    error: fc.constant(anAttemptError()),
    retryable: fc.boolean(),
    startedAfterMs,
  }),
  fc.record({ kind: fc.constant('snooze' as const), delayMs: fc.integer({ min: -10, max: 10 ** 9 }), startedAfterMs }),
  fc.record({ kind: fc.constant('release' as const), reason: fc.constant('shutdown' as const), startedAfterMs }),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('lapse' as const),
      reason: fc.constant('lease-lapsed' as const),
      reclaimedBy: fc.constant('reaper-1'),
    }),
  },
  fc.record({ kind: fc.constant('cancelled' as const), startedAfterMs }),
  fc.constant<JobEvent>({ kind: 'cancel' }),
  fc.constant<JobEvent>({ kind: 'retry' }),
  fc.constant<JobEvent>({ kind: 'submit', due: { kind: 'now' } }),
);

interface History {
  readonly events: readonly JobEvent[];
  readonly maxAttempts: number;
  readonly seed: number;
  /** The database has lost what the runs' effects wrote. */
  readonly hasLostEffects: boolean;
}

const anyHistory: fc.Arbitrary<History> = fc.record({
  events: fc.array(anyEvent, { maxLength: 60 }),
  maxAttempts: fc.integer({ min: 1, max: 4 }),
  seed: fc.integer(),
  hasLostEffects: fc.boolean(),
});

/** Writes a decision as a store does: the cancel request that the row holds decides which, and only SQL knows SCHEDULED. */
function write({ job, isCancelAsked }: Row, made: Transition, event: JobEvent, hasLostEffects: boolean): Step {
  const verdict = hasLostEffects && made.withoutEffects !== null ? made.withoutEffects : made;
  const written = (isCancelAsked ? verdict.underCancel : null) ?? verdict.decision;
  const { state, attempt, failures, lapses, lapsesInRow, crashes, snoozes, due, cancelRequest } = written;
  const waits = state === 'PENDING' && typeof due === 'object' && due.kind === 'after';
  const isClaim = event.kind === 'claim';
  const claim = state !== 'RUNNING' ? null : isClaim ? aClaim({ alone: event.alone }) : job.claim;
  return {
    before: { job, isCancelAsked },
    event,
    written,
    isCancelAsked: cancelRequest === 'keep' ? isCancelAsked : cancelRequest === 'ask',
    job: {
      ...job,
      state: waits ? 'SCHEDULED' : state,
      version: job.version + 1,
      attempt,
      claim,
      failures,
      lapses,
      lapsesInRow,
      crashes,
      snoozes,
    },
  };
}

function live({ events, maxAttempts, seed, hasLostEffects }: History): Step[] {
  const rules = { limits: LIMITS, random: new SeededRandom(seed) };
  let row: Row = { job: aJob({ maxAttempts }), isCancelAsked: false };
  return events.map((event) => {
    const made = transition(row.job, event, rules);
    const step: Step = Transition.isGenuine(made)
      ? write(row, made, event, hasLostEffects)
      : { ...row, before: row, event, written: null };
    row = { job: step.job, isCancelAsked: step.isCancelAsked };
    return step;
  });
}

/** What fast-check says of a history with a step that breaks the promise, its seed included; null when none was found. */
function violation(promise: (step: Step) => boolean): string | null {
  const details = fc.check(
    fc.property(anyHistory, (history) => live(history).every(promise)),
    { numRuns: 1_000 },
  );
  return details.failed ? (fc.defaultReportMessage(details) ?? 'failed') : null;
}

/** That whatever holds `when`, holds `then` too. */
const implies = (when: boolean, then: boolean): boolean => !when || then;

describe('any history of a job', () => {
  it('nothing leads out of SUCCEEDED, and only a retry out of DEAD and CANCELLED', () => {
    const isPromised = ({ before, job, event, written }: Step): boolean => {
      const hasLeft = isTerminal(before.job.state) && job.state !== before.job.state;
      const isByRetry = before.job.state !== 'SUCCEEDED' && event.kind === 'retry' && written?.state === 'PENDING';
      return implies(hasLeft, isByRetry);
    };
    expect(violation(isPromised)).toBeNull();
  });

  it('the attempt never falls, and rises by one with every claim and nothing else', () => {
    const isPromised = ({ before, job, event, written }: Step): boolean =>
      job.attempt === before.job.attempt + (event.kind === 'claim' && written !== null ? 1 : 0);
    expect(violation(isPromised)).toBeNull();
  });

  it('a run whose cancel was asked for goes on, succeeds or ends CANCELLED, and never runs again', () => {
    const isPromised = ({ before, job }: Step): boolean =>
      implies(before.job.state === 'RUNNING' && before.isCancelAsked, MAY_FOLLOW_CANCEL.includes(job.state));
    expect(violation(isPromised)).toBeNull();
  });

  it('no job that waits carries a cancel request', () => {
    expect(
      violation(({ job, isCancelAsked }) => implies(isCancelAsked, MAY_FOLLOW_CANCEL.includes(job.state))),
    ).toBeNull();
  });

  it('DEAD means that a budget is spent or that the failure cannot be retried', () => {
    const isSpent = ({ failures, maxAttempts, crashes, snoozes }: JobSnapshot): boolean =>
      failures >= maxAttempts || crashes >= LIMITS.crashBudget || snoozes > LIMITS.maxSnoozes;
    const isPromised = ({ job, event, written }: Step): boolean =>
      implies(written?.state === 'DEAD', isSpent(job) || (event.kind === 'fail' && !event.retryable));
    expect(violation(isPromised)).toBeNull();
  });

  it('leaving RUNNING writes one history row, and nothing else writes any', () => {
    const isPromised = ({ before, job, written }: Step): boolean => {
      const hasLeft = before.job.state === 'RUNNING' && job.state !== 'RUNNING';
      return (written !== null && written.ends !== null) === hasLeft;
    };
    expect(violation(isPromised)).toBeNull();
  });

  it("only a handler's failure counts as one, and only a reaper's lapse as one", () => {
    const isPromised = ({ before, job, event, written }: Step): boolean =>
      implies(
        written !== null && event.kind !== 'retry',
        job.failures - before.job.failures === (event.kind === 'fail' ? 1 : 0) &&
          job.lapses - before.job.lapses === (event.kind === 'lapse' ? 1 : 0),
      );
    expect(violation(isPromised)).toBeNull();
  });

  it('every count stays a whole number from 0; crashes are some of the lapses in a row, and those of all lapses', () => {
    const isPromised = ({ job: { failures, lapses, lapsesInRow, crashes, snoozes } }: Step): boolean =>
      [failures, lapses, lapsesInRow, crashes, snoozes].every((count) => Number.isSafeInteger(count) && count >= 0) &&
      crashes <= lapsesInRow &&
      lapsesInRow <= lapses;
    expect(violation(isPromised)).toBeNull();
  });

  it('every delay is a finite number of milliseconds from 0', () => {
    const isPromised = ({ written }: Step): boolean => {
      const due = written?.due;
      return typeof due !== 'object' || due.kind !== 'after' || (Number.isFinite(due.delayMs) && due.delayMs >= 0);
    };
    expect(violation(isPromised)).toBeNull();
  });

  it('an ended job keeps the time it was due', () => {
    const isPromised = ({ written }: Step): boolean =>
      implies(written !== null && isTerminal(written.state), written?.due === 'keep');
    expect(violation(isPromised)).toBeNull();
  });

  it('reaches every state, so that none of the above holds for want of a case', () => {
    const reached = new Set(
      fc
        .sample(anyHistory, { numRuns: 500, seed: 1 })
        .flatMap(live)
        .map(({ job }) => job.state),
    );
    expect([...reached].toSorted()).toEqual([...JOB_STATES].toSorted());
  });
});
