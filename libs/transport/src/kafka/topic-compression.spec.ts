import { FakeClock } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import type { Admin, IResourceConfig, ITopicConfig } from 'kafkajs';
import { keepReadable } from './topic-compression.js';
import { ensureTopics } from './topics.js';

const TOPIC = 'jobs.dead';

const answered = (type: string): Error => Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type });

/** A cluster of one topic, whose settings are those of the topic (source 1) and of the brokers (source 5). */
class FakeCluster {
  readonly settings = new Map<string, { value: string; source: number }>([
    ['compression.type', { value: 'producer', source: 5 }],
    ['segment.bytes', { value: '1000', source: 5 }],
    ['retention.ms', { value: '3600000', source: 1 }],
  ]);
  readonly altered: IResourceConfig[] = [];
  readonly created: ITopicConfig[] = [];
  refuses: { describe?: Error; alter?: Error; create?: Error } = {};

  get admin(): Admin {
    return {
      describeConfigs: async ({ resources }: { resources: { configNames?: string[] }[] }) => {
        if (this.refuses.describe) throw this.refuses.describe;
        const names = resources[0]!.configNames ?? [...this.settings.keys()];
        const entry = (name: string): object => ({
          configName: name,
          configValue: this.settings.get(name)!.value,
          configSource: this.settings.get(name)!.source,
        });
        return { resources: [{ configEntries: names.map(entry) }] };
      },
      alterConfigs: async ({ resources }: { resources: IResourceConfig[] }) => {
        if (this.refuses.alter) throw this.refuses.alter;
        this.altered.push(...resources);
      },
      createTopics: async ({ topics }: { topics: ITopicConfig[] }) => {
        if (this.refuses.create && topics[0]!.configEntries?.length) throw this.refuses.create;
        this.created.push(...topics);
        return true;
      },
      listTopics: async () => [],
      describeCluster: async () => ({ brokers: [{}] }),
      fetchTopicMetadata: async () => ({ topics: [{ name: TOPIC, partitions: [{}, {}] }] }),
      fetchTopicOffsets: async () => [],
    } as unknown as Admin;
  }

  compressed(value: string, source = 1): this {
    this.settings.set('compression.type', { value, source });
    return this;
  }
}

describe('a topic’s compression', () => {
  it.each(['uncompressed', 'producer', 'gzip', 'zstd'])('%s can be read, and stays', async (compression) => {
    const cluster = new FakeCluster().compressed(compression);
    expect(await keepReadable(cluster.admin, [TOPIC])).toEqual([{ topic: TOPIC, compression, state: 'readable' }]);
    expect(cluster.altered).toEqual([]);
  });

  it.each([
    ['snappy', 1],
    ['lz4', 5],
  ])(
    '%s cannot be read: it is changed, whoever set it, and what else is set on the topic stays',
    async (compression, source) => {
      const cluster = new FakeCluster().compressed(compression, source);
      expect(await keepReadable(cluster.admin, [TOPIC])).toEqual([{ topic: TOPIC, compression, state: 'mended' }]);
      const configEntries = [
        { name: 'retention.ms', value: '3600000' },
        { name: 'compression.type', value: 'uncompressed' },
      ];
      expect(cluster.altered).toEqual([{ type: 2, name: TOPIC, configEntries }]);
    },
  );

  it('that we may not change is told, with the reason', async () => {
    const error = answered('TOPIC_AUTHORIZATION_FAILED');
    const cluster = new FakeCluster().compressed('lz4');
    cluster.refuses = { alter: error };
    expect(await keepReadable(cluster.admin, [TOPIC])).toEqual([
      { topic: TOPIC, compression: 'lz4', state: 'unreadable', error },
    ]);
  });

  it('that we may not even see is nobody’s fault, and is left out', async () => {
    const cluster = new FakeCluster();
    cluster.refuses = { describe: answered('TOPIC_AUTHORIZATION_FAILED') };
    expect(await keepReadable(cluster.admin, [TOPIC])).toEqual([]);
  });

  it('is not known of brokers that do not answer', async () => {
    const cluster = new FakeCluster();
    cluster.refuses = { describe: new Error('Broker not connected') };
    await expect(keepReadable(cluster.admin, [TOPIC])).rejects.toThrow('Broker not connected');
  });

  const ensure = (cluster: FakeCluster): Promise<readonly string[]> =>
    ensureTopics(cluster.admin, { topics: [TOPIC], partitions: 2, replicationFactor: null }, new FakeClock());

  it('is set when the topic is created', async () => {
    const cluster = new FakeCluster();
    expect(await ensure(cluster)).toEqual([TOPIC]);
    const configEntries = [{ name: 'compression.type', value: 'uncompressed' }];
    expect(cluster.created).toEqual([{ topic: TOPIC, numPartitions: 2, replicationFactor: 1, configEntries }]);
  });

  it.each(['INVALID_CONFIG', 'INVALID_REQUEST', 'POLICY_VIOLATION'])(
    'is left to brokers that answer %s: a topic as they want it is better than none',
    async (type) => {
      const cluster = new FakeCluster();
      cluster.refuses = { create: Object.assign(new Error('x'), { errors: [answered(type)] }) };
      expect(await ensure(cluster)).toEqual([TOPIC]);
      expect(cluster.created.map(({ configEntries }) => configEntries)).toEqual([[]]);
    },
  );

  it('is no reason to ask twice when the topic cannot be created at all', async () => {
    const cluster = new FakeCluster();
    cluster.refuses = { create: answered('CLUSTER_AUTHORIZATION_FAILED') };
    await expect(ensure(cluster)).rejects.toThrow('CLUSTER_AUTHORIZATION_FAILED');
    expect(cluster.created).toEqual([]);
  });
});
