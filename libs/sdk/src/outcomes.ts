import { OUTCOME } from '@deadman/domain';
import type { HandlerOutcome } from '@deadman/domain';

/** What {@link done} makes. `result` keeps its type, so that tests and callers of `run` can see it. */
export type Done<Result = unknown> = Extract<HandlerOutcome, { [OUTCOME]: 'done' }> & { readonly result: Result };
/** What {@link snooze} makes. */
export type Snooze = Extract<HandlerOutcome, { [OUTCOME]: 'snooze' }>;
/** What {@link cancel} makes. */
export type Cancel = Extract<HandlerOutcome, { [OUTCOME]: 'cancel' }>;
/** What {@link dead} makes. */
export type Dead = Extract<HandlerOutcome, { [OUTCOME]: 'dead' }>;

/** Longest snooze, in seconds: ten years, as far ahead as a job may be scheduled at all. */
export const MAX_SNOOZE_SECONDS = 315_360_000;

/**
 * The job succeeded. Returning any other value says the same with that value as the result; `done` is for a handler with
 * several outcomes that wants to name each of them.
 *
 * @param result any JSON value of at most 64 KiB as text; `undefined` is stored as `null`. One that cannot be stored ends
 * the job as dead, since running it again would give the same.
 */
export function done(): Done<null>;
export function done<Result>(result: Result): Done<Result>;
export function done(result: unknown = null): Done {
  return { [OUTCOME]: 'done', result };
}

/**
 * Run the job again later, without a failure: for work that waits on something outside. Costs one of the job's snoozes
 * (1,000 unless the service is set up otherwise), after which the job is dead.
 *
 * @param options.seconds how long to wait. Less than a second is lengthened to one. At most {@link MAX_SNOOZE_SECONDS}.
 * @throws RangeError for anything but a number from 0 to that; thrown by the handler it is an ordinary failure.
 */
export function snooze(options: { readonly seconds: number }): Snooze {
  const seconds: unknown = options?.seconds;
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= MAX_SNOOZE_SECONDS)) {
    throw new RangeError(`snooze: seconds must be a number from 0 to ${MAX_SNOOZE_SECONDS}, not ${String(seconds)}`);
  }
  return { [OUTCOME]: 'snooze', delayMs: Math.ceil(seconds * 1_000) };
}

/** The job is no longer wanted: it ends as cancelled, neither a success nor a failure. */
export function cancel(): Cancel {
  return { [OUTCOME]: 'cancel' };
}

/**
 * The job can never succeed: it ends as dead at once, whatever attempts are left, and gets a dead letter.
 *
 * @param error what to keep as the job's last error: an `Error` with its code and causes, or a message.
 */
export function dead(error: Error | string): Dead {
  if (typeof error !== 'string') return { [OUTCOME]: 'dead', error };
  const made = new Error(error);
  // The author's line, not this one, is where the job was given up.
  Error.captureStackTrace?.(made, dead);
  return { [OUTCOME]: 'dead', error: made };
}
