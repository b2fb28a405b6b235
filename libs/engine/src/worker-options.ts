import { DEFAULT_LEASE_POLICY, DEFAULT_LIMITS } from '@deadman/domain';
import type { JobLimits, LeasePolicy } from '@deadman/domain';

/** Times in milliseconds. Values of protocol rules stand in `protocol.md` §13. */
export interface WorkerOptions {
  /** For people: the instance's name. */
  readonly name: string;
  readonly queues: readonly string[];
  readonly slots: number;
  readonly policy: LeasePolicy;
  readonly limits: JobLimits;
  /** Jobs that tickets may name before the transport is held back. */
  readonly ticketCapacity: number;
  readonly maxClaim: number;
  readonly maxAhead: number;
  readonly idleMinAgeMs: number;
  readonly idleEveryMs: number;
  readonly idleAtLeastEveryMs: number;
  readonly quarantineWaitMs: number;
  readonly progressEveryMs: number;
  /** How long a shutdown lets handlers finish before it aborts them. */
  readonly drainMs: number;
  /** How long an aborted handler has before its job is settled without it, and a shutdown's last writes have. */
  readonly abortGraceMs: number;
}

export const WORKER_DEFAULTS: WorkerOptions = {
  name: 'worker',
  queues: ['default'],
  slots: 16,
  policy: DEFAULT_LEASE_POLICY,
  limits: DEFAULT_LIMITS,
  ticketCapacity: 5_000,
  maxClaim: 500,
  maxAhead: 2_000,
  idleMinAgeMs: 2_000,
  idleEveryMs: 1_000,
  idleAtLeastEveryMs: 5_000,
  quarantineWaitMs: 60_000,
  progressEveryMs: 500,
  drainMs: 25_000,
  abortGraceMs: 5_000,
};
