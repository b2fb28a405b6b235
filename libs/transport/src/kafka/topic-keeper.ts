import type { Clock } from '@deadman/domain';
import type { logCreator } from 'kafkajs';
import { KafkaClient } from './kafka-client.js';
import type { ResolvedOptions } from './kafka-options.js';
import type { KafkaTransportListener } from './kafka-transport-listener.js';
import { ensureTopics } from './topics.js';
import { bounded, within } from './within.js';

/** How long the look at the topics may take, their creation included. Milliseconds. */
const LIMIT_MS = 15_000;

/** How long the connection may take to end. Milliseconds. */
const DISCONNECT_LIMIT_MS = 500;

export interface TopicKeeperDeps {
  readonly clock: Clock;
  readonly listener: KafkaTransportListener;
  readonly logCreator: logCreator;
}

/** Sees to it that topics exist, over a connection that lasts as long as the look. */
export class TopicKeeper {
  readonly #deps: TopicKeeperDeps;
  readonly #options: ResolvedOptions;

  constructor(deps: TopicKeeperDeps, options: ResolvedOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Throws what `ensureTopics` and the connection throw; `transport-unavailable` when it takes too long. */
  async ensure(topics: readonly string[]): Promise<void> {
    const { clock, logCreator } = this.#deps;
    const { connection, timings } = this.#options;
    const client = new KafkaClient(connection, timings, logCreator);
    try {
      await within(clock, LIMIT_MS, 'The look at the topics', this.#ensure(client, topics));
    } finally {
      client.cut();
    }
  }

  async #ensure(client: KafkaClient, topics: readonly string[]): Promise<void> {
    const { partitions, replicationFactor } = this.#options;
    const admin = client.kafka.admin();
    await admin.connect();
    try {
      const created = await ensureTopics(admin, { topics, partitions, replicationFactor }, this.#deps.clock);
      if (created.length > 0) this.#deps.listener.on({ kind: 'topics-created', topics: created });
    } finally {
      await bounded(this.#deps.clock, DISCONNECT_LIMIT_MS, admin.disconnect());
    }
  }
}
