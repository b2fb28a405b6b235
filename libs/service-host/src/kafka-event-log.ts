import type { Logger } from '@deadman/observability';
import type { KafkaTransportEvent, KafkaTransportListener } from '@deadman/transport';

/** How often the loss of a consumer is written while it goes on. Milliseconds. */
const REPEAT_LOSS_MS = 30_000;

/** Writes what happens between this service and its brokers; an outage is a line now and then, not one for each try. */
export class KafkaEventLog implements KafkaTransportListener {
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  readonly #lossWrittenAtMs = new Map<string, number>();

  constructor(logger: Logger, nowMs: () => number) {
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  on(event: KafkaTransportEvent): void {
    switch (event.kind) {
      case 'partitions-assigned':
        this.#lossWrittenAtMs.delete(event.topic);
        return this.#info('kafka.partitions-assigned', 'Partitions were assigned', event);
      case 'rebalance-began':
        return this.#info('kafka.rebalance-began', 'A rebalance began', event);
      case 'topics-created':
        return this.#info('kafka.topics-created', 'Topics were created', event);
      case 'stale-commit-dropped':
        return this.#info('kafka.stale-commit-dropped', 'Offsets were not committed: their partition had gone', event);
      case 'malformed-message':
        return this.#warn('kafka.malformed', 'A message means nothing and is done', event);
      case 'consumer-lost':
        return this.#lost(event);
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

  #lost(event: Extract<KafkaTransportEvent, { kind: 'consumer-lost' }>): void {
    const writtenAtMs = this.#lossWrittenAtMs.get(event.topic) ?? -Infinity;
    if (this.#nowMs() - writtenAtMs < REPEAT_LOSS_MS) return this.#debug('kafka.consumer-lost', event);
    this.#lossWrittenAtMs.set(event.topic, this.#nowMs());
    this.#warn('kafka.consumer-lost', 'A consumer was lost and is made anew', event);
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
