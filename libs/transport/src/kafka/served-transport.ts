import { Transport } from '@deadman/domain';
import type { DeathHandler, DeathNotice, OutboxEntry, Subscription, Ticket, TicketSink } from '@deadman/domain';
import { TicketsRefused } from './kafka-ticket-server.js';
import type { KafkaTicketServer } from './kafka-ticket-server.js';

/**
 * Joins a ticket server, which Nest's controllers get messages from, and an engine, which asks its transport for them:
 *
 * ```ts
 * @EventPattern('jobs.ready', KAFKA_TICKETS) onTickets(@Payload() tickets) { this.transport.takeTickets(tickets); }
 * @EventPattern('jobs.dead', KAFKA_TICKETS) onDeaths(@Payload() deaths) { return this.transport.takeDeaths(deaths); }
 * ```
 *
 * Whichever starts first waits for the other: messages stay at the broker until somebody wants them.
 */
export class ServedTransport extends Transport {
  readonly #sender: Transport;
  readonly #server: KafkaTicketServer;
  readonly #sinks = new Map<string, TicketSink>();
  #deathHandler: DeathHandler | null = null;
  #onSubscribed: (() => void)[] = [];

  /** @param sender what is published goes through it. */
  constructor(sender: Transport, server: KafkaTicketServer) {
    super();
    this.#sender = sender;
    this.#server = server;
  }

  override publish(entries: readonly OutboxEntry[]): Promise<readonly string[]> {
    return this.#sender.publish(entries);
  }

  override async consumeReady(queues: readonly string[], sink: TicketSink): Promise<Subscription> {
    for (const queue of queues) this.#sinks.set(queue, sink);
    return this.#subscribed();
  }

  override async consumeDead(handler: DeathHandler): Promise<Subscription> {
    this.#deathHandler = handler;
    return this.#subscribed();
  }

  /** For the controller of a queue's topic. Throws `TicketsRefused` when there is no room, or nobody to take them yet. */
  takeTickets(tickets: readonly Ticket[]): void {
    const sink = this.#sinks.get(tickets[0]?.queue ?? '');
    if (sink === undefined) throw new TicketsRefused(() => this.#whenSubscribed());
    if (!sink.offer(tickets)) throw new TicketsRefused(() => sink.whenRoom());
  }

  /** For the controller of `jobs.dead`. Throws what the handler throws. */
  async takeDeaths(deaths: readonly DeathNotice[]): Promise<void> {
    if (this.#deathHandler === null) throw new TicketsRefused(() => this.#whenSubscribed());
    await this.#deathHandler(deaths);
  }

  #subscribed(): Subscription {
    for (const wake of this.#onSubscribed.splice(0)) wake();
    return { pause: () => this.#server.pause(), close: () => this.#server.close() };
  }

  #whenSubscribed(): Promise<void> {
    return new Promise((resolve) => this.#onSubscribed.push(resolve));
  }
}
