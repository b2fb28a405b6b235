import type { AttemptError } from './job.js';

/** When a job becomes due. An instant comes only from a client's `runAt`; everything else is a delay on the database's clock. */
export type Due =
  | { readonly kind: 'now' }
  | { readonly kind: 'after'; readonly delayMs: number }
  | { readonly kind: 'at'; readonly at: Date };

export const NOW: Due = { kind: 'now' };

/** Why a running job was handed back without blame. */
export type ReleaseReason = 'shutdown' | 'not-started' | 'orphan-claim' | 'effects-missing';

/** Why a reaper took a job from its worker. */
export type LapseReason = 'lease-lapsed' | 'worker-gone' | 'timeout' | 'cancel-grace';

/** When the handler began, in milliseconds after the claim; null when it never did. */
interface Run {
  readonly startedAfterMs: number | null;
}

/** Everything that can happen to a job (`protocol.md` §1). */
export type JobEvent =
  /** A client hands the job in. */
  | { readonly kind: 'submit'; readonly due: Due }
  /** A worker takes it; `alone` when it comes from quarantine. */
  | { readonly kind: 'claim'; readonly alone: boolean }
  /** Its time has come. */
  | { readonly kind: 'due' }
  /** The handler finished. `effects` are the keys of the effects this run saw committed; `result` is JSON text. */
  | ({ readonly kind: 'succeed'; readonly result: string; readonly effects: readonly string[] } & Run)
  /** The handler threw, timed out, or was handed a payload that does not fit. */
  | ({ readonly kind: 'fail'; readonly error: AttemptError; readonly retryable: boolean } & Run)
  /** The handler asks to be called again later. */
  | ({ readonly kind: 'snooze'; readonly delayMs: number } & Run)
  /** The worker hands it back. */
  | ({ readonly kind: 'release'; readonly reason: ReleaseReason } & Run)
  /** A reaper takes it from a worker that is gone, or that overran. */
  | { readonly kind: 'lapse'; readonly reason: LapseReason; readonly reclaimedBy: string }
  /** The run stopped because of a cancel, or because its handler asked to end. */
  | ({ readonly kind: 'cancelled' } & Run)
  /** Somebody asks for the job to end. */
  | { readonly kind: 'cancel' }
  /** Somebody asks for the job to run (again, or now). */
  | { readonly kind: 'retry' };

export type JobEventKind = JobEvent['kind'];
