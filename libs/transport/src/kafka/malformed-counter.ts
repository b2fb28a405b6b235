import type { EngineEvents } from '@deadman/domain';
import type { KafkaTransportListener } from './kafka-transport-listener.js';
import type { MalformedReason } from './ticket-codec.js';

/** Counts what can never mean anything, once for the engine and once by reason. */
export class MalformedCounter {
  readonly #topic: string;
  readonly #events: EngineEvents;
  readonly #listener: KafkaTransportListener;
  readonly #onUnreadable: () => void;

  /** @param onUnreadable called for each message that could not be unpacked. */
  constructor(topic: string, events: EngineEvents, listener: KafkaTransportListener, onUnreadable: () => void) {
    this.#topic = topic;
    this.#events = events;
    this.#listener = listener;
    this.#onUnreadable = onUnreadable;
  }

  count(reason: MalformedReason, count = 1): void {
    if (count === 0) return;
    this.#events.emit({ kind: 'tickets-handled', result: 'malformed', count });
    this.#listener.on({ kind: 'malformed-message', topic: this.#topic, reason, count });
    if (reason === 'unreadable') this.#onUnreadable();
  }
}
