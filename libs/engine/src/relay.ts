import type { JobStore } from '@deadman/domain';
import type { Publisher } from './publisher.js';

export interface RelayDeps {
  readonly store: JobStore;
  readonly publisher: Publisher;
}

export interface RelayOptions {
  /** Age from which an outbox row counts as left over by its writer. Milliseconds, default 3 000. */
  readonly olderThanMs: number;
  /** Wait before a row is taken a second time; doubles. Milliseconds, default 1 000. */
  readonly backoffBaseMs: number;
  /** Longest wait between two takings of one row. Milliseconds, default 60 000. */
  readonly backoffMaxMs: number;
  /** Rows per turn. Default 500. */
  readonly limit: number;
}

/** `protocol.md` §13. */
const DEFAULTS: RelayOptions = { olderThanMs: 3_000, backoffBaseMs: 1_000, backoffMaxMs: 60_000, limit: 500 };

/**
 * Sends what whoever wrote it did not get sent: it was killed, or the broker was away. A row is stamped before it is sent
 * and no lock is held across the send, so a relay that dies has only put the row off by its backoff (`protocol.md` §4).
 */
export class Relay {
  readonly #deps: RelayDeps;
  readonly #options: RelayOptions;

  constructor(deps: RelayDeps, options: Partial<RelayOptions> = {}) {
    this.#deps = deps;
    this.#options = { ...DEFAULTS, ...options };
  }

  /** Sends one batch. `again` when there may be more and the transport takes it: one that is away is not hurried. */
  async turn(): Promise<'again' | void> {
    const entries = await this.#deps.store.takeOutbox(this.#options);
    const acknowledged = await this.#deps.publisher.send(entries, 'relay');
    if (entries.length >= this.#options.limit && acknowledged === entries.length) return 'again';
  }
}
