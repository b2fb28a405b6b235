import { isDeadmanError } from '@deadman/domain';
import type { ClaimedJob, Clock, EngineEvents, Ids, JobStore, LeaseStore, Random, WorkerRecord } from '@deadman/domain';
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
}

export interface ClaimerOptions extends ClaimPace {
  readonly worker: WorkerRecord;
  readonly ttlMs: number;
  readonly quarantineFrom: number;
  /** Only jobs made this long ago are claimed without a ticket. Milliseconds, default 2 000. */
  readonly idleMinAgeMs: number;
  /** Time between two idle claims that found nothing. Milliseconds, default 1 000. */
  readonly idleEveryMs: number;
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

  /** Stops claiming until the slots are empty, then runs what waits in quarantine one by one, for up to a TTL. */
  makeRoomForQuarantine(): void {
    const { clock, events } = this.#deps;
    if (this.#drainsUntilMs !== null) return;
    this.#drainsUntilMs = clock.monotonicMs() + this.#options.ttlMs;
    events.emit({ kind: 'drain-for-quarantine' });
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

  /** An error is not "no rows": the tickets are kept and tried again. */
  async #claimTickets(limit: number): Promise<void> {
    const { store, tickets, events } = this.#deps;
    const taken = tickets.take(limit);
    const ids = taken.map(({ jobId }) => jobId);
    try {
      const claimed = await this.#claimWith(
        (claim) => store.claim({ ...claim, ids }),
        new Map(taken.map((job) => [job.jobId, job])),
      );
      events.emit({ kind: 'jobs-claimed', by: 'ticket', count: claimed.length });
    } catch (error) {
      tickets.putBack(taken);
      throw error;
    }
  }

  async #claimIdle(limit: number): Promise<void> {
    const { store, events, clock, random, ledger } = this.#deps;
    const { idleMinAgeMs: minAgeMs, idleEveryMs, worker } = this.#options;
    const request = { limit, minAgeMs, queues: worker.queues, alone: false };
    const claimed = await this.#claimWith((claim) => store.claimIdle({ ...claim, ...request }));
    this.#lastIdleClaimAtMs = clock.monotonicMs();
    const pauseMs = claimed.length >= limit ? 0 : idleEveryMs * (1 - JITTER + 2 * JITTER * random.next());
    this.#nextIdleClaimAtMs = this.#lastIdleClaimAtMs + pauseMs;
    events.emit({ kind: 'jobs-claimed', by: 'idle', count: claimed.length });
    if (claimed.length === 0 && ledger.isEmpty) await this.#claimAlone();
  }

  async #claimAlone(): Promise<void> {
    const { store, events } = this.#deps;
    const request = { limit: 1, minAgeMs: 0, queues: this.#options.worker.queues, alone: true };
    const claimed = await this.#claimWith((claim) => store.claimIdle({ ...claim, ...request }));
    if (claimed.length === 0) this.#drainsUntilMs = null;
    else events.emit({ kind: 'jobs-claimed', by: 'quarantine', count: 1 });
  }

  /** Takes what a claim statement gave, or what it turns out to have given when its reply was lost. */
  async #claimWith(
    send: (claim: ClaimIdentity) => Promise<readonly ClaimedJob[]>,
    ticketed: ReadonlyMap<string, TicketedJob> = new Map(),
  ): Promise<readonly ClaimedJob[]> {
    const { clock, ids, ledger } = this.#deps;
    const { worker, quarantineFrom } = this.#options;
    const sentAtMs = clock.monotonicMs();
    const token = ids.random();
    ledger.beginClaim(token);
    try {
      const claim = { token, workerId: worker.incarnation, types: worker.types, quarantineFrom };
      const claimed = await this.#sendForSure(() => send(claim), token);
      this.#take(claimed, sentAtMs, ticketed);
      return claimed;
    } finally {
      ledger.endClaim(token);
    }
  }

  /** A claim that is applied only after this look becomes an orphan, which the heartbeat releases. */
  async #sendForSure(send: () => Promise<readonly ClaimedJob[]>, token: string): Promise<readonly ClaimedJob[]> {
    try {
      return await send();
    } catch (error) {
      if (!isDeadmanError(error, 'unknown-outcome')) throw error;
      this.#deps.events.emit({ kind: 'claim-failed', error });
      return this.#deps.store.findClaimed(token);
    }
  }

  #take(claimed: readonly ClaimedJob[], sentAtMs: number, ticketed: ReadonlyMap<string, TicketedJob>): void {
    const { ledger, pool } = this.#deps;
    const runs = claimed.map((job) => new Run(job, sentAtMs, ticketed.get(job.id)?.tickets));
    for (const run of runs) ledger.add(run);
    this.#closeTickets(claimed, ticketed);
    if (runs.length > 0) this.#acquireLeases(runs);
    pool.add(runs);
  }

  /** What a ticket names and no claim got is not claimable: that ticket is done. */
  #closeTickets(claimed: readonly ClaimedJob[], ticketed: ReadonlyMap<string, TicketedJob>): void {
    if (ticketed.size === 0) return;
    const got = new Set(claimed.map(({ id }) => id));
    for (const { jobId, tickets } of ticketed.values()) {
      if (!got.has(jobId)) for (const ticket of tickets) ticket.done(jobId);
    }
    this.#countTickets('claimed', got.size);
    this.#countTickets('stale', ticketed.size - got.size);
  }

  #countTickets(result: 'claimed' | 'stale', count: number): void {
    if (count > 0) this.#deps.events.emit({ kind: 'tickets-handled', result, count });
  }

  /** Nobody waits for the leases: the claim's row covers the first TTL, so a slow lease store never delays a start. */
  #acquireLeases(runs: readonly Run[]): void {
    const { leases, events } = this.#deps;
    leases
      .acquire(
        runs.map(({ lease }) => lease),
        this.#options.ttlMs,
      )
      .catch((error: unknown) => events.emit({ kind: 'loop-failed', loop: 'acquire-leases', error }));
  }
}

interface ClaimIdentity {
  readonly token: string;
  readonly workerId: string;
  readonly types: readonly string[];
  readonly quarantineFrom: number;
}
