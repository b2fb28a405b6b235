import type { Belief, CancelledClaim, Lease } from '@deadman/domain';

/** A run as its heart has to know it. Times are those of `Clock.monotonicMs`, milliseconds. */
export interface HeldRun {
  readonly lease: Lease;
  readonly timeoutMs: number;
  /** When the claim was sent, which is the first renewal (`protocol.md` §5). */
  readonly claimedAtMs: number;
}

/** What a worker tells its heart, in the order in which it happens. Plain data: it may cross to another thread. */
export type HeartNews =
  /** Told before the claim is sent, so that what it gives is never taken for an orphan. */
  | { readonly kind: 'claim-began'; readonly token: string }
  | { readonly kind: 'claim-ended'; readonly token: string }
  /** Told before the claim that gave them ends. */
  | { readonly kind: 'runs-held'; readonly runs: readonly HeldRun[] }
  /** Told before the handler is called, which may keep the worker from telling anything. */
  | { readonly kind: 'run-started'; readonly key: string; readonly atMs: number }
  /** The handler is done. Only the fence decides about the run now. */
  | { readonly kind: 'run-settling'; readonly key: string }
  | { readonly kind: 'run-dropped'; readonly key: string }
  /** A notice said that a cancel was asked for these, held or not. Told to a heart that hears no notices itself. */
  | { readonly kind: 'cancel-noticed'; readonly claims: readonly CancelledClaim[] };

/**
 * What a heart says. It may have been said a moment ago: the worker judges by what it holds when it hears it, so a run
 * that is on its way to the store meanwhile is left to the fence.
 */
export type HeartWord =
  /** A beat has ended, and whether it wrote the worker's row. Said after everything else that the beat had to say. */
  | { readonly kind: 'beaten'; readonly isRegistered: boolean }
  /** A store has vouched for these runs, by a renewal that was sent then (monotonic). */
  | { readonly kind: 'runs-vouched'; readonly keys: readonly string[]; readonly sentAtMs: number }
  /** Nobody has vouched for the run during a TTL, or the store does not know of it. Never taken back. */
  | { readonly kind: 'run-lost'; readonly key: string; readonly reason: 'stale' | 'unconfirmed' }
  | { readonly kind: 'cancel-asked'; readonly keys: readonly string[] }
  /** The store believes that this worker runs these, and the heart knows of no such claim. */
  | { readonly kind: 'orphans-found'; readonly orphans: readonly Belief[] }
  /** A job has waited long in quarantine, and the dice chose this worker to make room for it. */
  | { readonly kind: 'quarantine-waits' }
  /** Nothing has waited long in quarantine. */
  | { readonly kind: 'quarantine-clear' };

/**
 * What keeps the runs of a worker alive and honest while it has them (`protocol.md` §6). It may beat in a thread of its
 * own, so that a handler which blocks the worker's thread keeps its lease. One heart serves one worker.
 */
export abstract class Heart {
  /** Begins to beat, and to say what it finds to `hear`. */
  abstract start(hear: (word: HeartWord) => void): void;

  /** Hears what the worker does. News of one turn of the event loop may travel together; a claim's begin travels at once. */
  abstract tell(news: HeartNews): void;

  /** One more beat, now. Resolves when all it had to say was heard; at once for a heart that does not beat. Never rejects. */
  abstract beat(): Promise<void>;

  /** Beats no more, and resolves when nothing of the heart is under way. Never rejects. */
  abstract stop(): Promise<void>;
}
