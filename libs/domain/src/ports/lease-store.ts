/** The lease of one claim. Its holder is `workerId`, `attempt` and `token` together. */
export interface Lease {
  readonly jobId: string;
  readonly workerId: string;
  readonly attempt: number;
  readonly token: string;
}

export interface LeaseReading {
  /** In the order asked: whether a lease is there, of any holder. */
  readonly present: readonly boolean[];
  /** How long the store has answered without a gap over 3 s and without losing its memory. Milliseconds. */
  readonly unbrokenMs: number;
}

/**
 * Leases that vanish by themselves when nobody renews them. Losing all of them costs time, never a job: the job's row
 * decides. Every method is one round trip for the whole batch and throws `lease-store-unavailable`, after which any part
 * of it may have happened.
 */
export abstract class LeaseStore {
  /** Sets each lease that is absent or held by a lower attempt. One that is refused is no error. */
  abstract acquire(leases: readonly Lease[], ttlMs: number): Promise<void>;

  /** Extends what is mine, sets again what is absent, leaves another's alone. In order: whether the lease is now mine. */
  abstract renew(leases: readonly Lease[], ttlMs: number): Promise<readonly boolean[]>;

  /** Deletes those that are still held by this very claim. */
  abstract release(leases: readonly Lease[]): Promise<void>;

  abstract read(jobIds: readonly string[]): Promise<LeaseReading>;
}
