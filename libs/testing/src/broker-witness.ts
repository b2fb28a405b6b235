import kafkajs, { AssignerProtocol, Kafka, logLevel, Partitioners } from 'kafkajs';
import type { Admin, Message } from 'kafkajs';

// Node cannot see it among the names of a CommonJS module, and refuses to import it by name.
const { ConfigResourceTypes } = kafkajs;

/** What a topic's partitions hold, by partition. */
export type Offsets = ReadonlyMap<number, bigint>;

/** Who has which partitions of a topic: the client's id → its partitions, in order. */
export type Ownership = ReadonlyMap<string, readonly number[]>;

/** Sees what a broker knows of topics and groups, and sends what no service would. It is a member of no group. */
export class BrokerWitness {
  readonly #kafka: Kafka;
  readonly #admin: Admin;

  private constructor(brokers: readonly string[]) {
    this.#kafka = new Kafka({ brokers: [...brokers], clientId: 'witness', logLevel: logLevel.NOTHING });
    this.#admin = this.#kafka.admin();
  }

  static async connect(brokers: readonly string[]): Promise<BrokerWitness> {
    const witness = new BrokerWitness(brokers);
    await witness.#admin.connect();
    return witness;
  }

  /** By the broker's own word. Null while the group rebalances. */
  async ownership(groupId: string, topic: string): Promise<Ownership | null> {
    const { groups } = await this.#admin.describeGroups([groupId]);
    const [group] = groups;
    if (group?.state !== 'Stable') return null;
    return new Map(
      group.members.map(({ clientId, memberAssignment }) => {
        const assigned =
          memberAssignment.length > 0 ? AssignerProtocol.MemberAssignment.decode(memberAssignment) : null;
        return [clientId, (assigned?.assignment[topic] ?? []).toSorted((one, other) => one - other)];
      }),
    );
  }

  /** The next offset that the group would read of each partition; without one, the partition is left out. */
  async committed(groupId: string, topic: string): Promise<Offsets> {
    const [answer] = await this.#admin.fetchOffsets({ groupId, topics: [topic] });
    const known = (answer?.partitions ?? []).filter(({ offset }) => offset !== '-1');
    return new Map(known.map(({ partition, offset }) => [partition, BigInt(offset)]));
  }

  /** Where each partition ends: the offset that the next message gets. */
  async ends(topic: string): Promise<Offsets> {
    const offsets = await this.#admin.fetchTopicOffsets(topic);
    return new Map(offsets.map(({ partition, high }) => [partition, BigInt(high)]));
  }

  /** Makes the group go on from these offsets. It must have no members. */
  async setCommitted(groupId: string, topic: string, offsets: Offsets): Promise<void> {
    const partitions = [...offsets].map(([partition, offset]) => ({ partition, offset: String(offset) }));
    await this.#admin.setOffsets({ groupId, topic, partitions });
  }

  async partitionCount(topic: string): Promise<number> {
    const { topics } = await this.#admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0]!.partitions.length;
  }

  /** Lets a topic take messages of this size, whatever the broker's limit is. Other settings of the topic become the default. */
  async allowMessagesOf(bytes: number, topic: string): Promise<void> {
    const configEntries = [{ name: 'max.message.bytes', value: String(bytes) }];
    const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }];
    await this.#admin.alterConfigs({ validateOnly: false, resources });
  }

  async deleteTopics(topics: readonly string[]): Promise<void> {
    await this.#admin.deleteTopics({ topics: [...topics] });
  }

  /** Each message that the topic holds now, as the producer sent it. */
  async read(topic: string, groupId: string): Promise<readonly Message[]> {
    const ends = await this.ends(topic);
    const wanted = [...ends.values()].reduce((sum, end) => sum + end, 0n);
    const consumer = this.#kafka.consumer({ groupId });
    const found: Message[] = [];
    await consumer.connect();
    try {
      await consumer.subscribe({ topic, fromBeginning: true });
      await new Promise<void>((resolve, reject) => {
        if (wanted === 0n) resolve();
        const eachMessage = async ({ partition, message }: { partition: number; message: Message }): Promise<void> => {
          found.push({ partition, key: message.key ?? null, value: message.value });
          if (BigInt(found.length) >= wanted) resolve();
        };
        consumer.run({ autoCommit: false, eachMessage }).catch(reject);
      });
    } finally {
      await consumer.disconnect();
    }
    return found;
  }

  /** Each message once: kafkajs sends all of them again when one partition of a new topic has no leader yet. */
  async send(topic: string, messages: readonly Message[]): Promise<void> {
    const options = { createPartitioner: Partitioners.DefaultPartitioner, idempotent: true, maxInFlightRequests: 1 };
    const producer = this.#kafka.producer(options);
    await producer.connect();
    try {
      await producer.send({ topic, messages: [...messages] });
    } finally {
      await producer.disconnect();
    }
  }

  async disconnect(): Promise<void> {
    await this.#admin.disconnect();
  }
}
