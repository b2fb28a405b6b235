import type { Clock, DeathHandler, DeathNotice, Random } from '@deadman/domain';
import type { KafkaTransportListener } from './kafka-transport-listener.js';
import type { MalformedCounter } from './malformed-counter.js';
import type { Delivery, MessageReceiver } from './message-receiver.js';
import { TrackedMessage } from './partition-book.js';
import { RefusalBackoff } from './refusal-backoff.js';
import { decodeDeath } from './ticket-codec.js';

/** Deaths that a handler gets at once. */
const DEATHS_PER_BATCH = 100;

export interface DeathReceiverDeps {
  readonly topic: string;
  readonly handler: DeathHandler;
  readonly malformed: MalformedCounter;
  readonly listener: KafkaTransportListener;
  readonly clock: Clock;
  readonly random: Random;
}

/** Hands deaths to a handler and waits for it; what it throws on is delivered again after a pause. */
export class DeathReceiver implements MessageReceiver {
  readonly #deps: DeathReceiverDeps;
  readonly #backoff: RefusalBackoff;

  constructor(deps: DeathReceiverDeps) {
    this.#deps = deps;
    this.#backoff = new RefusalBackoff(deps.clock, deps.random);
  }

  async take(deliveries: readonly Delivery[]): Promise<boolean> {
    for (let from = 0; from < deliveries.length; from += DEATHS_PER_BATCH) {
      if (!(await this.#handle(deliveries.slice(from, from + DEATHS_PER_BATCH)))) return false;
    }
    return true;
  }

  whenReady(signal: AbortSignal): Promise<void> {
    return this.#backoff.whenReady(signal);
  }

  async #handle(deliveries: readonly Delivery[]): Promise<boolean> {
    const { handler, listener, topic } = this.#deps;
    const decoded = deliveries.map(({ value }) => decodeDeath(value));
    const deaths = decoded.flatMap((message): DeathNotice[] => (message.kind === 'death' ? [message.death] : []));
    try {
      if (deaths.length > 0) await handler(deaths);
    } catch (error) {
      listener.on({ kind: 'delivery-refused', topic, error, retryInMs: this.#backoff.refused() });
      return false;
    }
    this.#backoff.taken();
    for (const message of decoded) if (message.kind === 'malformed') this.#deps.malformed.count(message.reason);
    for (const delivery of deliveries) delivery.accept(new TrackedMessage([]));
    return true;
  }
}
