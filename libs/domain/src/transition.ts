import { NOW } from './job-event.js';
import type { Due, JobEvent, JobEventKind, ReleaseReason } from './job-event.js';
import { quarantineDelayMs } from './job-limits.js';
import type { JobLimits } from './job-limits.js';
import type { AttemptOutcome, JobState } from './job-state.js';
import { NO_COUNTS } from './job.js';
import type { AttemptError, Job, JobCounters } from './job.js';
import type { Random } from './ports/random.js';
import { retryDelayMs } from './retry-policy.js';

/**
 * What a write about a job must find, or it changes nothing (`protocol.md` §2).
 *
 * `none`     the job does not exist yet.
 * `version`  the job does not run, or its claim is not what matters: compare-and-set on the version that was read.
 * `claim`    the job runs: (id, attempt, token, RUNNING). The attempt alone is not enough, because a failover that
 *            loses a committed claim lets the same number be issued twice. The version is left out on purpose: a cancel
 *            request raises it under a running worker.
 */
export type Fence =
  | { readonly by: 'none' }
  | { readonly by: 'version'; readonly version: number }
  | { readonly by: 'claim'; readonly attempt: number; readonly token: string };

/** The history row that ends an attempt. */
export interface AttemptEnd {
  readonly outcome: AttemptOutcome;
  readonly error: AttemptError | null;
  readonly reason: string | null;
  readonly reclaimedBy: string | null;
  readonly startedAfterMs: number | null;
}

/**
 * What becomes of a job: the state, counters and texts to write, and a delay instead of an instant, because the
 * database's clock alone decides what is due.
 */
export interface Decision extends JobCounters {
  /** PENDING with a `due` in the future is written as SCHEDULED: SQL compares, since only its clock knows. */
  readonly state: JobState;
  /** What `scheduledFor` becomes; `keep` leaves it as it is. */
  readonly due: Due | 'keep';
  readonly attempt: number;
  /** JSON text of a success, else null. */
  readonly result: string | null;
  /** The error to show as the job's last: a new one, `keep` the old, or `clear` it. */
  readonly lastError: AttemptError | 'keep' | 'clear';
  /** `ask` stamps the request, `clear` forgets it. */
  readonly cancelRequest: 'keep' | 'ask' | 'clear';
  /** The history row to write, null when no attempt ends. */
  readonly ends: AttemptEnd | null;
}

/** A decision, and the one that holds instead when the row turns out to carry a cancel request the decider had not seen. */
export interface Verdict {
  readonly decision: Decision;
  /** Null when a cancel request changes nothing. */
  readonly underCancel: Decision | null;
}

/** The answer to an event that the state does not allow. */
export interface Refusal {
  readonly refused: 'illegal-transition';
  readonly from: JobState | null;
  readonly event: JobEventKind;
}

let construct: (fields: TransitionFields) => Transition;

/** Nobody outside this file has it, so that not even untyped code can call the constructor. */
const KEY = Symbol('transition');

interface TransitionFields extends Verdict {
  readonly jobId: string;
  readonly event: JobEventKind;
  readonly from: JobState | null;
  readonly fence: Fence;
  readonly withoutEffects: Verdict | null;
  readonly effects: readonly string[];
}

/**
 * A legal change of one job. Only `transition` and `admit` can make one, nobody can change one, and a store's write
 * methods accept nothing else, so that the rules cannot be walked around.
 */
export class Transition implements Verdict {
  static {
    construct = (fields) => new Transition(fields, KEY);
  }

  readonly jobId: string;
  readonly event: JobEventKind;
  readonly from: JobState | null;
  readonly fence: Fence;
  readonly decision: Decision;
  readonly underCancel: Decision | null;
  /** Holds instead when one of `effects` is missing from the database: a failover lost it. */
  readonly withoutEffects: Verdict | null;
  /** Keys of the effects that the run saw committed. */
  readonly effects: readonly string[];
  readonly #onlyTransitionMakesThis = true;

  private constructor(fields: TransitionFields, key: symbol) {
    if (key !== KEY) throw new TypeError('Only `transition` and `admit` make a Transition');
    this.jobId = fields.jobId;
    this.event = fields.event;
    this.from = fields.from;
    this.fence = fields.fence;
    this.decision = fields.decision;
    this.underCancel = fields.underCancel;
    this.withoutEffects = fields.withoutEffects;
    this.effects = fields.effects;
    for (const part of [this.fence, this.effects, this.withoutEffects, this]) Object.freeze(part);
    for (const verdict of [this, this.withoutEffects]) {
      freezeDecision(verdict?.decision ?? null);
      freezeDecision(verdict?.underCancel ?? null);
    }
  }

  /** Guards the store against look-alikes that plain JavaScript or a cast could hand it. */
  static isGenuine(value: unknown): value is Transition {
    return typeof value === 'object' && value !== null && #onlyTransitionMakesThis in value;
  }
}

function freezeDecision(decision: Decision | null): void {
  if (decision === null) return;
  for (const part of [decision.due, decision.lastError, decision.ends, decision]) Object.freeze(part);
}

/** The part of a job that decides. */
export type JobSnapshot = Pick<Job, 'id' | 'state' | 'version' | 'attempt' | 'maxAttempts' | 'retry' | 'claim'> &
  JobCounters;

/** What `transition` weighs besides the job and the event. */
export interface Rules {
  readonly limits: JobLimits;
  readonly random: Random;
}

/** Decides the first state of a job that does not exist yet. Always legal. */
export function admit(jobId: string, due: Due): Transition {
  const decision: Decision = {
    ...NO_COUNTS,
    state: 'PENDING',
    due,
    attempt: 0,
    result: null,
    lastError: 'clear',
    cancelRequest: 'clear',
    ends: null,
  };
  return construct({
    jobId,
    event: 'submit',
    from: null,
    fence: { by: 'none' },
    decision,
    underCancel: null,
    withoutEffects: null,
    effects: [],
  });
}

/**
 * The only place that decides what becomes of an existing job (`protocol.md` §1). Pure: the same job, event and dice
 * give the same answer. An event that the state does not allow is refused, never thrown.
 */
export function transition(job: JobSnapshot, event: JobEvent, rules: Rules): Transition | Refusal {
  const decision = decide(job, event, rules);
  if (decision === null) return { refused: 'illegal-transition', from: job.state, event: event.kind };
  return construct({
    jobId: job.id,
    event: event.kind,
    from: job.state,
    fence: fenceOf(job, event),
    decision,
    underCancel: underCancel(job, decision),
    withoutEffects: withoutEffects(job, event),
    effects: event.kind === 'succeed' ? [...event.effects] : [],
  });
}

function decide(job: JobSnapshot, event: JobEvent, rules: Rules): Decision | null {
  switch (job.state) {
    case 'SCHEDULED':
    case 'FAILED':
      return decideWaiting(job, event);
    case 'PENDING':
      return decidePending(job, event);
    case 'RUNNING':
      return decideRunning(job, event, rules);
    case 'DEAD':
    case 'CANCELLED':
      return event.kind === 'retry' ? startOver(job) : null;
    case 'SUCCEEDED':
      return null;
  }
}

/** A job that waits for its time is due, is asked to run now, or is cancelled. */
function decideWaiting(job: JobSnapshot, event: JobEvent): Decision | null {
  switch (event.kind) {
    case 'due':
      return { ...unchanged(job), state: 'PENDING' };
    case 'retry':
      return { ...unchanged(job), state: 'PENDING', due: NOW };
    case 'cancel':
      return { ...unchanged(job), state: 'CANCELLED', cancelRequest: 'ask' };
    default:
      return null;
  }
}

function decidePending(job: JobSnapshot, event: JobEvent): Decision | null {
  switch (event.kind) {
    case 'claim':
      return { ...unchanged(job), state: 'RUNNING', attempt: job.attempt + 1 };
    case 'cancel':
      return { ...unchanged(job), state: 'CANCELLED', cancelRequest: 'ask' };
    default:
      return null;
  }
}

function decideRunning(job: JobSnapshot, event: JobEvent, rules: Rules): Decision | null {
  switch (event.kind) {
    case 'succeed':
      return {
        ...unchanged(job),
        state: 'SUCCEEDED',
        lapsesInRow: 0,
        crashes: 0,
        result: event.result,
        lastError: 'keep',
        ends: end('succeeded', event.startedAfterMs),
      };
    case 'fail':
      return fail(job, event, rules);
    case 'snooze':
      return snooze(job, event, rules.limits);
    case 'release':
      return release(job, event.reason, event.startedAfterMs);
    case 'lapse':
      return lapse(job, event, rules.limits);
    case 'cancelled':
      return { ...unchanged(job), state: 'CANCELLED', ends: end('cancelled', event.startedAfterMs) };
    case 'cancel':
      return { ...unchanged(job), state: 'RUNNING', cancelRequest: 'ask' };
    default:
      return null;
  }
}

/** A failure is retried after the policy's delay, and is the end when there is none or when it can never succeed. */
function fail(job: JobSnapshot, event: JobEvent & { kind: 'fail' }, rules: Rules): Decision {
  const failures = job.failures + 1;
  const delayMs = event.retryable ? retryDelayMs(job.retry, failures, job.maxAttempts, rules.random) : null;
  const reason = delayMs !== null ? null : event.retryable ? 'exhausted' : 'non-retryable';
  return {
    ...unchanged(job),
    state: delayMs === null ? 'DEAD' : 'FAILED',
    due: delayMs === null ? 'keep' : { kind: 'after', delayMs },
    failures,
    lapsesInRow: 0,
    crashes: 0,
    lastError: event.error,
    ends: { ...end('failed', event.startedAfterMs, reason), error: event.error },
  };
}

function snooze(job: JobSnapshot, event: JobEvent & { kind: 'snooze' }, limits: JobLimits): Decision {
  const snoozes = job.snoozes + 1;
  const isTooMany = snoozes > limits.maxSnoozes;
  return {
    ...unchanged(job),
    state: isTooMany ? 'DEAD' : 'SCHEDULED',
    due: isTooMany ? 'keep' : { kind: 'after', delayMs: Math.max(event.delayMs, limits.minSnoozeMs) },
    snoozes,
    lapsesInRow: 0,
    crashes: 0,
    ends: end('snoozed', event.startedAfterMs, isTooMany ? 'snooze-limit' : null),
  };
}

/**
 * A lapse costs no failure. From the seventh in a row the job waits in quarantine and then runs alone, and only lapses
 * while alone count to the crash budget, so that the neighbours of a job that kills its process are never blamed.
 */
function lapse(job: JobSnapshot, event: JobEvent & { kind: 'lapse' }, limits: JobLimits): Decision {
  const lapsesInRow = job.lapsesInRow + 1;
  const crashes = job.crashes + (job.claim?.alone ? 1 : 0);
  const isCrashLoop = crashes >= limits.crashBudget;
  const isQuarantined = lapsesInRow >= limits.quarantineFrom;
  const quarantine: Due = { kind: 'after', delayMs: quarantineDelayMs(lapsesInRow, limits) };
  return {
    ...unchanged(job),
    state: isCrashLoop ? 'DEAD' : isQuarantined ? 'SCHEDULED' : 'PENDING',
    due: isCrashLoop ? 'keep' : isQuarantined ? quarantine : NOW,
    lapses: job.lapses + 1,
    lapsesInRow,
    crashes,
    ends: {
      ...end('lapsed', null, isCrashLoop ? 'crash-loop' : event.reason),
      reclaimedBy: event.reclaimedBy,
    },
  };
}

/** A person's retry of an ended job: a new budget and no cancel request. History stays, and so does `attempt`. */
function startOver(job: JobSnapshot): Decision {
  return { ...unchanged(job), ...NO_COUNTS, state: 'PENDING', due: NOW, cancelRequest: 'clear' };
}

/** A run with a cancel asked may still succeed; every other exit ends CANCELLED. Its counters and error are kept. */
function underCancel(job: JobSnapshot, decision: Decision): Decision | null {
  if (job.state !== 'RUNNING' || decision.state === 'RUNNING' || decision.state === 'SUCCEEDED') return null;
  return {
    ...decision,
    state: 'CANCELLED',
    due: 'keep',
    ends: decision.ends && { ...decision.ends, outcome: 'cancelled' },
  };
}

/** A success whose effect a failover lost did not happen: the job is released and runs again. */
function withoutEffects(job: JobSnapshot, event: JobEvent): Verdict | null {
  if (job.state !== 'RUNNING' || event.kind !== 'succeed' || event.effects.length === 0) return null;
  const decision = release(job, 'effects-missing', event.startedAfterMs);
  return { decision, underCancel: underCancel(job, decision) };
}

/** Costs neither a failure nor a lapse. */
function release(job: JobSnapshot, reason: ReleaseReason, startedAfterMs: number | null): Decision {
  return { ...unchanged(job), state: 'PENDING', due: NOW, ends: end('released', startedAfterMs, reason) };
}

/** Events that come from a run, or from whoever takes a run away, carry its claim; all others the version they read. */
function fenceOf(job: JobSnapshot, event: JobEvent): Fence {
  if (job.state !== 'RUNNING' || event.kind === 'cancel') return { by: 'version', version: job.version };
  if (job.claim === null) throw new TypeError(`Job ${job.id} is RUNNING without a claim`);
  return { by: 'claim', attempt: job.attempt, token: job.claim.token };
}

function unchanged(job: JobSnapshot): Decision {
  return {
    state: job.state,
    due: 'keep',
    attempt: job.attempt,
    failures: job.failures,
    lapses: job.lapses,
    lapsesInRow: job.lapsesInRow,
    crashes: job.crashes,
    snoozes: job.snoozes,
    result: null,
    lastError: 'keep',
    cancelRequest: 'keep',
    ends: null,
  };
}

function end(outcome: AttemptOutcome, startedAfterMs: number | null, reason: string | null = null): AttemptEnd {
  return { outcome, error: null, reason, reclaimedBy: null, startedAfterMs };
}
