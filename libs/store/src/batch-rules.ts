import { DeadmanError, Transition, unstorableReason } from '@deadman/domain';
import type { JobEventKind, JobSpec, ProgressUpdate, Submission, Verdict } from '@deadman/domain';

/**
 * What every job store asks of a batch before it writes anything. A broken rule of use is a bug and throws a TypeError;
 * a text that PostgreSQL cannot store is the caller's data and throws `data-rejected`, with nothing changed.
 */

/** Events that have statements of their own, since they carry what a `Transition` does not: a claim needs its token, a new job its row. */
const NOT_APPLIED: ReadonlySet<JobEventKind> = new Set(['submit', 'claim']);

export function checkSubmissions(batch: readonly Submission[]): void {
  for (const { job, transition, fingerprint } of batch) {
    assertGenuine(transition);
    if (transition.event !== 'submit' || transition.jobId !== job.id) {
      throw new TypeError(`Job ${job.id} comes with the transition "${transition.event}" of job ${transition.jobId}`);
    }
    if ((job.idempotencyKey === null) !== (fingerprint === null)) {
      throw new TypeError(`Job ${job.id} must have a fingerprint exactly when it has an idempotency key`);
    }
    rejectUnstorableJob(job);
    if (fingerprint !== null) rejectUnstorable(fingerprint);
  }
}

export function checkTransitions(batch: readonly Transition[]): void {
  const seen = new Set<string>();
  for (const transition of batch) {
    assertGenuine(transition);
    if (NOT_APPLIED.has(transition.event)) throw new TypeError(`"${transition.event}" is not written by apply`);
    if (seen.has(transition.jobId)) throw new TypeError(`Job ${transition.jobId} is in one batch twice`);
    seen.add(transition.jobId);
    rejectUnstorableVerdict(transition);
    if (transition.withoutEffects !== null) rejectUnstorableVerdict(transition.withoutEffects);
    rejectUnstorable(transition.effects);
  }
}

export function checkProgress(updates: readonly ProgressUpdate[]): void {
  for (const { value } of updates) rejectUnstorable(value);
}

/** The name and the value of an effect or a step. */
export function checkMemo(name: string, value: string): void {
  rejectUnstorable([name, value]);
}

/** What a handler's transaction hands in. A key would need an answer to whoever used it before, and the effect is one already. */
export function checkNewJobs(batch: readonly Submission[]): void {
  checkSubmissions(batch);
  if (batch.some(({ job }) => job.idempotencyKey !== null)) throw new TypeError('A job in a transaction has no key');
}

function assertGenuine(transition: unknown): void {
  if (!Transition.isGenuine(transition))
    throw new TypeError('Only what `admit` and `transition` return can be written');
}

/** The decision under a cancel repeats the texts of the plain one, so that looking at one is enough. */
function rejectUnstorableVerdict({ decision }: Verdict): void {
  rejectUnstorable(decision.result);
  rejectUnstorable(decision.lastError);
  rejectUnstorable(decision.ends);
}

/** The texts of a job one by one: this is done for every job that comes in, and the walk below takes several times as long. */
function rejectUnstorableJob({ type, queue, payload, tags, idempotencyKey, traceparent }: JobSpec): void {
  for (const text of [type, queue, payload, idempotencyKey, traceparent]) if (text !== null) rejectUnstorableText(text);
  for (const tag of tags) rejectUnstorableText(tag);
}

/**
 * Looks through every text of a value. PostgreSQL would refuse a NUL by itself, but a lone surrogate turns into U+FFFD on
 * the way, and what comes back is no longer what was sent.
 */
function rejectUnstorable(value: unknown): void {
  if (typeof value === 'string') {
    rejectUnstorableText(value);
  } else if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    for (const [name, member] of Object.entries(value)) {
      rejectUnstorable(name);
      rejectUnstorable(member);
    }
  }
}

function rejectUnstorableText(text: string): void {
  const reason = unstorableReason(text);
  if (reason !== null) throw new DeadmanError('data-rejected', `A text holds a ${reason}, which cannot be stored`);
}
