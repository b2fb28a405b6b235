import kafkajs from 'kafkajs';
import type { Admin, IResourceConfigEntry } from 'kafkajs';
import { isBrokersFault } from './kafka-errors.js';

// Node cannot see these among the names of a CommonJS module, and refuses to import them by name.
const { ConfigResourceTypes, ConfigSource } = kafkajs;

const SETTING = 'compression.type';

/**
 * What a topic of ours is created with: a broker then keeps every message so that we can read it, whoever sends it and
 * whatever the brokers' own default is.
 */
export const READABLE: IResourceConfigEntry = { name: SETTING, value: 'uncompressed' };

/** With these a broker turns even what we send, uncompressed, into something that nothing here can read. */
const UNREADABLE = new Set(['snappy', 'lz4']);

/** How messages lie in a topic. */
export interface TopicCompression {
  readonly topic: string;
  /** As it was found: a name of Kafka's; `producer` says that each lies as it was sent. */
  readonly compression: string;
  /** `mended`: it could not be read, and new messages can be. `unreadable`: they still cannot. */
  readonly state: 'readable' | 'mended' | 'unreadable';
  /** Why it was not mended. */
  readonly error?: unknown;
}

/**
 * Looks at how the topics are compressed, and changes those that could not be read: they are ours, and carry nothing as
 * they are. Any other setting stays as whoever runs the brokers wants it, one that we would not have chosen included.
 *
 * Leaves out topics whose settings we may not see. Throws only what is the brokers' fault.
 */
export async function keepReadable(admin: Admin, topics: readonly string[]): Promise<readonly TopicCompression[]> {
  const found: TopicCompression[] = [];
  for (const topic of topics) {
    const compression = await unlessRefused(() => compressionOf(admin, topic));
    if (compression instanceof Refusal || compression === undefined) continue;
    found.push(await mend(admin, topic, compression));
  }
  return found;
}

async function mend(admin: Admin, topic: string, compression: string): Promise<TopicCompression> {
  if (!UNREADABLE.has(compression)) return { topic, compression, state: 'readable' };
  const outcome = await unlessRefused(() => setReadable(admin, topic));
  if (outcome instanceof Refusal) return { topic, compression, state: 'unreadable', error: outcome.error };
  return { topic, compression, state: 'mended' };
}

async function compressionOf(admin: Admin, topic: string): Promise<string | undefined> {
  const { resources } = await admin.describeConfigs({
    resources: [{ ...resource(topic), configNames: [SETTING] }],
    includeSynonyms: false,
  });
  return resources[0]?.configEntries.find(({ configName }) => configName === SETTING)?.configValue;
}

/**
 * kafkajs can only set all that is set on a topic itself at once, so that what is set already is set again. Somebody who
 * changes another setting in the milliseconds between has to do it again.
 */
async function setReadable(admin: Admin, topic: string): Promise<void> {
  const { resources } = await admin.describeConfigs({ resources: [resource(topic)], includeSynonyms: false });
  const others = (resources[0]?.configEntries ?? [])
    .filter(({ configSource, configName }) => configSource === ConfigSource.TOPIC_CONFIG && configName !== SETTING)
    .map(({ configName: name, configValue: value }) => ({ name, value }));
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ ...resource(topic), configEntries: [...others, READABLE] }],
  });
}

function resource(topic: string): { type: number; name: string } {
  return { type: ConfigResourceTypes.TOPIC, name: topic };
}

class Refusal {
  constructor(readonly error: unknown) {}
}

async function unlessRefused<Value>(act: () => Promise<Value>): Promise<Value | Refusal> {
  try {
    return await act();
  } catch (error) {
    if (isBrokersFault(error)) throw error;
    return new Refusal(error);
  }
}
