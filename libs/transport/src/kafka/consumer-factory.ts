import type { logCreator } from 'kafkajs';
import type { KafkaTransportDeps } from './kafka-deps.js';
import { ConsumerSession } from './consumer-session.js';
import { KafkaClient } from './kafka-client.js';
import { KafkaLogFilter, SILENT_LOG } from './kafka-log.js';
import type { ResolvedOptions } from './kafka-options.js';
import { SILENT_LISTENER } from './kafka-transport-listener.js';
import type { KafkaTransportListener } from './kafka-transport-listener.js';
import { MalformedCounter } from './malformed-counter.js';
import type { MessageReceiver } from './message-receiver.js';
import { TopicConsumer } from './topic-consumer.js';
import type { Session } from './topic-consumer.js';
import { TopicKeeper } from './topic-keeper.js';
import { TopicNames } from './topic-names.js';

/** What all consumers of a process have in common. */
export class ConsumerFactory {
  readonly listener: KafkaTransportListener;
  readonly logCreator: logCreator;
  readonly names: TopicNames;
  readonly keeper: TopicKeeper;
  readonly #deps: KafkaTransportDeps;
  readonly #options: ResolvedOptions;

  constructor(deps: KafkaTransportDeps, options: ResolvedOptions) {
    this.#deps = deps;
    this.#options = options;
    this.listener = deps.listener ?? SILENT_LISTENER;
    this.logCreator = new KafkaLogFilter(deps.log ?? SILENT_LOG, deps.clock).creator;
    this.names = new TopicNames(options.topicPrefix);
    const { listener, logCreator } = this;
    this.keeper = new TopicKeeper({ clock: deps.clock, listener, logCreator }, options);
  }

  malformed(topic: string): MalformedCounter {
    return new MalformedCounter(topic, this.#deps.events, this.listener, () => this.keeper.lookSoon(topic));
  }

  /** Begins to consume a topic. */
  create({ topic, receiver }: { topic: string; receiver: MessageReceiver }): TopicConsumer {
    const { clock, random, onFatal = rethrow } = this.#deps;
    const { listener, keeper } = this;
    const ensureTopic = (): Promise<void> => keeper.ensure([topic]);
    const openSession = (): Session => this.#openSession(topic, receiver);
    return new TopicConsumer({ topic, ensureTopic, openSession, clock, random, listener, onFatal }, this.#options);
  }

  #openSession(topic: string, receiver: MessageReceiver): Session {
    const { clock } = this.#deps;
    const { listener, logCreator, names } = this;
    const client = new KafkaClient(this.#options.connection, this.#options.timings, logCreator);
    return new ConsumerSession(
      { topic, groupId: names.groupOf(topic), client, receiver, clock, listener },
      this.#options,
    );
  }
}

/** Outside of every promise, so that it ends the process. */
function rethrow(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
