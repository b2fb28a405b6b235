import {
  admit,
  DEFAULT_LIMITS,
  DEFAULT_MAX_ATTEMPTS,
  DEFAULT_RETRY,
  NO_COUNTS,
  NOW,
  Transition,
  transition,
} from '@deadman/domain';
import type {
  AttemptError,
  Claim,
  ClaimedJob,
  Due,
  Job,
  JobEvent,
  JobSnapshot,
  JobSpec,
  Rules,
  Submission,
} from '@deadman/domain';
import { randomUUID } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { FixedRandom } from './seeded-random.js';

/** The default limits, and dice that always show the middle. */
export const TEST_RULES: Rules = { limits: DEFAULT_LIMITS, random: new FixedRandom() };

const LONG_AGO = new Date('2026-01-01T00:00:00.000Z');

/** What a client might submit, under an id of its own. */
export function aJobSpec(overrides: Partial<JobSpec> = {}): JobSpec {
  return {
    id: uuidv7(),
    type: 'demo.echo',
    queue: 'default',
    payload: '{"greeting":"hello"}',
    maxAttempts: DEFAULT_MAX_ATTEMPTS,
    retry: DEFAULT_RETRY,
    timeoutMs: 60_000,
    tags: [],
    idempotencyKey: null,
    traceparent: null,
    ...overrides,
  };
}

/** A submit of `aJobSpec`, due now. One with a key has a fingerprint. */
export function aSubmission(overrides: Partial<JobSpec> = {}, due: Due = NOW): Submission {
  const job = aJobSpec(overrides);
  const fingerprint = job.idempotencyKey === null ? null : { payload: `digest of ${job.payload}`, type: job.type };
  return { job, transition: admit(job.id, due), fingerprint };
}

export function aSubmissionDueIn(delayMs: number, overrides: Partial<JobSpec> = {}): Submission {
  return aSubmission(overrides, { kind: 'after', delayMs });
}

/** A job as a store returns it: PENDING and never claimed. */
export function aJob(overrides: Partial<Job> = {}): Job {
  return {
    ...aJobSpec(),
    ...NO_COUNTS,
    state: 'PENDING',
    version: 1,
    attempt: 0,
    result: null,
    createdAt: LONG_AGO,
    scheduledFor: LONG_AGO,
    startedAt: null,
    finishedAt: null,
    cancelRequestedAt: null,
    lastError: null,
    claim: null,
    ...overrides,
  };
}

export function aClaim(overrides: Partial<Claim> = {}): Claim {
  return { token: randomUUID(), workerId: randomUUID(), claimedAt: LONG_AGO, alone: false, ...overrides };
}

/** A RUNNING job in its first attempt. */
export function aClaimedJob(overrides: Partial<Job> = {}): ClaimedJob {
  const job = aJob({ state: 'RUNNING', version: 2, attempt: 1, startedAt: LONG_AGO, ...overrides });
  return { ...job, claim: overrides.claim ?? aClaim() };
}

export function anAttemptError(overrides: Partial<AttemptError> = {}): AttemptError {
  return { name: 'Error', message: 'it did not work', code: null, stack: null, causes: [], issues: [], ...overrides };
}

/** The transition that this event makes. Throws when the domain refuses it, since a test that builds one means a legal one. */
export function aTransition(job: JobSnapshot, event: JobEvent, rules: Rules = TEST_RULES): Transition {
  const made = transition(job, event, rules);
  if (Transition.isGenuine(made)) return made;
  throw new Error(`The domain refuses "${event.kind}" for a job that is ${job.state}`);
}

export function aSuccess(job: JobSnapshot, result = '{"ok":true}', effects: readonly string[] = []): Transition {
  return aTransition(job, { kind: 'succeed', result, effects, startedAfterMs: 1 });
}

export function aFailure(job: JobSnapshot, error: Partial<AttemptError> = {}, retryable = true): Transition {
  return aTransition(job, { kind: 'fail', error: anAttemptError(error), retryable, startedAfterMs: 1 });
}

export function aSnooze(job: JobSnapshot, delayMs = 5_000): Transition {
  return aTransition(job, { kind: 'snooze', delayMs, startedAfterMs: 1 });
}

export function aRelease(job: JobSnapshot): Transition {
  return aTransition(job, { kind: 'release', reason: 'shutdown', startedAfterMs: null });
}

export function aLapse(job: JobSnapshot, reclaimedBy = 'reaper-1'): Transition {
  return aTransition(job, { kind: 'lapse', reason: 'lease-lapsed', reclaimedBy });
}

export function aCancel(job: JobSnapshot): Transition {
  return aTransition(job, { kind: 'cancel' });
}

export function aRetry(job: JobSnapshot): Transition {
  return aTransition(job, { kind: 'retry' });
}
