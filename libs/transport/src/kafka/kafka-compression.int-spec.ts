import { SystemIds } from '@deadman/config';
import type { OutboxEntry } from '@deadman/domain';
import { eventually, RecordingSink } from '@deadman/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ConfigResourceTypes } from 'kafkajs';
import {
  Bystander,
  freshPrefix,
  jobOn,
  ObservedTransport,
  readyOn,
  send,
  sharedBrokers,
} from './kafka-harness.contract.js';
import { encodeTicket } from './ticket-codec.js';
import { TopicNames } from './topic-names.js';

jest.setTimeout(120_000);

const ALL = Array.from({ length: 12 }, (_, partition) => partition);

/** More than fit an offset's one byte, in one batch. */
const BATCH = 200;

describe('KafkaTransport and topics that others compress', () => {
  const ids = new SystemIds();
  let brokers: readonly string[];
  let bystander: Bystander;
  let names: TopicNames;
  let topic: string;
  let transport: ObservedTransport;
  let sink: RecordingSink;

  beforeAll(async () => {
    brokers = await sharedBrokers();
    bystander = await new Bystander(brokers).connect();
  });

  afterAll(() => bystander.disconnect());

  beforeEach(() => {
    const topicPrefix = freshPrefix();
    names = new TopicNames(topicPrefix);
    topic = names.ready('default');
    sink = new RecordingSink();
    transport = new ObservedTransport({ connection: { brokers, clientId: 'compression' }, topicPrefix });
  });

  afterEach(() => transport.close());

  const create = (name: string, compression: string): Promise<void> =>
    bystander.createTopic(name, 12, { 'compression.type': compression, 'retention.ms': '7200000' });

  /** What is set on the topic itself. */
  const settings = async (name: string): Promise<Record<string, string>> => {
    const resources = [{ type: ConfigResourceTypes.TOPIC, name }];
    const { resources: found } = await bystander.admin.describeConfigs({ resources, includeSynonyms: false });
    const own = found[0]!.configEntries.filter(({ configSource }) => configSource === 1);
    return Object.fromEntries(own.map(({ configName, configValue }) => [configName, configValue]));
  };

  const unreadable = (): number =>
    transport
      .of('malformed-message')
      .reduce((sum, { reason, count }) => sum + (reason === 'unreadable' ? count : 0), 0);

  /** By partition. */
  const committed = async (): Promise<readonly (number | undefined)[]> => {
    const offsets = await bystander.committed(topic);
    return ALL.map((partition) => offsets.get(partition));
  };

  /** A coordinator that is new may have had it begin anew. */
  const untroubled = (): void => {
    expect(transport.of('consumer-lost').filter(({ failures }) => failures > 0)).toEqual([]);
    expect(transport.fatal).toEqual([]);
  };

  it('creates topics in which every message lies so that it can be read', async () => {
    await transport.ensureTopics(['default']);
    for (const name of [topic, names.dead])
      expect(await settings(name)).toEqual({ 'compression.type': 'uncompressed' });
  });

  it.each(['gzip', 'zstd'])('reads %s, and leaves the topic as it is', async (compression) => {
    await create(topic, compression);
    const entry = readyOn([...ALL, ...ALL]);
    await send(transport, entry);
    await transport.consumeReady(['default'], sink);
    await eventually(() => expect(new Set(sink.received)).toEqual(new Set(entry.jobIds)), { withinMs: 30_000 });
    expect(unreadable()).toBe(0);
    expect(await settings(topic)).toEqual({ 'compression.type': compression, 'retention.ms': '7200000' });
    untroubled();
  });

  it.each(['snappy', 'lz4'])(
    'counts what lies in %s, moves its offsets, and mends the topic so that what comes next arrives',
    async (compression) => {
      await create(topic, compression);
      const lost = Array.from({ length: BATCH }, () => ({ partition: 3, value: encodeTicket([jobOn(3)]) }));
      await bystander.send(topic, [...lost, { partition: 5, value: encodeTicket([jobOn(5)]) }]);
      await transport.consumeReady(['default'], sink);
      await eventually(
        async () => expect(await committed()).toEqual([-1, -1, -1, BATCH, -1, 1, -1, -1, -1, -1, -1, -1]),
        { withinMs: 30_000 },
      );
      expect(unreadable()).toBe(BATCH + 1);
      expect(await settings(topic)).toEqual({ 'compression.type': 'uncompressed', 'retention.ms': '7200000' });
      expect(transport.of('topic-compression')[0]).toMatchObject({ topic, compression, state: 'mended' });

      const entry = readyOn(ALL);
      await arrives(entry, () => sink.received, entry.jobIds);
      await eventually(async () => {
        sink.finish();
        const ends = await bystander.admin.fetchTopicOffsets(topic);
        const high = ends.toSorted((a, b) => a.partition - b.partition).map((end) => Number(end.high));
        expect(await committed()).toEqual(high);
      });
      untroubled();
    },
  );

  /** Sent again and again, as by a relay: a topic that was mended takes a moment to be so at every leader. */
  const arrives = (entry: OutboxEntry, received: () => readonly string[], wanted: readonly string[]): Promise<void> =>
    eventually(
      async () => {
        await send(transport, entry);
        expect(received()).toEqual(expect.arrayContaining([...wanted]));
      },
      { withinMs: 30_000, everyMs: 200 },
    );

  it('mends a topic that others compress while it is consumed: a death that was lost so is recorded when it is sent again', async () => {
    await transport.ensureTopics([]);
    const deaths: string[] = [];
    await transport.consumeDead(async (notices) => void deaths.push(...notices.map(({ jobId }) => jobId)));
    const died = (): OutboxEntry & { kind: 'dead' } => ({
      id: ids.timeOrdered(),
      kind: 'dead',
      jobId: ids.timeOrdered(),
      attempt: 1,
    });
    const first = died();
    await arrives(first, () => deaths, [first.jobId]);

    await bystander.admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: 2, name: names.dead, configEntries: [{ name: 'compression.type', value: 'lz4' }] }],
    });
    await eventually(
      async () => {
        await send(transport, died());
        expect(unreadable()).toBeGreaterThan(0);
      },
      { withinMs: 30_000, everyMs: 200 },
    );
    const last = died();
    await arrives(last, () => deaths, [last.jobId]);
    expect(transport.of('topic-compression').map(({ state }) => state)).toContain('mended');
    untroubled();
  });
});
