import type { Logger } from '@deadman/observability';
import type { KafkaTransportEvent, KafkaTransportListener } from '@deadman/transport';

/** How often the same is written while it goes on. Milliseconds. */
const REPEAT_MS = 30_000;

/** Writes what happens between this service and its brokers; an outage is a line now and then, not one for each try. */
export class KafkaEventLog implements KafkaTransportListener {
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  readonly #writtenAtMs = new Map<string, number>();

  constructor(logger: Logger, nowMs: () => number) {
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  on(event: KafkaTransportEvent): void {
    switch (event.kind) {
      case 'partitions-assigned':
        this.#writtenAtMs.delete(`lost ${event.topic}`);
        return this.#info('kafka.partitions-assigned', 'Partitions were assigned', event);
      case 'rebalance-began':
        return this.#info('kafka.rebalance-began', 'A rebalance began', event);
      case 'topics-created':
        return this.#info('kafka.topics-created', 'Topics were created', event);
      case 'stale-commit-dropped':
        return this.#info('kafka.stale-commit-dropped', 'Offsets were not committed: their partition had gone', event);
      case 'malformed-message':
        return this.#malformed(event);
      case 'topic-compression':
        return this.#compression(event);
      case 'consumer-lost':
        return this.#once(`lost ${event.topic}`, 'kafka.consumer-lost', 'A consumer was lost and is made anew', event);
      case 'delivery-refused':
        return this.#warn('kafka.delivery-refused', 'Messages were refused and come again', event);
      case 'commit-failed':
      case 'send-failed':
        return this.#debug(`kafka.${event.kind}`, event);
      case 'messages-sent':
      case 'offsets-committed':
      case 'offsets-let-go':
      case 'partition-held':
      case 'partition-lag':
        return undefined;
    }
  }

  /** Whoever sends one such message sends many. The metric counts them all. */
  #malformed(event: Extract<KafkaTransportEvent, { kind: 'malformed-message' }>): void {
    const what =
      event.reason === 'unreadable'
        ? 'Messages are compressed as nothing here can read, and are done'
        : 'Messages mean nothing and are done';
    this.#once(`${event.reason} ${event.topic}`, 'kafka.malformed', what, event);
  }

  #compression(event: Extract<KafkaTransportEvent, { kind: 'topic-compression' }>): void {
    if (event.state === 'mended') {
      this.#warn(
        'kafka.topic-mended',
        'A topic was compressed as nothing here can read; its setting was changed',
        event,
      );
    } else if (event.state === 'unreadable') {
      const what = 'A topic is compressed as nothing here can read: set its compression.type to uncompressed';
      this.#once(`compression ${event.topic}`, 'kafka.topic-unreadable', what, event);
    }
  }

  #once(key: string, name: string, message: string, event: KafkaTransportEvent): void {
    const writtenAtMs = this.#writtenAtMs.get(key) ?? -Infinity;
    if (this.#nowMs() - writtenAtMs < REPEAT_MS) return this.#debug(name, event);
    this.#writtenAtMs.set(key, this.#nowMs());
    this.#warn(name, message, event);
  }

  #info(event: string, message: string, fields: object): void {
    this.#logger.info({ event, ...withoutKind(fields) }, message);
  }

  #warn(event: string, message: string, fields: object): void {
    this.#logger.warn({ event, ...withoutKind(fields) }, message);
  }

  #debug(event: string, fields: object): void {
    this.#logger.debug({ event, ...withoutKind(fields) }, 'Kafka');
  }
}

/** The line's own name replaces the kind, and `err` is how errors are written. */
function withoutKind({ kind: _kind, error, ...fields }: { readonly kind?: string; readonly error?: unknown }): object {
  return error === undefined ? fields : { ...fields, err: error };
}
