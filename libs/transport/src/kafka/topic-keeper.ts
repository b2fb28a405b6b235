import type { Clock } from '@deadman/domain';
import type { logCreator } from 'kafkajs';
import { KafkaClient } from './kafka-client.js';
import type { ResolvedOptions } from './kafka-options.js';
import type { KafkaTransportListener } from './kafka-transport-listener.js';
import { keepReadable } from './topic-compression.js';
import { ensureTopics } from './topics.js';
import { bounded, within } from './within.js';

/** How long the look at the topics may take, their creation included. Milliseconds. */
const LIMIT_MS = 15_000;

/** Pause between two looks at a topic that keeps being asked for. Milliseconds. */
const LOOK_AGAIN_MS = 30_000;

/** How long the connection may take to end. Milliseconds. */
const DISCONNECT_LIMIT_MS = 500;

export interface TopicKeeperDeps {
  readonly clock: Clock;
  readonly listener: KafkaTransportListener;
  readonly logCreator: logCreator;
}

/** Sees to it that topics exist and can be read, over a connection that lasts as long as the look. */
export class TopicKeeper {
  readonly #deps: TopicKeeperDeps;
  readonly #options: ResolvedOptions;
  readonly #lookedAtMs = new Map<string, number>();

  constructor(deps: TopicKeeperDeps, options: ResolvedOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Throws what `ensureTopics` and the connection throw; `TookTooLong`, which is `transport-unavailable`, when it takes too long. */
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

  /** Somebody has met what cannot be read: how the topic is compressed may have changed. Looks once in a while, and never throws. */
  lookSoon(topic: string): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs - (this.#lookedAtMs.get(topic) ?? -Infinity) < LOOK_AGAIN_MS) return;
    this.#lookedAtMs.set(topic, nowMs);
    void this.ensure([topic]).catch(() => undefined);
  }

  async #ensure(client: KafkaClient, topics: readonly string[]): Promise<void> {
    const { clock, listener } = this.#deps;
    const { partitions, replicationFactor } = this.#options;
    const admin = client.kafka.admin();
    await admin.connect();
    try {
      const created = await ensureTopics(admin, { topics, partitions, replicationFactor }, clock);
      if (created.length > 0) listener.on({ kind: 'topics-created', topics: created });
      for (const found of await keepReadable(admin, topics)) listener.on({ kind: 'topic-compression', ...found });
    } finally {
      await bounded(clock, DISCONNECT_LIMIT_MS, admin.disconnect());
    }
  }
}
