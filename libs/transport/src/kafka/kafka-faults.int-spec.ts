import type { OutboxEntry } from '@deadman/domain';
import { SystemIds } from '@deadman/config';
import { eventually, FaultProxy, proxySocketFactory, RecordingSink } from '@deadman/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Bystander, freshPrefix, ObservedTransport, OwnBroker, readyOn, send } from './kafka-harness.contract.js';
import type { KafkaConnection, KafkaTimings } from './kafka-options.js';
import { TopicNames } from './topic-names.js';

jest.setTimeout(180_000);

const ALL = Array.from({ length: 12 }, (_, partition) => partition);

/** How soon after a broker's return tickets have to flow again (`faults.md`, scenarios 17 and 18). Milliseconds. */
const RECOVERY_MS = 30_000;

describe('KafkaTransport and a broker that goes away', () => {
  const ids = new SystemIds();
  const broker = new OwnBroker();
  let address: string;
  let open: ObservedTransport[] = [];

  beforeAll(async () => {
    address = await broker.start();
  });

  afterEach(async () => {
    await Promise.all(open.map((transport) => transport.close()));
    open = [];
  });

  afterAll(async () => {
    await broker.destroy();
    // What a consumer that was given up still does inside of kafkajs ends by itself, and loads modules until then.
    await new Promise((resolve) => setTimeout(resolve, 4_000));
  });

  const join = (
    topicPrefix: string,
    connection: Partial<KafkaConnection> = {},
    timings: Partial<KafkaTimings> = {},
  ): ObservedTransport => {
    const transport = new ObservedTransport({
      connection: { brokers: [address], clientId: 'faults', ...connection },
      topicPrefix,
      timings,
    });
    open.push(transport);
    return transport;
  };

  const dead = (): OutboxEntry & { kind: 'dead' } => ({
    id: ids.timeOrdered(),
    kind: 'dead',
    jobId: ids.timeOrdered(),
    attempt: 1,
  });

  const arrived = (jobIds: readonly string[], received: () => readonly string[]): Promise<void> =>
    eventually(() => expect(received()).toEqual(expect.arrayContaining([...jobIds])), { withinMs: RECOVERY_MS });

  it('killed: sends are refused in bounded time and work at the first try after its return, and consumers resume', async () => {
    const topicPrefix = freshPrefix();
    const [sender, receiver] = [join(topicPrefix), join(topicPrefix)];
    await sender.ensureTopics(['default']);
    const sink = new RecordingSink();
    await receiver.consumeReady(['default'], sink);
    const [before, during, after] = [readyOn(ALL), readyOn(ALL), readyOn(ALL)];
    await send(sender, before);
    await arrived(before.jobIds, () => sink.received);
    sink.finish();

    await broker.kill();
    const beganMs = performance.now();
    expect(await sender.publish([during])).toEqual([]);
    expect(performance.now() - beganMs).toBeLessThan(10_000);
    await eventually(() => expect(receiver.status.map(({ state }) => state)).toEqual(['unreachable']), {
      withinMs: RECOVERY_MS,
    });

    await broker.start();
    expect(await sender.publish([after])).toEqual([after.id]);
    await arrived(after.jobIds, () => sink.received);
    expect(receiver.status.map(({ state }) => state)).toEqual(['joined']);
    expect(receiver.fatal).toEqual([]);
  });

  it('wiped: topics are made again with their partitions, and tickets and deaths flow', async () => {
    const topicPrefix = freshPrefix();
    const transport = join(topicPrefix);
    await transport.ensureTopics(['default', 'mail']);
    const sink = new RecordingSink();
    const deaths: string[] = [];
    await transport.consumeReady(['default', 'mail'], sink);
    await transport.consumeDead(async (notices) => void deaths.push(...notices.map(({ jobId }) => jobId)));
    for (let round = 0; round < 5; round += 1) {
      const [ready, died] = [readyOn(ALL), dead()];
      await send(transport, ready, died);
      await arrived([...ready.jobIds, died.jobId], () => [...sink.received, ...deaths]);
      sink.finish();
    }

    await broker.wipe();
    await broker.start();
    const entries = [readyOn(ALL), readyOn(ALL, 'mail'), dead()];
    await eventually(() => send(transport, ...entries), { withinMs: RECOVERY_MS });
    const wanted = entries.flatMap((entry) => (entry.kind === 'ready' ? entry.jobIds : [entry.jobId]));
    await arrived(wanted, () => [...sink.received, ...deaths]);

    const bystander = await new Bystander([address]).connect();
    const names = new TopicNames(topicPrefix);
    const { topics } = await bystander.admin.fetchTopicMetadata({
      topics: [names.ready('default'), names.ready('mail'), names.dead],
    });
    expect(topics.map(({ partitions }) => partitions.length)).toEqual([12, 12, 12]);
    // The new log's offsets are committed although the old log's, after five rounds, were higher.
    await eventually(async () => {
      sink.finish();
      const ends = await bystander.admin.fetchTopicOffsets(names.ready('default'));
      const committed = await bystander.committed(names.ready('default'));
      for (const { partition, high } of ends) {
        expect([partition, committed.get(partition)]).toEqual([partition, Number(high)]);
        expect(Number(high)).toBeLessThan(5);
      }
    });
    await bystander.disconnect();
  });

  it('down at the start: everything starts, and works once it is there', async () => {
    await broker.kill();
    const transport = join(freshPrefix());
    const sink = new RecordingSink();
    await transport.consumeReady(['default'], sink);
    expect(await transport.publish([readyOn([1])])).toEqual([]);
    const entry = readyOn(ALL);
    await broker.start();
    await eventually(() => send(transport, entry), { withinMs: RECOVERY_MS });
    await arrived(entry.jobIds, () => sink.received);
  });

  it('down at the end: a transport closes in bounded time', async () => {
    const transport = join(freshPrefix());
    await transport.consumeReady(['default'], new RecordingSink());
    await eventually(() => expect(transport.status.map(({ state }) => state)).toEqual(['joined']));
    await broker.kill();
    const beganMs = performance.now();
    await transport.close();
    expect(performance.now() - beganMs).toBeLessThan(25_000);
    await broker.start();
  });

  it('behind a network that swallows everything: the consumer is made anew and resumes, and a send is refused in bounded time', async () => {
    const proxy = await FaultProxy.start(address);
    // Half of what it is in life, because each of the losses below is made of several requests without an answer.
    const transport = join(freshPrefix(), { socketFactory: proxySocketFactory(proxy) }, { requestTimeoutMs: 2_000 });
    const sink = new RecordingSink();
    await transport.consumeReady(['default'], sink);
    await eventually(() => expect(transport.status.map(({ state }) => state)).toEqual(['joined']));
    await send(transport, readyOn([1]));

    await proxy.inject({ kind: 'drop' });
    const beganMs = performance.now();
    expect(await transport.publish([readyOn([1])])).toEqual([]);
    expect(performance.now() - beganMs).toBeLessThan(10_000);
    // As long as it takes until kafkajs has gone through all that it says of such a network.
    await eventually(() => expect(transport.of('consumer-lost').length).toBeGreaterThan(3), { withinMs: 120_000 });
    expect(transport.status.map(({ state }) => state)).toEqual(['unreachable']);
    for (const lost of transport.of('consumer-lost'))
      expect(lost).toMatchObject({ reason: 'unreachable', failures: 0 });

    // The connections that stand stay swallowed: only new ones pass.
    await proxy.inject({ kind: 'pass' }, { connections: 'new' });
    const entry = readyOn(ALL);
    await eventually(async () => expect(await transport.publish([entry])).toEqual([entry.id]), {
      withinMs: RECOVERY_MS,
    });
    await arrived(entry.jobIds, () => sink.received);
    expect(transport.fatal).toEqual([]);
    await transport.close();
    await proxy.close();
  });
});
