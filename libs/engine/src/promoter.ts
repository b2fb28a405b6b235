import type { Clock, EngineEvents, JobStore, PromoteReceipt, WakeUpSet } from '@deadman/domain';
import type { Publisher } from './publisher.js';
import { Pulse } from './pulse.js';

export interface PromoterDeps {
  readonly store: JobStore;
  readonly wakeUps: WakeUpSet;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly events: EngineEvents;
}

export interface PromoterOptions {
  /** Jobs moved in one turn. Default 500. */
  readonly limit: number;
  /** How far ahead due times are loaded into the wake-up set. Milliseconds, default 60 000. */
  readonly horizonMs: number;
  /** Time between two loads, and the longest that a wake-up turn sleeps. Milliseconds, default 1 000. */
  readonly loadEveryMs: number;
  /** Due times loaded at once, the soonest first. Default 1 000. */
  readonly loadLimit: number;
}

/** `protocol.md` §10. */
const DEFAULTS: PromoterOptions = { limit: 500, horizonMs: 60_000, loadEveryMs: 1_000, loadLimit: 1_000 };

/** Least time between two loads, so that a nudge per submit does not become a query per submit. Milliseconds. */
const MIN_LOAD_GAP_MS = 20;

/**
 * Moves jobs to PENDING when their time has come. Two loops share the work: `turn` scans the store and forgets nothing,
 * `wakeTurn` follows the wake-up set and is there within tens of milliseconds. The first does not depend on the second.
 *
 * Only the store's clock decides what is due. No timer is ever set on a user's value: each sleep ends with the next load.
 */
export class Promoter {
  readonly #deps: PromoterDeps;
  readonly #options: PromoterOptions;
  readonly #pulse = new Pulse();
  #loadedAtMs = -Infinity;
  #loadDueAtMs = -Infinity;

  constructor(deps: PromoterDeps, options: Partial<PromoterOptions> = {}) {
    this.#deps = deps;
    this.#options = { ...DEFAULTS, ...options };
  }

  /** One scan of what is due. `again` when it was full. Throws what `JobStore` throws; what was moved then is sent by the relay. */
  async turn(): Promise<'again' | void> {
    const { limit } = this.#options;
    const { promoted } = await this.#promote({ limit });
    if (promoted >= limit) return 'again';
  }

  /**
   * Sleeps until the next wake-up, or for as long as nothing new can be known, and moves what is due. Turns without a
   * pause. Throws what `JobStore` and `WakeUpSet` throw: ids that were taken from the set then are loaded again or scanned.
   */
  async wakeTurn(signal: AbortSignal): Promise<void> {
    const { clock, wakeUps } = this.#deps;
    if (this.#untilLoadMs() <= 0) await this.#load();
    const ids = await wakeUps.popDue(this.#options.limit);
    if (ids.length > 0) return this.#promotePopped(ids);
    const restMs = Math.min((await wakeUps.nextInMs()) ?? Infinity, this.#untilLoadMs());
    if (restMs > 0) await this.#pulse.wait(Math.ceil(restMs), clock, signal);
  }

  /** Somebody stored a job that is due before the next load: look at once. */
  nudge(): void {
    this.#loadBy(Math.max(this.#deps.clock.monotonicMs(), this.#loadedAtMs + MIN_LOAD_GAP_MS));
    this.#pulse.beat();
  }

  async #load(): Promise<void> {
    const { store, wakeUps, clock } = this.#deps;
    const { horizonMs, loadLimit, loadEveryMs } = this.#options;
    // Set before the store is read: a nudge that comes in meanwhile may tell of a job that this read does not see.
    this.#loadedAtMs = clock.monotonicMs();
    this.#loadDueAtMs = this.#loadedAtMs + loadEveryMs;
    const due = await store.findDueSoon({ withinMs: horizonMs, limit: loadLimit });
    if (due.length > 0) await wakeUps.add(due.map(({ id, inMs }) => ({ id, inMs })));
  }

  /** An id that was not moved may have been popped too early, the two stores' clocks being two: it is loaded again soon. */
  async #promotePopped(ids: readonly string[]): Promise<void> {
    const { promoted } = await this.#promote({ limit: ids.length, ids });
    if (promoted < ids.length) this.#loadBy(this.#deps.clock.monotonicMs() + MIN_LOAD_GAP_MS);
  }

  async #promote(request: { readonly limit: number; readonly ids?: readonly string[] }): Promise<PromoteReceipt> {
    const { store, publisher, events } = this.#deps;
    const receipt = await store.promoteDue(request);
    const { promoted, maxDelayMs, outbox } = receipt;
    if (promoted > 0) events.emit({ kind: 'jobs-promoted', count: promoted, maxDelayMs });
    // Not awaited: jobs that become due now do not wait for a transport that is away.
    void publisher.send(outbox);
    return receipt;
  }

  #loadBy(atMs: number): void {
    this.#loadDueAtMs = Math.min(this.#loadDueAtMs, atMs);
  }

  #untilLoadMs(): number {
    return this.#loadDueAtMs - this.#deps.clock.monotonicMs();
  }
}
