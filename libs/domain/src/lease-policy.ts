import type { LapseReason } from './job-event.js';

/** The times that leases run on. */
export interface LeasePolicy {
  /** Time a lease holds without renewal, and after which the silence of a worker means something. Milliseconds, default 30 000. */
  readonly ttlMs: number;
  /** Time between two beats: a third of the TTL, so that two lost ones cost nothing. Milliseconds, default 10 000. */
  readonly beatMs: number;
  /** What a run may overstay its timeout before a reaper takes it, whatever its worker says. Milliseconds, default 5 000. */
  readonly timeoutSlackMs: number;
  /** Time a run has to end after a cancel was asked for. Milliseconds, default 30 000. */
  readonly cancelGraceMs: number;
}

export function leasePolicy(ttlMs: number, overrides: Partial<LeasePolicy> = {}): LeasePolicy {
  return { ttlMs, beatMs: Math.floor(ttlMs / 3), timeoutSlackMs: 5_000, cancelGraceMs: 30_000, ...overrides };
}

export const DEFAULT_LEASE_POLICY: LeasePolicy = leasePolicy(30_000);

/** What a reaper knows of a running job. All ages by the clock of the store that measured them, in milliseconds. */
export interface Suspicion {
  readonly claimAgeMs: number;
  readonly timeoutMs: number;
  /** Null when no cancel was asked. */
  readonly cancelAgeMs: number | null;
  /** Null when the worker's row does not exist. */
  readonly workerAgeMs: number | null;
  /** How long the database has answered without a gap. */
  readonly storeUnbrokenMs: number;
  /** `unknown` when the lease store did not answer. */
  readonly lease: 'present' | 'absent' | 'unknown';
  /** How long the lease store has answered without a gap and without losing its memory; 0 when it did not answer. */
  readonly leaseStoreUnbrokenMs: number;
  /** How long ago this reaper last saw the lease of this claim present; null when it never did. */
  readonly leaseSeenAgeMs: number | null;
}

/**
 * The reason to take a running job from its worker, or null to leave it: the table of `protocol.md` §9, row by row.
 *
 * Silence of a worker counts only when the database was there to hear it for a whole TTL: after an outage everyone looks
 * stale. Absence of a lease counts only when the lease store has kept its memory for as long.
 */
export function reasonToReclaim(known: Suspicion, policy: LeasePolicy): LapseReason | null {
  const { ttlMs } = policy;
  if (known.claimAgeMs <= ttlMs) return null;
  if (known.claimAgeMs > ttlMs + known.timeoutMs + policy.timeoutSlackMs) return 'timeout';
  if (known.cancelAgeMs !== null && known.cancelAgeMs > policy.cancelGraceMs) return 'cancel-grace';
  const isUnbroken = known.storeUnbrokenMs >= ttlMs;
  if (!isUnbroken || !isSilent(known, ttlMs)) return null;
  if (known.lease === 'present') return null;
  const isTrusted = known.lease === 'absent' && known.leaseStoreUnbrokenMs >= ttlMs;
  if (isTrusted) return 'lease-lapsed';
  const wasSeenLately = known.leaseSeenAgeMs !== null && known.leaseSeenAgeMs <= ttlMs;
  return isSilent(known, 2 * ttlMs) && !wasSeenLately ? 'worker-gone' : null;
}

function isSilent(known: Suspicion, thanMs: number): boolean {
  return known.workerAgeMs === null || known.workerAgeMs > thanMs;
}
