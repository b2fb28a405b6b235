import { DeadmanError, Transport } from '@deadman/domain';
import type { DeathHandler, OutboxEntry, Subscription, TicketSink } from '@deadman/domain';
import { BatchSender } from './batch-sender.js';
import { ConsumerFactory } from './consumer-factory.js';
import { DeathReceiver } from './death-receiver.js';
import type { KafkaTransportDeps } from './kafka-deps.js';
import { resolveOptions } from './kafka-options.js';
import type { KafkaTransportOptions } from './kafka-options.js';
import { SinkReceiver } from './sink-receiver.js';
import { TicketReader } from './ticket-reader.js';
import type { ConsumerStatus, TopicConsumer } from './topic-consumer.js';

/**
 * Carries wake-ups over Kafka: a topic for the tickets of each queue, and one for deaths (`protocol.md` §4, §8, §12).
 *
 * Connects when it is first needed and works through any absence of the brokers: what cannot be sent is not acknowledged
 * and stays in the outbox, what cannot be received is found by the idle claim. Topics are created when they are missing,
 * at the start and after a broker lost its disk.
 */
export class KafkaTransport extends Transport {
  readonly #deps: KafkaTransportDeps;
  readonly #factory: ConsumerFactory;
  readonly #sender: BatchSender;
  readonly #consumers = new Set<TopicConsumer>();
  #isClosed = false;

  constructor(deps: KafkaTransportDeps, options: KafkaTransportOptions) {
    super();
    this.#deps = deps;
    const resolved = resolveOptions(options);
    this.#factory = new ConsumerFactory(deps, resolved);
    const { listener, logCreator, keeper, names } = this.#factory;
    this.#sender = new BatchSender({ clock: deps.clock, listener, logCreator, keeper, names }, resolved);
  }

  /** How each consumer is. */
  get status(): readonly ConsumerStatus[] {
    return [...this.#consumers].map((consumer) => consumer.status);
  }

  /**
   * Creates the topics of these queues and of deaths, where they are missing. Nobody has to: sending and consuming see to
   * it by themselves. Throws `configuration-invalid` for a topic with too few partitions, and when no broker answers.
   */
  async ensureTopics(queues: readonly string[]): Promise<void> {
    const { names, keeper } = this.#factory;
    await keeper.ensure([...new Set(queues.map((queue) => names.ready(queue))), names.dead]);
  }

  override publish(entries: readonly OutboxEntry[]): Promise<readonly string[]> {
    return this.#sender.send(entries);
  }

  /** Resolves at once, whether a broker can be reached or not. Throws `transport-unavailable` once the transport is closed. */
  override async consumeReady(queues: readonly string[], sink: TicketSink): Promise<Subscription> {
    const { names } = this.#factory;
    return this.#subscribe(
      [...new Set(queues)].map((queue) => {
        const topic = names.ready(queue);
        const reader = new TicketReader(queue, this.#factory.malformed(topic), this.#deps.clock);
        return { topic, receiver: new SinkReceiver(reader, sink) };
      }),
    );
  }

  /** Resolves at once, whether a broker can be reached or not. Throws `transport-unavailable` once the transport is closed. */
  override async consumeDead(handler: DeathHandler): Promise<Subscription> {
    const { listener, names } = this.#factory;
    const { clock, random } = this.#deps;
    const topic = names.dead;
    const malformed = this.#factory.malformed(topic);
    return this.#subscribe([
      { topic, receiver: new DeathReceiver({ topic, handler, malformed, listener, clock, random }) },
    ]);
  }

  /** Ends every subscription and the sender. Later sends are not acknowledged. Calling twice does nothing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#consumers].map((consumer) => this.#end(consumer)));
    await this.#sender.close();
  }

  #subscribe(parts: readonly Parameters<ConsumerFactory['create']>[0][]): Subscription {
    if (this.#isClosed) throw new DeadmanError('transport-unavailable', 'The transport is closed');
    const consumers = parts.map((part) => this.#factory.create(part));
    for (const consumer of consumers) this.#consumers.add(consumer);
    return {
      pause: async () => void (await Promise.all(consumers.map((consumer) => consumer.pause()))),
      close: async () => void (await Promise.all(consumers.map((consumer) => this.#end(consumer)))),
    };
  }

  async #end(consumer: TopicConsumer): Promise<void> {
    await consumer.close();
    this.#consumers.delete(consumer);
  }
}
