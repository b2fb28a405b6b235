import type { Clock, Random, Ticket } from '@deadman/domain';
import type { KafkaTransportListener } from './kafka-transport-listener.js';
import type { Delivery, MessageReceiver } from './message-receiver.js';
import { RefusalBackoff } from './refusal-backoff.js';
import type { TicketReader } from './ticket-reader.js';

/** Messages that a handler gets at once. */
const MESSAGES_PER_BATCH = 100;

/** What a handler's refusal says when it is only a matter of room. */
export interface Refusal {
  /** Resolves when another try makes sense. */
  whenRoom(): Promise<void>;
}

export interface HandlerReceiverDeps {
  readonly topic: string;
  readonly reader: TicketReader;
  /** Takes all of them: answers null when it has, and what it waits for when it has no room. Throws on anything else. */
  readonly handler: (tickets: readonly Ticket[]) => Promise<Refusal | null>;
  readonly listener: KafkaTransportListener;
  readonly clock: Clock;
  readonly random: Random;
}

/** Hands batches of tickets to a handler and waits for it. What it refuses or throws on is delivered again and moves no offset. */
export class HandlerReceiver implements MessageReceiver {
  readonly #deps: HandlerReceiverDeps;
  readonly #backoff: RefusalBackoff;
  #refusal: Refusal | null = null;

  constructor(deps: HandlerReceiverDeps) {
    this.#deps = deps;
    this.#backoff = new RefusalBackoff(deps.clock, deps.random);
  }

  async take(deliveries: readonly Delivery[]): Promise<boolean> {
    for (let from = 0; from < deliveries.length; from += MESSAGES_PER_BATCH) {
      if (!(await this.#handOver(deliveries.slice(from, from + MESSAGES_PER_BATCH)))) return false;
    }
    return true;
  }

  async whenReady(signal: AbortSignal): Promise<void> {
    const refusal = this.#refusal;
    this.#refusal = null;
    if (refusal === null) return this.#backoff.whenReady(signal);
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([refusal.whenRoom(), aborted]);
  }

  async #handOver(deliveries: readonly Delivery[]): Promise<boolean> {
    const { reader } = this.#deps;
    const read = deliveries.map(({ value }) => reader.read(value));
    const tickets = read.flatMap(({ ticket }) => (ticket === null ? [] : [ticket]));
    if (tickets.length > 0 && !(await this.#isTaken(tickets))) return false;
    for (const [index, delivery] of deliveries.entries()) reader.accept(delivery, read[index]!);
    return true;
  }

  async #isTaken(tickets: readonly Ticket[]): Promise<boolean> {
    const { handler, listener, topic } = this.#deps;
    try {
      this.#refusal = await handler(tickets);
      if (this.#refusal !== null) return false;
    } catch (error) {
      listener.on({ kind: 'delivery-refused', topic, error, retryInMs: this.#backoff.refused() });
      return false;
    }
    this.#backoff.taken();
    return true;
  }
}
