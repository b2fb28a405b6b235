import { DeadmanError, LeaseStore } from '@deadman/domain';
import type { Clock, Lease, LeaseReading } from '@deadman/domain';

/** A longer silence between two reads means that nobody can say what was kept meanwhile (`protocol.md` §9). Milliseconds. */
const TRUST_GAP_MS = 3_000;

/** Lapsed leases are swept out whenever the store has grown to twice what the last sweep left, and not below this size. */
const SWEEP_FROM = 1_000;

interface HeldLease extends Lease {
  readonly untilMs: number;
}

/** Since when the store has been read without a gap, and when it was read last. */
interface Trust {
  readonly sinceMs: number;
  readonly lastMs: number;
}

export interface MemoryLeaseStoreOptions {
  /** False makes every call throw `lease-store-unavailable`, as a server does that is down. For tests. */
  readonly isReachable?: () => boolean;
}

/**
 * Leases in the memory of this process. They end with it, and so does their trust: a new process starts at 0 and earns
 * a TTL of it before the absence of a lease means anything.
 */
export class MemoryLeaseStore extends LeaseStore {
  readonly #clock: Clock;
  readonly #isReachable: () => boolean;
  readonly #leases = new Map<string, HeldLease>();
  #trust: Trust | null = null;
  #sweepAt = SWEEP_FROM;

  constructor(clock: Clock, { isReachable = () => true }: MemoryLeaseStoreOptions = {}) {
    super();
    this.#clock = clock;
    this.#isReachable = isReachable;
  }

  override async acquire(leases: readonly Lease[], ttlMs: number): Promise<void> {
    const nowMs = this.#reach();
    for (const lease of leases) {
      const held = this.#held(lease.jobId, nowMs);
      if (held === null || held.attempt < lease.attempt) this.#hold(lease, nowMs + ttlMs);
    }
    this.#sweep(nowMs);
  }

  override async renew(leases: readonly Lease[], ttlMs: number): Promise<readonly boolean[]> {
    const nowMs = this.#reach();
    const renewed = leases.map((lease) => {
      const held = this.#held(lease.jobId, nowMs);
      const isMine = held === null || isSameHolder(held, lease);
      if (isMine) this.#hold(lease, nowMs + ttlMs);
      return isMine;
    });
    this.#sweep(nowMs);
    return renewed;
  }

  override async release(leases: readonly Lease[]): Promise<void> {
    const nowMs = this.#reach();
    for (const lease of leases) {
      const held = this.#held(lease.jobId, nowMs);
      if (held !== null && isSameHolder(held, lease)) this.#leases.delete(lease.jobId);
    }
  }

  override async read(jobIds: readonly string[]): Promise<LeaseReading> {
    const nowMs = this.#reach();
    const isGap = this.#trust === null || nowMs - this.#trust.lastMs > TRUST_GAP_MS;
    this.#trust = { sinceMs: isGap ? nowMs : (this.#trust?.sinceMs ?? nowMs), lastMs: nowMs };
    return {
      present: jobIds.map((jobId) => this.#held(jobId, nowMs) !== null),
      unbrokenMs: nowMs - this.#trust.sinceMs,
    };
  }

  /** Loses every lease and the trust in them, as a server does that was emptied or started again. For tests. */
  forget(): void {
    this.#leases.clear();
    this.#trust = null;
  }

  #reach(): number {
    if (!this.#isReachable()) throw new DeadmanError('lease-store-unavailable');
    return this.#clock.monotonicMs();
  }

  #hold({ jobId, workerId, attempt, token }: Lease, untilMs: number): void {
    this.#leases.set(jobId, { jobId, workerId, attempt, token, untilMs });
  }

  #held(jobId: string, nowMs: number): HeldLease | null {
    const held = this.#leases.get(jobId);
    return held !== undefined && held.untilMs > nowMs ? held : null;
  }

  /** Costs a constant per lease ever set, since each sweep waits for the store to double. */
  #sweep(nowMs: number): void {
    if (this.#leases.size < this.#sweepAt) return;
    for (const [jobId, { untilMs }] of this.#leases) {
      if (untilMs <= nowMs) this.#leases.delete(jobId);
    }
    this.#sweepAt = Math.max(SWEEP_FROM, 2 * this.#leases.size);
  }
}

function isSameHolder(held: Lease, lease: Lease): boolean {
  return held.workerId === lease.workerId && held.attempt === lease.attempt && held.token === lease.token;
}
