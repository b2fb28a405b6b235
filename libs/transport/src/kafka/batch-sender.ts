import { DeadmanError } from '@deadman/domain';
import type { Clock, OutboxEntry } from '@deadman/domain';
import type { logCreator, Message, Producer, RecordMetadata } from 'kafkajs';
import { isNotServed, isUnreachable } from './kafka-errors.js';
import { KafkaClient } from './kafka-client.js';
import type { ResolvedOptions } from './kafka-options.js';
import type { KafkaTransportListener } from './kafka-transport-listener.js';
import { toMessages, topicOf, weightOf } from './outbox-messages.js';
import type { TopicKeeper } from './topic-keeper.js';
import type { TopicNames } from './topic-names.js';
import { bounded, within } from './within.js';

/** Job ids in one send: 400 KB, below the megabyte that a broker takes per partition even if all lay on one. */
const WEIGHT_PER_SEND = 10_000;

/** Rows that may wait for their send; beyond, they are not acknowledged and stay in the outbox. */
const MOST_WAITING = 20_000;

/** How long the last send may take when the sender closes. Milliseconds. */
const CLOSE_LIMIT_MS = 2_000;

interface Waiting {
  readonly entry: OutboxEntry;
  readonly expiresAtMs: number;
  readonly settle: (isAcknowledged: boolean) => void;
}

interface Connected {
  readonly client: KafkaClient;
  readonly producer: Producer;
}

export interface BatchSenderDeps {
  readonly clock: Clock;
  readonly listener: KafkaTransportListener;
  readonly logCreator: logCreator;
  readonly keeper: TopicKeeper;
  readonly names: TopicNames;
}

/**
 * Sends outbox rows, all that wait in one request: a row that comes while nothing is under way goes with the others of its
 * turn of the event loop, later ones with the next request. So a lone row waits for nobody, and a crowd costs few requests.
 *
 * Connects with the first row. After a failure it connects anew, so that no state of a lost connection is in the way of
 * the first send after a broker's return.
 */
export class BatchSender {
  readonly #deps: BatchSenderDeps;
  readonly #options: ResolvedOptions;
  #waiting: Waiting[] = [];
  #connected: Promise<Connected> | null = null;
  #sending: Promise<void> | null = null;
  #isClosed = false;

  constructor(deps: BatchSenderDeps, options: ResolvedOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** The ids of the rows of which everything was acknowledged in time. Never throws. */
  async send(entries: readonly OutboxEntry[]): Promise<readonly string[]> {
    const { clock } = this.#deps;
    const { publishLimitMs } = this.#options.timings;
    const acknowledged: string[] = [];
    const expiresAtMs = clock.monotonicMs() + publishLimitMs;
    const all = entries.map(async (entry) => {
      if (await this.#enqueue(entry, expiresAtMs)) acknowledged.push(entry.id);
    });
    await bounded(clock, publishLimitMs, Promise.all(all));
    return [...acknowledged];
  }

  /** Takes nothing more and waits a moment for what is being sent. Calling twice does nothing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#sending !== null) await bounded(this.#deps.clock, CLOSE_LIMIT_MS, this.#sending);
    const connected = await this.#forget();
    if (connected === null) return;
    await bounded(this.#deps.clock, CLOSE_LIMIT_MS, connected.producer.disconnect());
    connected.client.cut();
  }

  #enqueue(entry: OutboxEntry, expiresAtMs: number): Promise<boolean> {
    if (this.#isClosed || this.#waiting.length >= MOST_WAITING) return Promise.resolve(false);
    return new Promise((settle) => {
      this.#waiting.push({ entry, expiresAtMs, settle });
      this.#sending ??= this.#sendAll();
    });
  }

  async #sendAll(): Promise<void> {
    await nextTurn();
    while (this.#waiting.length > 0) await this.#sendBatch(this.#takeBatch());
    this.#sending = null;
  }

  #takeBatch(): readonly Waiting[] {
    let weight = 0;
    const tooMany = this.#waiting.findIndex(({ entry }) => (weight += weightOf(entry)) > WEIGHT_PER_SEND);
    const taken = this.#waiting.splice(0, tooMany === -1 ? this.#waiting.length : Math.max(tooMany, 1));
    const nowMs = this.#deps.clock.monotonicMs();
    for (const { expiresAtMs, settle } of taken) if (expiresAtMs <= nowMs) settle(false);
    return taken.filter(({ expiresAtMs }) => expiresAtMs > nowMs);
  }

  /** A fault of one topic must not hold up the rows of the others, so that after one each topic is sent alone. */
  async #sendBatch(batch: readonly Waiting[]): Promise<void> {
    const { names } = this.#deps;
    const entries = batch.map(({ entry }) => entry);
    const topics = [...toMessages(entries, names, this.#options.partitions)];
    const failed = await this.#failedTopics(topics);
    for (const { entry, settle } of batch) settle(!failed.has(topicOf(entry, names)));
  }

  async #failedTopics(topics: readonly [string, Message[]][]): Promise<ReadonlySet<string>> {
    const error = await this.#trySend(topics);
    if (error === null) return new Set();
    if (topics.length === 1 || isUnreachable(error)) return new Set(topics.map(([topic]) => topic));
    const failed = new Set<string>();
    for (const topic of topics) if ((await this.#trySend([topic])) !== null) failed.add(topic[0]);
    return failed;
  }

  /** Null when everything was acknowledged. */
  async #trySend(topics: readonly [string, Message[]][]): Promise<unknown> {
    const messages = topics.reduce((sum, [, { length }]) => sum + length, 0);
    if (messages === 0) return null;
    const { clock, listener, keeper } = this.#deps;
    const beganMs = clock.monotonicMs();
    try {
      await this.#request(topics).catch(async (error: unknown) => {
        if (!isNotServed(error)) throw error;
        await keeper.ensure(topics.map(([topic]) => topic));
        await this.#request(topics);
      });
      listener.on({ kind: 'messages-sent', messages, tookMs: clock.monotonicMs() - beganMs });
      return null;
    } catch (error) {
      listener.on({ kind: 'send-failed', messages, error });
      return error;
    }
  }

  async #request(topics: readonly [string, Message[]][]): Promise<void> {
    const { clock } = this.#deps;
    const { publishLimitMs, requestTimeoutMs } = this.#options.timings;
    const topicMessages = topics.map(([topic, messages]) => ({ topic, messages }));
    const send = async (): Promise<void> => {
      const { producer } = await this.#connect();
      assertAllAnswered(topics, await producer.sendBatch({ acks: -1, timeout: requestTimeoutMs, topicMessages }));
    };
    try {
      await within(clock, publishLimitMs, 'A send', send());
    } catch (error) {
      await this.#drop();
      throw error;
    }
  }

  async #connect(): Promise<Connected> {
    if (this.#isClosed) throw new DeadmanError('transport-unavailable', 'The transport is closed');
    this.#connected ??= this.#open();
    return this.#connected;
  }

  async #open(): Promise<Connected> {
    const { connection, timings } = this.#options;
    const client = new KafkaClient(connection, timings, this.#deps.logCreator);
    const producer = client.kafka.producer({ createPartitioner, allowAutoTopicCreation: false });
    try {
      await producer.connect();
      return { client, producer };
    } catch (error) {
      client.cut();
      throw error;
    }
  }

  /** Without a farewell, which would wait for a broker that may be gone. */
  async #drop(): Promise<void> {
    const connected = await this.#forget();
    if (connected === null) return;
    connected.client.cut();
    void connected.producer.disconnect().catch(() => undefined);
  }

  async #forget(): Promise<Connected | null> {
    const connected = this.#connected;
    this.#connected = null;
    return (await connected?.catch(() => null)) ?? null;
  }
}

/** kafkajs leaves out, and says nothing of, messages of a partition that the topic does not have. */
function assertAllAnswered(topics: readonly [string, Message[]][], answers: readonly RecordMetadata[]): void {
  const answered = new Set(answers.map(({ topicName, partition }) => `${topicName} ${partition}`));
  for (const [topic, messages] of topics) {
    const missing = messages.find(({ partition }) => !answered.has(`${topic} ${partition}`));
    if (missing === undefined) continue;
    throw new DeadmanError('transport-unavailable', `Topic ${topic} has no partition ${missing.partition}`);
  }
}

/** Every message names its partition. */
function createPartitioner(): ({ message }: { message: Message }) => number {
  return ({ message }) => {
    if (message.partition === undefined) throw new TypeError('A message without a partition');
    return message.partition;
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
