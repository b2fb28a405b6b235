import { isDeadmanError, reasonToReclaim, Transition, transition } from '@deadman/domain';
import type {
  ApplyResult,
  Clock,
  EngineEvents,
  JobState,
  JobStore,
  LapseReason,
  LeasePolicy,
  LeaseReading,
  LeaseStore,
  Rules,
  Suspect,
  Suspicion,
} from '@deadman/domain';
import { bisect } from './bisect.js';
import { LeaseSightings } from './lease-sightings.js';
import type { Publisher } from './publisher.js';

export interface ReaperDeps {
  readonly store: JobStore;
  readonly leases: LeaseStore;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly events: EngineEvents;
  readonly rules: Rules;
}

export interface ReaperOptions {
  /** The reaper's name in the history of the jobs it takes. */
  readonly name: string;
  /** The same for all workers and reapers of a deployment. */
  readonly policy: LeasePolicy;
  /** Gap between two scans, of whichever reaper, from which the database counts as having been away. Milliseconds, default 3 000. */
  readonly gapMs: number;
  /** Jobs looked at in one turn. Default 500. */
  readonly limit: number;
}

const DEFAULTS = { gapMs: 3_000, limit: 500 };

/** How far a reaper looks past jobs that it has to leave, as a multiple of its limit. */
const LOOK_FURTHER = 16;

/** Most transitions that `JobStore.apply` takes. */
const MOST_PER_APPLY = 500;

/** A suspect and what is to become of it. */
interface Lapse {
  readonly suspect: Suspect;
  readonly reason: LapseReason;
  readonly transition: Transition;
}

/** What one turn knows, read within `gapMs`. */
interface Readings {
  readonly askedAtMs: number;
  readonly storeUnbrokenMs: number;
  readonly suspects: readonly Suspect[];
  /** Null when the lease store did not answer. */
  readonly leases: LeaseReading | null;
}

/**
 * Takes jobs from workers that are gone (`protocol.md` §9). Any number of reapers may run: nothing is decided by who they
 * are, only by the fence of each job's row.
 */
export class Reaper {
  readonly #deps: ReaperDeps;
  readonly #options: ReaperOptions;
  readonly #sightings = new LeaseSightings();
  #sawStoreAway = false;
  #limit: number;

  constructor(deps: ReaperDeps, options: Pick<ReaperOptions, 'name' | 'policy'> & Partial<ReaperOptions>) {
    this.#deps = deps;
    this.#options = { ...DEFAULTS, ...options };
    this.#limit = this.#options.limit;
  }

  /**
   * One scan. `again` when more may wait. Throws what `JobStore` throws: what was reclaimed then is in the history all the
   * same, and the relay sends its tickets.
   */
  async turn(): Promise<'again' | void> {
    try {
      return await this.#scan();
    } catch (error) {
      this.#sawStoreAway ||= saysThatStoreIsAway(error);
      throw error;
    }
  }

  async #scan(): Promise<'again' | void> {
    const readings = await this.#read();
    this.#deps.events.emit({
      kind: 'reaper-scanned',
      storeUnbrokenMs: readings.storeUnbrokenMs,
      isLeaseStoreTrusted: (readings.leases?.unbrokenMs ?? 0) >= this.#options.policy.ttlMs,
    });
    const reclaimed = await this.#reclaim(this.#findLapses(readings));
    const isFull = readings.suspects.length >= this.#limit;
    this.#limit = this.#nextLimit(isFull, reclaimed);
    if (isFull && reclaimed > 0) return 'again';
  }

  /** The lease store is asked in every turn, suspects or not: it counts for how long it has been asked without a gap. */
  async #read(): Promise<Readings> {
    const { store, clock } = this.#deps;
    const { policy, gapMs } = this.#options;
    const askedAtMs = clock.monotonicMs();
    const storeUnbrokenMs = await store.markScan({ gapMs, sawError: this.#sawStoreAway });
    this.#sawStoreAway = false;
    const { ttlMs, timeoutSlackMs, cancelGraceMs } = policy;
    const suspects = await store.findSuspects({ ttlMs, timeoutSlackMs, cancelGraceMs, limit: this.#limit });
    const leases = await this.#readLeases(suspects);
    return { askedAtMs, storeUnbrokenMs, suspects, leases };
  }

  /** Whatever goes wrong here means that nothing is known of the leases, never that they are absent. */
  async #readLeases(suspects: readonly Suspect[]): Promise<LeaseReading | null> {
    try {
      return await this.#deps.leases.read(suspects.map(({ job }) => job.id));
    } catch {
      return null;
    }
  }

  #findLapses(readings: Readings): readonly Lapse[] {
    const nowMs = this.#deps.clock.monotonicMs();
    this.#remember(readings, nowMs);
    // A process that was frozen between its readings must not put a worker's old silence beside a lease's new absence.
    if (nowMs - readings.askedAtMs > this.#options.gapMs) return [];
    return readings.suspects.flatMap((suspect, index) => {
      const reason = reasonToReclaim(this.#suspicion(suspect, index, readings, nowMs), this.#options.policy);
      return reason === null ? [] : this.#lapse(suspect, reason);
    });
  }

  #remember({ suspects, leases }: Readings, nowMs: number): void {
    suspects.forEach(({ job }, index) => {
      if (leases?.present[index] === true) this.#sightings.see(job.claim.token, nowMs);
    });
    this.#sightings.prune(nowMs, this.#options.policy.ttlMs);
  }

  #suspicion(suspect: Suspect, index: number, { storeUnbrokenMs, leases }: Readings, nowMs: number): Suspicion {
    const { job, claimAgeMs, cancelAgeMs, workerAgeMs } = suspect;
    const isPresent = leases?.present[index];
    return {
      claimAgeMs,
      cancelAgeMs,
      workerAgeMs,
      timeoutMs: job.timeoutMs,
      storeUnbrokenMs,
      lease: isPresent === undefined ? 'unknown' : isPresent ? 'present' : 'absent',
      leaseStoreUnbrokenMs: leases?.unbrokenMs ?? 0,
      leaseSeenAgeMs: this.#sightings.ageMs(job.claim.token, nowMs),
    };
  }

  #lapse(suspect: Suspect, reason: LapseReason): readonly Lapse[] {
    const event = { kind: 'lapse', reason, reclaimedBy: this.#options.name } as const;
    const decided = transition(suspect.job, event, this.#deps.rules);
    return decided instanceof Transition ? [{ suspect, reason, transition: decided }] : [];
  }

  /** Returns how many jobs were taken. Others may have been quicker with the rest, or hold their rows right now. */
  async #reclaim(lapses: readonly Lapse[]): Promise<number> {
    let reclaimed = 0;
    for (let start = 0; start < lapses.length; start += MOST_PER_APPLY) {
      const results = await bisect<Lapse, ApplyResult>(
        lapses.slice(start, start + MOST_PER_APPLY),
        (part) => this.#apply(part),
        (_lapse, error) => {
          this.#deps.events.emit({ kind: 'loop-failed', loop: 'reaper', error });
          return { kind: 'fenced' };
        },
      );
      reclaimed += results.filter(({ kind }) => kind === 'applied').length;
    }
    return reclaimed;
  }

  async #apply(part: readonly Lapse[]): Promise<readonly ApplyResult[]> {
    const transitions = part.map((lapse) => lapse.transition);
    const { results, outbox } = await this.#deps.store.apply(transitions, { skipLocked: true });
    // Not awaited: a transport that is away would stretch the scan into a gap, after which nobody is reaped for a TTL.
    void this.#deps.publisher.send(outbox);
    part.forEach((lapse, index) => {
      const result = results[index];
      if (result?.kind === 'applied') this.#tell(lapse, result.state);
    });
    return results;
  }

  #tell({ suspect, reason }: Lapse, state: JobState): void {
    const { job, claimAgeMs, workerAgeMs } = suspect;
    this.#deps.events.emit({
      kind: 'job-reclaimed',
      jobId: job.id,
      type: job.type,
      queue: job.queue,
      attempt: job.attempt,
      workerId: job.claim.workerId,
      reason,
      state,
      recoveryMs: Math.min(claimAgeMs, workerAgeMs ?? claimAgeMs),
    });
  }

  /**
   * When a whole turn's worth of suspects has to be left (a large worker is cut off from the database, not dead), those
   * that can be taken may stand behind them: the next turn looks further.
   */
  #nextLimit(isFull: boolean, reclaimed: number): number {
    const { limit } = this.#options;
    if (!isFull) return limit;
    return reclaimed > 0 ? this.#limit : Math.min(this.#limit * 2, limit * LOOK_FURTHER);
  }
}

/** A conflict or a refused value is an answer; only these mean that workers too may have spoken to nobody. */
function saysThatStoreIsAway(error: unknown): boolean {
  const codes = ['store-unavailable', 'unknown-outcome', 'statement-timeout'];
  return isDeadmanError(error) && codes.includes(error.code);
}
