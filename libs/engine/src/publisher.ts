import { NO_FAILPOINTS } from '@deadman/domain';
import type { EngineEvents, Failpoints, JobStore, OutboxEntry, Transport } from '@deadman/domain';

export interface PublisherDeps {
  readonly transport: Transport;
  readonly store: JobStore;
  readonly events: EngineEvents;
  /** Default: none. */
  readonly failpoints?: Failpoints;
}

/**
 * Sends what a committed change has to say, by whoever committed it. Whatever fails here stays in the outbox, where the
 * relay finds it, so nothing is thrown and nobody needs to wait for it (`protocol.md` §4).
 */
export class Publisher {
  readonly #deps: PublisherDeps;

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
  }

  /**
   * Sends the messages and deletes the rows of tickets that were acknowledged. The row of a death stays: only its recorder
   * deletes it. Returns how many rows were acknowledged.
   */
  async send(entries: readonly OutboxEntry[], by: 'writer' | 'relay' = 'writer'): Promise<number> {
    if (entries.length === 0) return 0;
    const { events } = this.#deps;
    const acknowledged = new Set(await this.#publish(entries).catch(() => []));
    events.emit({
      kind: 'outbox-sent',
      by,
      count: acknowledged.size,
      failed: entries.length - acknowledged.size,
    });
    await this.#deleteTickets(entries.filter(({ id, kind }) => kind === 'ready' && acknowledged.has(id)));
    return acknowledged.size;
  }

  async #publish(entries: readonly OutboxEntry[]): Promise<readonly string[]> {
    const { transport, failpoints = NO_FAILPOINTS } = this.#deps;
    await failpoints.at('before_outbox_send');
    return transport.publish(entries);
  }

  /** A row that cannot be deleted now is sent once more by the relay, which costs a stale ticket. */
  async #deleteTickets(entries: readonly OutboxEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const { store, events } = this.#deps;
    await store
      .deleteOutbox(entries.map(({ id }) => id))
      .catch((error: unknown) => events.emit({ kind: 'loop-failed', loop: 'outbox-delete', error }));
  }
}
