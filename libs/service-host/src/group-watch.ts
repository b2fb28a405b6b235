import type { HealthCheck } from '@deadman/observability';
import type { KafkaTransportEvent, KafkaTransportListener } from '@deadman/transport';

/** How the consumers of a service stand in their groups, one group for each topic. */
export class GroupWatch implements KafkaTransportListener {
  readonly #topics: readonly string[];
  readonly #onJoined: () => void;
  readonly #everJoined = new Set<string>();
  /** Partitions of each topic that is joined now. */
  readonly #partitions = new Map<string, readonly number[]>();
  /** Topics in which new messages lie as nothing here can read. */
  readonly #unreadable = new Set<string>();

  /** @param onJoined called whenever a group was joined. */
  constructor(topics: readonly string[], onJoined: () => void) {
    this.#topics = topics;
    this.#onJoined = onJoined;
  }

  get checks(): readonly HealthCheck[] {
    return [
      {
        name: 'joined',
        critical: true,
        effect: 'has not taken part yet',
        check: async () => this.#assertNone('never joined the group of', (topic) => !this.#everJoined.has(topic)),
      },
      {
        name: 'consumer',
        critical: false,
        effect: 'wake-ups come late; no job is lost',
        check: async () => this.#assertConsuming(),
      },
    ];
  }

  on(event: KafkaTransportEvent): void {
    if (event.kind === 'partitions-assigned') {
      this.#everJoined.add(event.topic);
      this.#partitions.set(event.topic, event.partitions);
      this.#onJoined();
    } else if (event.kind === 'rebalance-began' || event.kind === 'consumer-lost') {
      this.#partitions.delete(event.topic);
    } else if (event.kind === 'topic-compression') {
      if (event.state === 'unreadable') this.#unreadable.add(event.topic);
      else this.#unreadable.delete(event.topic);
    }
  }

  #assertConsuming(): void {
    this.#assertNone('is not in the group of', (topic) => !this.#partitions.has(topic));
    this.#assertNone('has no partition of', (topic) => this.#partitions.get(topic)?.length === 0);
    this.#assertNone('cannot read the compression of', (topic) => this.#unreadable.has(topic));
  }

  #assertNone(what: string, isSo: (topic: string) => boolean): void {
    const topics = this.#topics.filter(isSo);
    if (topics.length > 0) throw new Error(`${what} ${topics.join(', ')}`);
  }
}
