/** What the next claim is decided by. Times are monotonic, in milliseconds. */
export interface ClaimSituation {
  readonly nowMs: number;
  readonly slots: number;
  /** Runs that wait for a slot. */
  readonly queued: number;
  /** All that is held: queued, running and settling. */
  readonly held: number;
  /** Jobs that tickets name. */
  readonly ticketed: number;
  /** Runs that end in about a second at the pace of late: so many may be claimed ahead of a free slot. */
  readonly ahead: number;
  readonly lastIdleClaimAtMs: number;
  readonly nextIdleClaimAtMs: number;
  /** The last idle claim got all that it asked for: more waits that no ticket may ever name here. */
  readonly isIdleClaimFull: boolean;
  /** The last claim was by ticket, and most of its tickets were stale. */
  readonly areTicketsStale: boolean;
  /** A job from quarantine runs here; nothing may run beside it. */
  readonly isAloneRunning: boolean;
  /** Until when this worker takes only what waits in quarantine; Infinity while it still empties its slots for that, null when it does not. */
  readonly drainsUntilMs: number | null;
}

export interface ClaimPace {
  /** Jobs in one claim statement, at most. */
  readonly maxClaim: number;
  /** Tickets or not, no later than this after the last idle claim the next claim is an idle one. Milliseconds. */
  readonly idleAtLeastEveryMs: number;
  /** Time between two idle claims of which the first found all there was, and, tickets or not, of which it found more. Milliseconds, default 1 000. */
  readonly idleEveryMs: number;
}

export type ClaimPlan =
  | { readonly kind: 'tickets'; readonly limit: number }
  | { readonly kind: 'idle'; readonly limit: number }
  /** One job from quarantine, which will run alone. */
  | { readonly kind: 'alone' }
  /** Nothing to do until something changes, or at the latest after `forMs`. */
  | { readonly kind: 'wait'; readonly forMs: number };

/** Longest that the claim loop goes without a look, so that its turning shows that it lives. Milliseconds. */
const MAX_WAIT_MS = 1_000;

/**
 * What to claim next (`protocol.md` §5). A pure function, so that every case can be looked at.
 *
 * Claims stay large because the next one waits until half of what was claimed ahead is used up; they stay bounded because
 * no more is held than the slots and about a second of work.
 */
export function planClaim(situation: ClaimSituation, pace: ClaimPace): ClaimPlan {
  const { nowMs, held, ticketed } = situation;
  if (situation.isAloneRunning) return { kind: 'wait', forMs: MAX_WAIT_MS };
  if (situation.drainsUntilMs !== null && nowMs < situation.drainsUntilMs) {
    return held === 0 ? { kind: 'alone' } : { kind: 'wait', forMs: MAX_WAIT_MS };
  }
  const limit = Math.min(roomFor(situation), pace.maxClaim);
  if (limit <= 0) return { kind: 'wait', forMs: MAX_WAIT_MS };
  if (isIdleClaimOwed(situation, pace)) return { kind: 'idle', limit };
  if (ticketed > 0) return { kind: 'tickets', limit };
  if (nowMs >= situation.nextIdleClaimAtMs) return { kind: 'idle', limit };
  return { kind: 'wait', forMs: Math.min(MAX_WAIT_MS, situation.nextIdleClaimAtMs - nowMs) };
}

/**
 * Whether jobs that no ticket names come before those that some do. A flood of stale tickets, or of fresh jobs, would leave
 * them a claim of the free slots each five seconds otherwise, however many they are.
 */
function isIdleClaimOwed(situation: ClaimSituation, pace: ClaimPace): boolean {
  const { nowMs, lastIdleClaimAtMs, isIdleClaimFull, areTicketsStale } = situation;
  if (isIdleClaimFull && areTicketsStale) return true;
  return nowMs - lastIdleClaimAtMs >= (isIdleClaimFull ? pace.idleEveryMs : pace.idleAtLeastEveryMs);
}

function roomFor({ slots, queued, held, ahead }: ClaimSituation): number {
  return queued > ahead / 2 ? 0 : slots + ahead - held;
}
