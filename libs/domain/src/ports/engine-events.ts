import type { AbortReasonCode } from '../handler.js';
import type { LapseReason } from '../job-event.js';
import type { AttemptOutcome, JobState } from '../job-state.js';
import type { AttemptError } from '../job.js';
import type { Lease } from './lease-store.js';

interface JobRef {
  readonly jobId: string;
  readonly type: string;
  readonly queue: string;
  readonly attempt: number;
}

/** What happens in the engine, for metrics and logs. Durations in milliseconds. */
export type EngineEvent =
  | { readonly kind: 'jobs-submitted'; readonly created: number; readonly replayed: number }
  /** `overloaded`: too many wait, and the same submit may succeed later. `data`: the database refuses what it says. */
  | { readonly kind: 'submit-rejected'; readonly because: 'overloaded' | 'data'; readonly count: number }
  | {
      readonly kind: 'tickets-handled';
      readonly result: 'claimed' | 'stale' | 'malformed' | 'duplicate';
      readonly count: number;
    }
  | {
      readonly kind: 'jobs-claimed';
      readonly by: 'ticket' | 'idle' | 'quarantine';
      readonly count: number;
      /** Whose attempts they are from now on, by what token. */
      readonly leases: readonly Lease[];
    }
  | { readonly kind: 'claim-failed'; readonly error: unknown }
  /** `waitedMs`: due → started. */
  | ({ readonly kind: 'attempt-started'; readonly waitedMs: number } & JobRef)
  | ({
      readonly kind: 'attempt-settled';
      readonly outcome: AttemptOutcome;
      readonly state: JobState;
      /** 0 when the handler never started. */
      readonly ranMs: number;
      /** Submit → end of the job; null while it has not ended. */
      readonly endToEndMs: number | null;
      readonly error: AttemptError | null;
      readonly reason: string | null;
    } & JobRef)
  | ({ readonly kind: 'write-fenced'; readonly operation: string } & Pick<JobRef, 'jobId' | 'attempt'>)
  | ({ readonly kind: 'run-lost'; readonly reason: 'stale' | 'unconfirmed' } & JobRef)
  | ({ readonly kind: 'run-aborted'; readonly reason: AbortReasonCode } & JobRef)
  /** A step that an earlier try had begun, and whose outcome nobody knows, is about to be done again. */
  | ({ readonly kind: 'step-in-doubt'; readonly step: string } & JobRef)
  | { readonly kind: 'orphan-released'; readonly jobId: string; readonly attempt: number }
  | { readonly kind: 'leases-renewed'; readonly result: 'renewed' | 'refused' | 'error'; readonly count: number }
  | { readonly kind: 'beat-failed'; readonly error: unknown }
  | { readonly kind: 'drain-for-quarantine' }
  | { readonly kind: 'reaper-scanned'; readonly storeUnbrokenMs: number; readonly isLeaseStoreTrusted: boolean }
  | ({
      readonly kind: 'job-reclaimed';
      readonly workerId: string;
      readonly reason: LapseReason;
      readonly state: JobState;
      /** From the last sign of life, the claim or the worker's last beat, to the reclaim. */
      readonly recoveryMs: number;
    } & JobRef)
  | { readonly kind: 'jobs-promoted'; readonly count: number; readonly maxDelayMs: number }
  | { readonly kind: 'outbox-sent'; readonly by: 'writer' | 'relay'; readonly count: number; readonly failed: number }
  | {
      readonly kind: 'dead-letter-recorded';
      readonly jobId: string;
      readonly attempt: number;
      readonly reason: string;
      readonly superseded: boolean;
    }
  | { readonly kind: 'jobs-purged'; readonly jobs: number }
  | { readonly kind: 'loop-turned'; readonly loop: string }
  | { readonly kind: 'loop-failed'; readonly loop: string; readonly error: unknown };

/** Hears what happens. Must neither throw nor wait: it is called on hot paths. */
export abstract class EngineEvents {
  abstract emit(event: EngineEvent): void;
}
