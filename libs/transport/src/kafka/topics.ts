import { DeadmanError } from '@deadman/domain';
import type { Clock } from '@deadman/domain';
import type { Admin, IResourceConfigEntry } from 'kafkajs';
import type { KafkaClient } from './kafka-client.js';
import { isNotServed, isSettingRefused } from './kafka-errors.js';
import { READABLE } from './topic-compression.js';

/** The most copies that a topic gets by default; one broker holds one. */
const DEFAULT_REPLICAS = 3;

/** How long brokers may take to create a topic and choose its leaders. Milliseconds. */
const CREATE_LIMIT_MS = 10_000;

/** Pause before the leaders of a topic are asked again. Milliseconds. */
const ASK_AGAIN_MS = 50;

export interface TopicPlan {
  readonly topics: readonly string[];
  readonly partitions: number;
  /** Null: three, or one per broker when there are fewer. */
  readonly replicationFactor: number | null;
}

/**
 * Creates the topics that are missing and checks the others; returns the names of those it created. Safe for many services
 * at once: a topic that another creates meanwhile is one that exists. Resolves when all partitions are served, which is
 * some milliseconds later than that they exist; a message sent in between would be refused.
 *
 * The number of an existing topic's partitions is never changed. Every sender computes a job's partition from the same number, so a topic with fewer
 * partitions than that throws `configuration-invalid`: some jobs would have none. More are fine, the last ones stay empty;
 * so whoever wants more partitions adds them to the topic first and to the configuration of all services after.
 */
export async function ensureTopics(admin: Admin, plan: TopicPlan, clock: Clock): Promise<readonly string[]> {
  const existing = new Set(await admin.listTopics());
  const created: string[] = [];
  for (const topic of plan.topics) {
    if (!existing.has(topic) && (await createTopic(admin, topic, plan))) created.push(topic);
  }
  await untilServed(clock, () => checkPartitions(admin, plan));
  for (const topic of plan.topics) await untilServed(clock, () => admin.fetchTopicOffsets(topic));
  return created;
}

/** False when somebody else was first. Where settings of a topic are not ours to choose, it is better than none. */
async function createTopic(admin: Admin, topic: string, plan: TopicPlan): Promise<boolean> {
  const replicationFactor = plan.replicationFactor ?? (await defaultReplicas(admin));
  const create = (configEntries: IResourceConfigEntry[]): Promise<boolean> =>
    admin.createTopics({
      topics: [{ topic, numPartitions: plan.partitions, replicationFactor, configEntries }],
      timeout: CREATE_LIMIT_MS,
      // It takes a topic that the broker has not heard of yet for a failure.
      waitForLeaders: false,
    });
  try {
    return await create([READABLE]);
  } catch (error) {
    if (!isSettingRefused(error)) throw error;
    return create([]);
  }
}

/** Where each partition ends, asked for over a connection of its own. Throws when the brokers do not say. */
export async function fetchEnds({ kafka }: KafkaClient, topic: string): Promise<ReadonlyMap<number, bigint>> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const ends = await admin.fetchTopicOffsets(topic);
    return new Map(ends.map(({ partition, high }) => [partition, BigInt(high)]));
  } finally {
    await admin.disconnect();
  }
}

async function defaultReplicas(admin: Admin): Promise<number> {
  const { brokers } = await admin.describeCluster();
  return Math.max(1, Math.min(DEFAULT_REPLICAS, brokers.length));
}

async function checkPartitions(admin: Admin, { topics, partitions: wanted }: TopicPlan): Promise<void> {
  const { topics: found } = await admin.fetchTopicMetadata({ topics: [...topics] });
  const faults = found
    .filter(({ partitions }) => partitions.length < wanted)
    .map(({ name, partitions }) => `topic ${name} has ${partitions.length} partitions where ${wanted} are configured`);
  if (faults.length === 0) return;
  throw new DeadmanError(
    'configuration-invalid',
    `${faults.join('; ')}. Add partitions to the topic, or configure its number in every service.`,
  );
}

/** Asks until the brokers know of the topic and its leaders answer. */
async function untilServed(clock: Clock, ask: () => Promise<unknown>): Promise<void> {
  const giveUpAtMs = clock.monotonicMs() + CREATE_LIMIT_MS;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (!isNotServed(error) || clock.monotonicMs() >= giveUpAtMs) throw error;
    }
    await clock.sleep(ASK_AGAIN_MS);
  }
}
