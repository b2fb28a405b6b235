import type { Clock, EngineEvents, JobStore } from '@deadman/domain';

export interface SentTicketsDeps {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly events: EngineEvents;
}

/** Far less than the age from which the relay takes a row for left over (`protocol.md` §4). Milliseconds. */
const LINGER_MS = 50;
/** As many rows are deleted without waiting for more. */
const MAX_ROWS = 500;

/**
 * The outbox rows of tickets that were sent. Each send has one or a few, and a statement for each would cost about as much
 * as storing the jobs did, so the rows of some sends are deleted together. A process that dies before it does leaves rows
 * to the relay, which sends them once more: that costs a stale ticket each.
 */
export class SentTickets {
  readonly #deps: SentTicketsDeps;
  #ids: string[] = [];
  #deletion: Promise<void> = Promise.resolve();
  #hurry = new AbortController();

  constructor(deps: SentTicketsDeps) {
    this.#deps = deps;
  }

  /** Rows to delete soon. */
  add(ids: readonly string[]): void {
    if (ids.length === 0) return;
    if (this.#ids.length === 0) this.#deletion = this.#deleteSoon(this.#deletion);
    this.#ids.push(...ids);
    if (this.#ids.length >= MAX_ROWS) this.#hurry.abort();
  }

  /** Deletes at once what waits. Resolves when that was tried; a row that stays costs a stale ticket. */
  flush(): Promise<void> {
    this.#hurry.abort();
    return this.#deletion;
  }

  /** Ends after the deletion before it, so that whoever waits for the last waits for all. */
  async #deleteSoon(before: Promise<void>): Promise<void> {
    const { store, clock, events } = this.#deps;
    this.#hurry = new AbortController();
    await clock.sleep(LINGER_MS, this.#hurry.signal);
    const ids = this.#ids;
    this.#ids = [];
    await store
      .deleteOutbox(ids)
      .catch((error: unknown) => events.emit({ kind: 'loop-failed', loop: 'outbox-delete', error }));
    await before;
  }
}
