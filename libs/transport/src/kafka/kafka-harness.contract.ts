import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SystemClock, SystemIds, SystemRandom } from '@deadman/config';
import { Stack } from '@deadman/stack';
import type { OutboxEntry, Subscription, Ticket, TicketSink, Transport } from '@deadman/domain';
import { eventually, RecordingEvents } from '@deadman/testing';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import type { Admin, Message } from 'kafkajs';
import type { KafkaTransportOptions } from './kafka-options.js';
import type { KafkaTransportDeps } from './kafka-deps.js';
import type { KafkaTransportEvent } from './kafka-transport-listener.js';
import { KafkaTicketServer } from './kafka-ticket-server.js';
import { KafkaTransport } from './kafka-transport.js';
import { partitionOf } from './partitioner.js';
import { ServedTransport } from './served-transport.js';
import { TopicNames } from './topic-names.js';

const ids = new SystemIds();

/** Where a project's tests find a broker when nobody has named one. It is left running for the next time. */
const SHARED_STACK = fileURLToPath(new URL('../../../../.deadman/test', import.meta.url));

/** A broker that tests share: each keeps to topics of its own. */
export async function sharedBrokers(): Promise<readonly string[]> {
  const given = process.env['DEADMAN_TEST_KAFKA_BROKERS'];
  if (given) return given.split(',');
  const { url } = await new Stack({ dataDir: SHARED_STACK }).start('kafka');
  return [url];
}

/** A broker of its own, for a test that ends it. */
export class OwnBroker {
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'deadman-kafka-'));
  readonly #stack = new Stack({ dataDir: this.#dataDir });

  /** Starts it, with what it had before, on the port it had before. */
  async start(): Promise<string> {
    return (await this.#stack.start('kafka')).url;
  }

  /** As a power cut would. */
  async kill(): Promise<void> {
    await this.#stack.kill('kafka');
  }

  async wipe(): Promise<void> {
    await this.#stack.wipe('kafka');
  }

  async destroy(): Promise<void> {
    await this.#stack.wipe('kafka');
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}

type Kind = KafkaTransportEvent['kind'];

/** A transport whose events are kept. */
export class ObservedTransport extends KafkaTransport {
  readonly seen: readonly KafkaTransportEvent[];
  readonly events: RecordingEvents;
  readonly fatal: readonly unknown[];
  protected readonly deps: KafkaTransportDeps;
  protected readonly options: KafkaTransportOptions;

  constructor(options: KafkaTransportOptions, given: Partial<KafkaTransportDeps> = {}) {
    const seen: KafkaTransportEvent[] = [];
    const fatal: unknown[] = [];
    const events = new RecordingEvents();
    const listener = { on: (event: KafkaTransportEvent): void => void seen.push(event) };
    const onFatal = (error: unknown): void => void fatal.push(error);
    const deps = { clock: new SystemClock(), random: new SystemRandom(), events, listener, onFatal, ...given };
    super(deps, options);
    this.deps = deps;
    this.options = options;
    this.seen = seen;
    this.events = events;
    this.fatal = fatal;
  }

  of<K extends Kind>(kind: K): readonly Extract<KafkaTransportEvent, { kind: K }>[] {
    return this.seen.filter((event): event is Extract<KafkaTransportEvent, { kind: K }> => event.kind === kind);
  }

  /** The partitions that its consumers have, by topic. */
  get owned(): ReadonlyMap<string, readonly number[]> {
    return new Map(this.of('partitions-assigned').map(({ topic, partitions }) => [topic, partitions]));
  }
}

/** The same as services have it: a ticket server consumes, and its handlers ask the sink whether there is room. */
export class ObservedService extends ObservedTransport {
  readonly #servers: KafkaTicketServer[] = [];

  override async consumeReady(queues: readonly string[], sink: TicketSink): Promise<Subscription> {
    const topics = queues.map((queue) => new TopicNames().ready(queue));
    const server = new KafkaTicketServer(this.deps, { ...this.options, topics });
    this.#servers.push(server);
    const served = new ServedTransport(this, server);
    const onTickets = async (tickets: readonly Ticket[]): Promise<void> => served.takeTickets(tickets);
    for (const topic of topics) server.addHandler(topic, onTickets, true);
    await new Promise<void>((resolve, reject) =>
      server.listen((error) => (error === undefined ? resolve() : reject(error))),
    );
    return served.consumeReady(queues, sink);
  }

  override async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
    await super.close();
  }
}

/** A prefix for topics that nobody used before. */
export function freshPrefix(): string {
  return `t${ids.random().slice(0, 8)}.`;
}

/** A bystander at the broker: it sees what the group committed, and can send what no service would. */
export class Bystander {
  readonly #kafka: Kafka;
  readonly #admin: Admin;

  constructor(brokers: readonly string[]) {
    this.#kafka = new Kafka({ brokers: [...brokers], clientId: 'bystander', logLevel: logLevel.NOTHING });
    this.#admin = this.#kafka.admin();
  }

  get admin(): Admin {
    return this.#admin;
  }

  async connect(): Promise<this> {
    await this.#admin.connect();
    return this;
  }

  /** What the topic's group has committed of each partition; -1 for nothing. */
  async committed(topic: string): Promise<ReadonlyMap<number, number>> {
    const offsets = await this.#admin.fetchOffsets({ groupId: new TopicNames().groupOf(topic), topics: [topic] });
    return new Map(offsets[0]?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  }

  /** Makes a topic. kafkajs would wait for its leaders, too, but throws when the broker has not heard of it at once. */
  async createTopic(
    topic: string,
    numPartitions: number,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
    await this.#admin.createTopics({ topics: [{ topic, numPartitions, configEntries }], waitForLeaders: false });
    await eventually(
      async () => {
        const { topics } = await this.#admin.fetchTopicMetadata({ topics: [topic] });
        if (topics[0]?.partitions.length !== numPartitions) throw new Error(`${topic} is not there yet`);
      },
      { withinMs: 30_000 },
    );
  }

  /** Each message once: kafkajs sends all of them again when one partition of a new topic has no leader yet. */
  async send(topic: string, messages: Message[]): Promise<void> {
    const options = { createPartitioner: Partitioners.DefaultPartitioner, idempotent: true, maxInFlightRequests: 1 };
    const producer = this.#kafka.producer(options);
    await producer.connect();
    await producer.send({ topic, messages });
    await producer.disconnect();
  }

  async disconnect(): Promise<void> {
    await this.#admin.disconnect();
  }
}

/** Publishes, and throws when not all of it was acknowledged. */
export async function send(transport: Transport, ...entries: readonly OutboxEntry[]): Promise<void> {
  const acknowledged = await transport.publish(entries);
  if (acknowledged.length < entries.length) {
    throw new Error(`${acknowledged.length} of ${entries.length} rows were acknowledged`);
  }
}

/** An outbox row of tickets whose jobs lie on these partitions, one each. */
export function readyOn(partitions: readonly number[], queue = 'default'): OutboxEntry & { kind: 'ready' } {
  return { id: ids.timeOrdered(), kind: 'ready', queue, jobIds: partitions.map((partition) => jobOn(partition)) };
}

/** A job id that lies on this one of twelve partitions. */
export function jobOn(partition: number): string {
  for (;;) {
    const jobId = ids.timeOrdered();
    if (partitionOf(jobId, 12) === partition) return jobId;
  }
}
