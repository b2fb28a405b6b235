import type { AttemptOutcome, JobState } from './job-state.js';
import type { RetryPolicy } from './retry-policy.js';

/** What a failed attempt left behind. Every text is already cut and cleaned, so that it can always be stored. */
export interface AttemptError {
  readonly name: string;
  readonly message: string;
  readonly code: string | null;
  readonly stack: string | null;
  /** The chain of causes, nearest first, at most a few links. */
  readonly causes: readonly { readonly name: string; readonly message: string }[];
  /** Where a payload did not fit its handler's schema; JSON Pointers. */
  readonly issues: readonly { readonly pointer: string; readonly message: string }[];
}

/** The last error of a job together with the attempt that met it. */
export interface LastError extends AttemptError {
  readonly attempt: number;
  readonly at: Date;
}

/** How often what happened to a job. `attempt` is the claim's number and part of the fence; it never goes down. */
export interface JobCounters {
  /** The handler said no. Compared with `maxAttempts`. */
  readonly failures: number;
  /** The worker died or vanished under the job. Not a failure. */
  readonly lapses: number;
  /** Lapses since the last failure, snooze or success. Decides on quarantine. */
  readonly lapsesInRow: number;
  /** Those of `lapsesInRow` that happened while the job ran alone. Compared with the crash budget. */
  readonly crashes: number;
  readonly snoozes: number;
}

export const NO_COUNTS: JobCounters = { failures: 0, lapses: 0, lapsesInRow: 0, crashes: 0, snoozes: 0 };

/** A worker's hold on a RUNNING job. */
export interface Claim {
  /** Random uuid, one per claim statement. */
  readonly token: string;
  /** The worker's incarnation: a uuid made anew at each start of the process. */
  readonly workerId: string;
  /** Database clock. */
  readonly claimedAt: Date;
  /** The job came out of quarantine and nothing else runs beside it. */
  readonly alone: boolean;
}

/** What a submit fixes for the life of the job. */
export interface JobSpec {
  /** UUIDv7, made by the api. */
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  /** The payload's JSON text exactly as it was received. */
  readonly payload: string;
  readonly maxAttempts: number;
  readonly retry: RetryPolicy;
  /** Longest run of one attempt. Milliseconds. */
  readonly timeoutMs: number;
  readonly tags: readonly string[];
  readonly idempotencyKey: string | null;
  /** W3C trace context of the submit. */
  readonly traceparent: string | null;
}

export interface Job extends JobSpec, JobCounters {
  readonly state: JobState;
  /** Rises with every change of state and every cancel request. The compare-and-set value of writes about a job that does not run. */
  readonly version: number;
  /** +1 at every claim, never reset, never lowered. 0 before the first. */
  readonly attempt: number;
  /** JSON text, null before success. */
  readonly result: string | null;
  readonly createdAt: Date;
  /** When the job is, or became, due. Database clock. */
  readonly scheduledFor: Date;
  /** When the latest attempt was claimed; null before the first. */
  readonly startedAt: Date | null;
  /** When the job ended; null unless the state is terminal. */
  readonly finishedAt: Date | null;
  readonly cancelRequestedAt: Date | null;
  readonly lastError: LastError | null;
  /** Set exactly while RUNNING. */
  readonly claim: Claim | null;
}

/** A job that was just claimed: RUNNING, with its claim. */
export interface ClaimedJob extends Job {
  readonly claim: Claim;
}

/** A job as a reader sees it, with what other tables know of it. */
export interface JobView extends Job {
  /** When its worker was last seen; null unless RUNNING. */
  readonly workerSeenAt: Date | null;
  readonly progress: { readonly value: string; readonly sequence: number; readonly at: Date } | null;
}

/** One attempt in a job's history. */
export interface AttemptRecord {
  readonly jobId: string;
  readonly attempt: number;
  readonly outcome: AttemptOutcome;
  readonly claimToken: string;
  readonly workerId: string;
  readonly claimedAt: Date;
  /** When the handler began; null when it never did, or when nobody lived to tell (a lapse). */
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly error: AttemptError | null;
  /** The reaper that took the job back; null unless it lapsed or its cancel ran out of grace. */
  readonly reclaimedBy: string | null;
  /** Why, for outcomes that need saying: `shutdown`, `lease-lapsed`, `timeout`, `exhausted`, `crash-loop`, … */
  readonly reason: string | null;
}

/** The record of one transition to DEAD. */
export interface DeadLetter {
  readonly id: string;
  readonly jobId: string;
  readonly attempt: number;
  readonly type: string;
  readonly queue: string;
  readonly reason: string;
  readonly error: AttemptError | null;
  readonly failures: number;
  readonly lapses: number;
  /** When the attempt died. */
  readonly diedAt: Date;
  readonly recordedAt: Date;
  /** The job had left DEAD at that attempt before the letter was recorded. */
  readonly superseded: boolean;
}
