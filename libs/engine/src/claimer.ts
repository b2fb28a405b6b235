import { isDeadmanError, NO_FAILPOINTS } from '@deadman/domain';
import type {
  ClaimedJob,
  Clock,
  EngineEvents,
  Failpoints,
  Ids,
  JobStore,
  Lease,
  LeaseStore,
  Random,
  Ticket,
  WorkerRecord,
} from '@deadman/domain';
import { bisect } from './bisect.js';
import { planClaim } from './claim-plan.js';
import type { ClaimPace, ClaimPlan } from './claim-plan.js';
import type { FinishRate } from './finish-rate.js';
import { Pulse } from './pulse.js';
import type { RunLedger } from './run-ledger.js';
import type { RunPool } from './run-pool.js';
import { Run } from './run.js';
import type { TicketedJob, TicketQueue } from './ticket-queue.js';

export interface ClaimerDeps {
  readonly store: JobStore;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly events: EngineEvents;
  readonly ledger: RunLedger;
  readonly tickets: TicketQueue;
  readonly pool: RunPool;
  readonly rate: FinishRate;
  /** Default: none. */
  readonly failpoints?: Failpoints;
}

export interface ClaimerOptions extends ClaimPace {
  readonly worker: WorkerRecord;
  readonly ttlMs: number;
  readonly quarantineFrom: number;
  /** Only jobs made this long ago are claimed without a ticket. Milliseconds, default 2 000. */
  readonly idleMinAgeMs: number;
  /** Most runs that may be claimed ahead of a free slot, whatever the pace. */
  readonly maxAhead: number;
}

/** Wait after a claim that the store did not answer; doubles up to the second. Milliseconds. */
const BACKOFF_MS = { first: 100, max: 2_000 } as const;
/** Share by which the time between idle claims varies, so that workers do not claim in step. */
const JITTER = 0.1;

/**
 * Decides what this worker takes on. One loop, one statement at a time over all partitions: a claim per partition would
 * be many small ones (`performance.md`).
 */
export class Claimer {
  readonly #deps: ClaimerDeps;
  readonly #options: ClaimerOptions;
  readonly #pulse = new Pulse();
  #lastIdleClaimAtMs: number;
  #nextIdleClaimAtMs: number;
  #isIdleClaimFull = false;
  #areTicketsStale = false;
  #drainsUntilMs: number | null = null;
  #failuresInRow = 0;

  constructor(deps: ClaimerDeps, options: ClaimerOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#lastIdleClaimAtMs = deps.clock.monotonicMs();
    this.#nextIdleClaimAtMs = this.#lastIdleClaimAtMs;
  }

  /** Something changed: a slot is free, a ticket came. */
  nudge(): void {
    this.#pulse.beat();
  }

  /**
   * Stops claiming until the slots are empty, however long the runs in them are, then runs what waits in quarantine one by
   * one, for up to a TTL.
   */
  makeRoomForQuarantine(): void {
    if (this.#drainsUntilMs !== null) return;
    this.#drainsUntilMs = Infinity;
    this.#deps.events.emit({ kind: 'drain-for-quarantine' });
    this.nudge();
  }

  /** Nothing waits long in quarantine any more: slots that were kept empty for it are used again. */
  stopMakingRoom(): void {
    if (this.#drainsUntilMs !== Infinity) return;
    this.#drainsUntilMs = null;
    this.nudge();
  }

  /** Claims until the signal aborts. Never rejects; resolves when no claim is under way. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const plan = planClaim(this.#situation(), this.#options);
      if (plan.kind === 'wait') await this.#pulse.wait(plan.forMs, this.#deps.clock, signal);
      else await this.#attempt(plan, signal);
      this.#deps.events.emit({ kind: 'loop-turned', loop: 'claim' });
    }
  }

  #situation(): Parameters<typeof planClaim>[0] {
    const { clock, ledger, pool, tickets, rate } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (this.#drainsUntilMs === Infinity && ledger.size === 0) this.#drainsUntilMs = nowMs + this.#options.ttlMs;
    if (this.#drainsUntilMs !== null && nowMs >= this.#drainsUntilMs) this.#drainsUntilMs = null;
    return {
      nowMs,
      slots: this.#options.worker.slots,
      queued: pool.queued,
      held: ledger.size,
      ticketed: tickets.size,
      ahead: Math.min(Math.floor(rate.perSecond()), this.#options.maxAhead),
      lastIdleClaimAtMs: this.#lastIdleClaimAtMs,
      nextIdleClaimAtMs: this.#nextIdleClaimAtMs,
      isIdleClaimFull: this.#isIdleClaimFull,
      areTicketsStale: this.#areTicketsStale,
      isAloneRunning: ledger.holdsAlone(),
      drainsUntilMs: this.#drainsUntilMs,
    };
  }

  async #attempt(plan: Exclude<ClaimPlan, { kind: 'wait' }>, signal: AbortSignal): Promise<void> {
    try {
      await this.#claim(plan);
      this.#failuresInRow = 0;
    } catch (error) {
      if (!isDeadmanError(error)) throw error;
      this.#deps.events.emit({ kind: 'claim-failed', error });
      const waitMs = Math.min(BACKOFF_MS.first * 2 ** this.#failuresInRow, BACKOFF_MS.max);
      this.#failuresInRow += 1;
      await this.#deps.clock.sleep(waitMs, signal);
    }
  }

  async #claim(plan: Exclude<ClaimPlan, { kind: 'wait' }>): Promise<void> {
    switch (plan.kind) {
      case 'tickets':
        return this.#claimTickets(plan.limit);
      case 'idle':
        return this.#claimIdle(plan.limit);
      case 'alone':
        return this.#claimAlone();
    }
  }

  /** An error is not "no rows": tickets of which nobody knows what became are kept and tried again. */
  async #claimTickets(limit: number): Promise<void> {
    const { store, tickets, events } = this.#deps;
    const open = new Map(tickets.take(limit).map((job) => [job.jobId, job]));
    const asked = open.size;
    let claimed = 0;
    const claim = async (part: readonly TicketedJob[]): Promise<readonly TicketedJob[]> => {
      const ids = part.map(({ jobId }) => jobId);
      claimed += await this.#claimWith('ticket', (identity) => store.claim({ ...identity, ids }), open);
      this.#close('stale', part, open);
      return part;
    };
    try {
      await bisect([...open.values()], claim, (culprit, error) => {
        events.emit({ kind: 'claim-failed', error });
        this.#close('malformed', [culprit], open);
        return culprit;
      });
      this.#areTicketsStale = claimed < asked / 2;
    } finally {
      tickets.putBack([...open.values()]);
    }
  }

  async #claimIdle(limit: number): Promise<void> {
    const { store, clock, random, ledger } = this.#deps;
    const { idleMinAgeMs: minAgeMs, idleEveryMs, worker } = this.#options;
    const request = { limit, minAgeMs, queues: worker.queues, alone: false };
    const claimed = await this.#claimWith('idle', (identity) => store.claimIdle({ ...identity, ...request }));
    this.#lastIdleClaimAtMs = clock.monotonicMs();
    this.#isIdleClaimFull = claimed >= limit;
    this.#areTicketsStale = false;
    const pauseMs = this.#isIdleClaimFull ? 0 : idleEveryMs * (1 - JITTER + 2 * JITTER * random.next());
    this.#nextIdleClaimAtMs = this.#lastIdleClaimAtMs + pauseMs;
    if (claimed === 0 && ledger.isEmpty) await this.#claimAlone();
  }

  async #claimAlone(): Promise<void> {
    const { store } = this.#deps;
    const request = { limit: 1, minAgeMs: 0, queues: this.#options.worker.queues, alone: true };
    const claimed = await this.#claimWith('quarantine', (identity) => store.claimIdle({ ...identity, ...request }));
    if (claimed === 0) this.#drainsUntilMs = null;
  }

  /**
   * Takes what one claim statement gives, and returns how much that was. When its reply is lost, takes what it turns out
   * to have given, and throws all the same: a claim that is applied only after this look becomes an orphan, which the
   * heartbeat releases.
   */
  async #claimWith(
    by: ClaimedBy,
    send: (identity: ClaimIdentity) => Promise<readonly ClaimedJob[]>,
    open: Map<string, TicketedJob> = new Map(),
  ): Promise<number> {
    const { clock, ids, ledger, store, failpoints = NO_FAILPOINTS } = this.#deps;
    const { worker, quarantineFrom } = this.#options;
    const sentAtMs = clock.monotonicMs();
    const token = ids.random();
    ledger.beginClaim(token);
    try {
      await failpoints.at('before_claim');
      const claimed = await send({ token, workerId: worker.incarnation, types: worker.types, quarantineFrom });
      if (claimed.length > 0) await failpoints.at('after_claim');
      return this.#take(by, claimed, sentAtMs, open);
    } catch (error) {
      if (isDeadmanError(error, 'unknown-outcome')) {
        this.#take(by, await store.findClaimed(token), sentAtMs, open);
      }
      throw error;
    } finally {
      ledger.endClaim(token);
    }
  }

  #take(by: ClaimedBy, claimed: readonly ClaimedJob[], sentAtMs: number, open: Map<string, TicketedJob>): number {
    const { ledger, pool, events } = this.#deps;
    if (claimed.length === 0) return 0;
    const runs = claimed.map((job) => new Run(job, sentAtMs, this.#redeem(job.id, open)));
    ledger.add(runs);
    const claims = runs.map(({ lease }) => lease);
    events.emit({ kind: 'jobs-claimed', by, count: claims.length, leases: claims });
    if (by === 'ticket') events.emit({ kind: 'tickets-handled', result: 'claimed', count: runs.length });
    this.#acquireLeases(claims);
    pool.add(runs);
    return runs.length;
  }

  /** The tickets of a job that was claimed: its row guards it from now on, and they need not be kept for others. */
  #redeem(jobId: string, open: Map<string, TicketedJob>): readonly Ticket[] {
    const tickets = open.get(jobId)?.tickets ?? [];
    open.delete(jobId);
    for (const ticket of tickets) ticket.claimed(jobId);
    return tickets;
  }

  /** What a ticket names and no claim got is not claimable, and that ticket is done. */
  #close(result: 'stale' | 'malformed', part: readonly TicketedJob[], open: Map<string, TicketedJob>): void {
    const left = part.filter(({ jobId }) => open.delete(jobId));
    for (const { jobId, tickets } of left) {
      for (const ticket of tickets) ticket.done(jobId);
    }
    if (left.length > 0) this.#deps.events.emit({ kind: 'tickets-handled', result, count: left.length });
  }

  /** Nobody waits for the leases: the claim's row covers the first TTL, so a slow lease store never delays a start. */
  #acquireLeases(claims: readonly Lease[]): void {
    const { leases, events } = this.#deps;
    leases
      .acquire(claims, this.#options.ttlMs)
      .catch((error: unknown) => events.emit({ kind: 'loop-failed', loop: 'acquire-leases', error }));
  }
}

type ClaimedBy = 'ticket' | 'idle' | 'quarantine';

interface ClaimIdentity {
  readonly token: string;
  readonly workerId: string;
  readonly types: readonly string[];
  readonly quarantineFrom: number;
}
