import { NO_FAILPOINTS } from '@deadman/domain';
import type { Clock, EngineEvents, Failpoints, JobStore, OutboxEntry, Transport } from '@deadman/domain';
import { SentTickets } from './sent-tickets.js';

export interface PublisherDeps {
  readonly transport: Transport;
  readonly store: JobStore;
  readonly clock: Clock;
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
  readonly #sent: SentTickets;

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
    this.#sent = new SentTickets(deps);
  }

  /**
   * Sends the messages. The rows of tickets that were acknowledged are deleted soon after, together with those of other
   * sends; the row of a death stays, since only its recorder deletes it. Returns how many rows were acknowledged.
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
    const tickets = entries.filter(({ id, kind }) => kind === 'ready' && acknowledged.has(id));
    this.#sent.add(tickets.map(({ id }) => id));
    return acknowledged.size;
  }

  /** Deletes at once what waits to be deleted, for whoever stops. Never throws. */
  flush(): Promise<void> {
    return this.#sent.flush();
  }

  async #publish(entries: readonly OutboxEntry[]): Promise<readonly string[]> {
    const { transport, failpoints = NO_FAILPOINTS } = this.#deps;
    await failpoints.at('before_outbox_send');
    return transport.publish(entries);
  }
}
