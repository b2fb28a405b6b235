import { aClaim, aClaimedJob, aJob, anAttemptError, TEST_RULES } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { NOW } from './job-event.js';
import type { JobEvent, JobEventKind } from './job-event.js';
import { JOB_STATES } from './job-state.js';
import type { AttemptOutcome, JobState } from './job-state.js';
import type { Job } from './job.js';
import { Transition, transition } from './transition.js';

/** One event of each kind. */
const EVENTS: { readonly [Kind in JobEventKind]: JobEvent & { readonly kind: Kind } } = {
  submit: { kind: 'submit', due: NOW },
  claim: { kind: 'claim', alone: false },
  due: { kind: 'due' },
  succeed: { kind: 'succeed', result: '1', effects: [], startedAfterMs: 5 },
  fail: { kind: 'fail', error: anAttemptError(), retryable: true, startedAfterMs: 5 },
  snooze: { kind: 'snooze', delayMs: 5_000, startedAfterMs: 5 },
  release: { kind: 'release', reason: 'shutdown', startedAfterMs: null },
  lapse: { kind: 'lapse', reason: 'lease-lapsed', reclaimedBy: 'reaper-1' },
  cancelled: { kind: 'cancelled', startedAfterMs: 5 },
  cancel: { kind: 'cancel' },
  retry: { kind: 'retry' },
};

/**
 * The whole of `protocol.md` §1 for a job with budget left: every legal pair and where it leads. A snooze and a failure
 * wait for their time, so that SQL writes SCHEDULED and FAILED; whatever is not here is illegal.
 */
const LEGAL: Readonly<Record<JobState, Partial<Record<JobEventKind, JobState>>>> = {
  SCHEDULED: { due: 'PENDING', cancel: 'CANCELLED', retry: 'PENDING' },
  FAILED: { due: 'PENDING', cancel: 'CANCELLED', retry: 'PENDING' },
  PENDING: { claim: 'RUNNING', cancel: 'CANCELLED' },
  RUNNING: {
    succeed: 'SUCCEEDED',
    fail: 'FAILED',
    snooze: 'SCHEDULED',
    release: 'PENDING',
    lapse: 'PENDING',
    cancelled: 'CANCELLED',
    cancel: 'RUNNING',
  },
  DEAD: { retry: 'PENDING' },
  CANCELLED: { retry: 'PENDING' },
  SUCCEEDED: {},
};

/** How each event that ends a run is written to the history. */
const OUTCOMES: Partial<Record<JobEventKind, AttemptOutcome>> = {
  succeed: 'succeeded',
  fail: 'failed',
  snooze: 'snoozed',
  release: 'released',
  lapse: 'lapsed',
  cancelled: 'cancelled',
};

const PAIRS = JOB_STATES.flatMap((state) =>
  (Object.keys(EVENTS) as JobEventKind[]).map((kind) => ({ state, kind, to: LEGAL[state][kind] })),
);
const LEGAL_PAIRS = PAIRS.flatMap(({ state, kind, to }) => (to === undefined ? [] : [{ state, kind, to }]));
const ILLEGAL_PAIRS = PAIRS.filter(({ to }) => to === undefined);

function jobIn(state: JobState): Job {
  const counters = { version: 9, attempt: 3, failures: 2, lapses: 4, lapsesInRow: 1, crashes: 1, snoozes: 5 };
  return state === 'RUNNING' ? aClaimedJob(counters) : aJob({ state, ...counters });
}

function decided(job: Job, kind: JobEventKind): Transition {
  const made = transition(job, EVENTS[kind], TEST_RULES);
  if (!Transition.isGenuine(made)) throw new Error(`${job.state} refuses ${kind}`);
  return made;
}

describe('transition: every pair of state and event', () => {
  it('is in the table once: 7 states times 11 events, 17 of them legal', () => {
    expect(PAIRS).toHaveLength(77);
    expect(LEGAL_PAIRS).toHaveLength(17);
  });

  it.each(LEGAL_PAIRS)('$state + $kind leads to $to', ({ state, kind, to }) => {
    const job = jobIn(state);
    const made = decided(job, kind);
    expect(made).toMatchObject({ jobId: job.id, event: kind, from: state });
    expect(made.decision.state).toBe(to);
  });

  it.each(ILLEGAL_PAIRS)('$state + $kind is refused', ({ state, kind }) => {
    expect(transition(jobIn(state), EVENTS[kind], TEST_RULES)).toEqual({
      refused: 'illegal-transition',
      from: state,
      event: kind,
    });
  });

  it.each(LEGAL_PAIRS)('$state + $kind moves `attempt` only when it is a claim, and then by one', ({ state, kind }) => {
    const job = jobIn(state);
    expect(decided(job, kind).decision.attempt).toBe(kind === 'claim' ? job.attempt + 1 : job.attempt);
  });

  it.each(LEGAL_PAIRS)(
    '$state + $kind is fenced by the claim of a run, else by the version read',
    ({ state, kind }) => {
      const job = jobIn(state);
      const isAboutRun = state === 'RUNNING' && kind !== 'cancel';
      expect(decided(job, kind).fence).toEqual(
        isAboutRun
          ? { by: 'claim', attempt: job.attempt, token: job.claim?.token }
          : { by: 'version', version: job.version },
      );
    },
  );

  it.each(LEGAL_PAIRS)('$state + $kind writes a history row exactly when it ends a run', ({ state, kind }) => {
    expect(decided(jobIn(state), kind).decision.ends?.outcome).toBe(OUTCOMES[kind]);
  });

  it('a RUNNING job without a claim is a bug and thrown, never decided', () => {
    expect(() => transition({ ...aJob({ state: 'RUNNING' }), claim: null }, EVENTS.succeed, TEST_RULES)).toThrow(
      TypeError,
    );
    expect(() =>
      transition({ ...aJob({ state: 'RUNNING' }), claim: aClaim() }, EVENTS.succeed, TEST_RULES),
    ).not.toThrow();
  });
});
