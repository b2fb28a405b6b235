import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SystemIds } from '@deadman/config';
import type { OutboxEntry, Ticket } from '@deadman/domain';
import { eventually, RecordingSink } from '@deadman/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { KafkaTimings } from './kafka-options.js';
import {
  Bystander,
  freshPrefix,
  jobOn,
  ObservedService,
  ObservedTransport,
  readyOn,
  send,
  sharedBrokers,
} from './kafka-harness.contract.js';
import { partitionOf } from './partitioner.js';
import { TopicNames } from './topic-names.js';

jest.setTimeout(120_000);

const ALL = Array.from({ length: 12 }, (_, partition) => partition);

/** Both ways in which a process consumes: by itself, and as the services do. */
const CONSUMERS = [
  ['that hands tickets to a sink', ObservedTransport],
  ['that hands batches to a handler, as the services do', ObservedService],
] as const;

describe.each(CONSUMERS)('a consumer on a real broker %s', (_how, Observed) => {
  const ids = new SystemIds();
  let brokers: readonly string[];
  let bystander: Bystander;
  let names: TopicNames;
  let topicPrefix: string;
  let topic: string;
  let open: ObservedTransport[];

  beforeAll(async () => {
    brokers = await sharedBrokers();
    bystander = await new Bystander(brokers).connect();
  });

  afterAll(() => bystander.disconnect());

  beforeEach(async () => {
    open = [];
    useFreshTopics();
    await join('maker').ensureTopics(['default']);
  });

  afterEach(() => Promise.all(open.map((transport) => transport.close())));

  const useFreshTopics = (): void => {
    topicPrefix = freshPrefix();
    names = new TopicNames(topicPrefix);
    topic = names.ready('default');
  };

  const join = (clientId: string, timings: Partial<KafkaTimings> = {}): ObservedTransport => {
    const transport = new Observed({ connection: { brokers, clientId }, topicPrefix, timings });
    open.push(transport);
    return transport;
  };

  const owned = (transport: ObservedTransport): readonly number[] => transport.owned.get(topic) ?? [];

  /** Once these have the twelve partitions between them, and each has some. */
  const split = (...transports: ObservedTransport[]): Promise<void> =>
    eventually(
      () => {
        expect(transports.flatMap(owned).toSorted((a, b) => a - b)).toEqual(ALL);
        for (const transport of transports) expect(owned(transport).length).toBeGreaterThan(0);
      },
      { withinMs: 30_000 },
    );

  const arrived = (jobIds: readonly string[], ...sinks: RecordingSink[]): Promise<void> =>
    eventually(() => expect(sinks.flatMap((sink) => sink.received)).toEqual(expect.arrayContaining([...jobIds])), {
      withinMs: 30_000,
    });

  const finish = (tickets: readonly Ticket[]): void => {
    for (const ticket of tickets) for (const jobId of ticket.jobIds) ticket.done(jobId);
  };

  const claim = (tickets: readonly Ticket[]): void => {
    for (const ticket of tickets) for (const jobId of ticket.jobIds) ticket.claimed(jobId);
  };

  it('delivers again what was not handled, and nothing that was committed', async () => {
    const [handled, unhandled] = [readyOn([4]), readyOn([4])];
    const first = join('first');
    const sink = new RecordingSink();
    const subscription = await first.consumeReady(['default'], sink);
    await send(first, handled);
    await arrived(handled.jobIds, sink);
    finish(sink.take());
    await eventually(() => expect(first.of('offsets-committed').at(-1)?.offsets).toEqual(new Map([[4, 1n]])));
    await send(first, unhandled);
    await arrived(unhandled.jobIds, sink);
    await subscription.close();

    const next = new RecordingSink();
    await join('next').consumeReady(['default'], next);
    await arrived(unhandled.jobIds, next);
    expect(next.received).toEqual(unhandled.jobIds);
  });

  it('two consumers split the partitions, and each gets the jobs of its own', async () => {
    const transports = [join('one'), join('two')];
    const sinks = transports.map(() => new RecordingSink());
    for (const [index, transport] of transports.entries()) await transport.consumeReady(['default'], sinks[index]!);
    await split(...transports);
    const entry = readyOn([...ALL, ...ALL, ...ALL]);
    await send(transports[0]!, entry);
    await arrived(entry.jobIds, ...sinks);
    for (const [index, transport] of transports.entries()) {
      const partitions = new Set(sinks[index]!.received.map((jobId) => partitionOf(jobId, 12)));
      expect([...partitions].toSorted((a, b) => a - b)).toEqual(owned(transport).toSorted((a, b) => a - b));
    }
  });

  it('a partition moves between two live consumers mid-batch: its jobs come again, and the first one’s late ends move no offset', async () => {
    const [first, second] = [join('first'), join('second')];
    const [early, late] = [new RecordingSink(), new RecordingSink()];
    await first.consumeReady(['default'], early);
    await split(first);
    const entry = readyOn(ALL);
    await send(first, entry);
    await arrived(entry.jobIds, early);
    const inFlight = early.take();

    await second.consumeReady(['default'], late);
    await split(first, second);
    const moved = owned(second);
    const movedJobs = entry.jobIds.filter((jobId) => moved.includes(partitionOf(jobId, 12)));
    await arrived(movedJobs, late);

    finish(inFlight);
    await eventually(() => {
      const dropped = first.of('stale-commit-dropped').reduce((sum, { count }) => sum + count, 0);
      expect(dropped).toBe(ALL.length);
    });
    // Both have committed by the clock since, if there was anything to commit.
    // What the first one keeps comes to it again, too, and in its own time.
    await eventually(() => {
      finish(early.take());
      expect(first.of('offsets-committed').length).toBeGreaterThan(0);
    });
    const before = await bystander.committed(topic);
    for (const partition of moved) expect([partition, before.get(partition)]).toEqual([partition, -1]);

    await eventually(async () => {
      finish([...early.take(), ...late.take()]);
      const after = await bystander.committed(topic);
      for (const partition of ALL) expect([partition, after.get(partition)]).toEqual([partition, 1]);
    });
  });

  it('a handler held across a re-join commits nothing of the old generation', async () => {
    const first = join('first');
    const sink = new RecordingSink();
    await first.consumeReady(['default'], sink);
    await split(first);
    const entry = readyOn([0]);
    await send(first, entry);
    await arrived(entry.jobIds, sink);
    const held = sink.take();

    const second = join('second');
    const passing = await second.consumeReady(['default'], new RecordingSink(0));
    await split(first, second);
    await passing.close();
    await split(first);
    await arrived([...entry.jobIds, ...entry.jobIds], sink);

    finish(held);
    expect(first.of('stale-commit-dropped').length).toBeGreaterThan(0);
    // The partition is ours again, in a later generation: only what that one handed over moves its offset.
    const other = readyOn([1]);
    await send(first, other);
    await arrived(other.jobIds, sink);
    finish(sink.take().filter((ticket) => ticket.jobIds[0] === other.jobIds[0]));
    await eventually(async () => expect((await bystander.committed(topic)).get(1)).toBe(1));
    expect((await bystander.committed(topic)).get(0)).toBe(-1);
  });

  it('a job that runs too long gives its offset free, and those behind it are committed', async () => {
    const transport = join('holding', { offsetHoldMs: 3_000 });
    const sink = new RecordingSink();
    await transport.consumeReady(['default'], sink);
    const [long, short] = [readyOn([2]), readyOn([2])];
    for (const entry of [long, short]) {
      await send(transport, entry);
      await arrived(entry.jobIds, sink);
    }
    const tickets = sink.take();
    claim(tickets);
    finish(tickets.slice(1));
    await eventually(async () => expect((await bystander.committed(topic)).get(2)).toBe(2), { withinMs: 30_000 });
    expect(transport.of('offsets-let-go')).toEqual([{ kind: 'offsets-let-go', topic, count: 1 }]);
  });

  it('a ticket that nobody has claimed keeps its offset beyond the hold, and reaches the next consumer', async () => {
    const first = join('busy', { offsetHoldMs: 1_000 });
    const sink = new RecordingSink();
    const subscription = await first.consumeReady(['default'], sink);
    const [before, running, behind] = [readyOn([3]), readyOn([2]), readyOn([2])];
    for (const entry of [before, running, behind]) {
      await send(first, entry);
      await arrived(entry.jobIds, sink);
    }
    for (const ticket of sink.take()) ticket.claimed(running.jobIds[0]!);
    // What was claimed has given its offset free by then; what came before it has waited for longer.
    await eventually(async () => expect((await bystander.committed(topic)).get(2)).toBe(1), { withinMs: 30_000 });
    expect((await bystander.committed(topic)).get(3)).toBe(-1);
    await subscription.close();

    const next = new RecordingSink();
    await join('next').consumeReady(['default'], next);
    const unclaimed = [...before.jobIds, ...behind.jobIds];
    await arrived(unclaimed, next);
    expect(next.received.toSorted()).toEqual(unclaimed.toSorted());
  });

  it('holds the partitions of a full sink at the broker, with flat memory and its place in the group, and then delivers all', async () => {
    const transport = join('full');
    const sink = new RecordingSink(40);
    await transport.consumeReady(['default'], sink);
    await split(transport);
    const entries = Array.from({ length: 400 }, (): OutboxEntry & { kind: 'ready' } => ({
      id: ids.timeOrdered(),
      kind: 'ready',
      queue: 'default',
      jobIds: Array.from({ length: 500 }, () => ids.timeOrdered()),
    }));
    for (let from = 0; from < entries.length; from += 20) {
      const part = entries.slice(from, from + 20);
      await send(transport, ...part);
    }
    const wanted = entries.flatMap(({ jobIds }) => jobIds);
    entries.length = 0;
    await eventually(() => expect(transport.of('partition-held').length).toBeGreaterThan(0));
    const before = heapBytes();
    const joins = transport.of('partitions-assigned').length;
    // Longer than a session of 6 s: a consumer that only waited would be put out of the group.
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    expect(heapBytes() - before).toBeLessThan(5_000_000);
    // What is full takes no more; what has room takes the whole batch that it is offered, a hundred messages at most.
    expect(sink.received.length).toBeLessThanOrEqual((40 + 100) * 100);
    expect(transport.of('partitions-assigned')).toHaveLength(joins);
    await eventually(
      () => {
        sink.finish();
        expect(new Set(sink.received).size).toBe(wanted.length);
      },
      { withinMs: 90_000 },
    );
    expect(new Set(sink.received)).toEqual(new Set(wanted));
  });

  it('what can never mean anything is counted by reason, and its offset moves', async () => {
    const transport = join('reader');
    const sink = new RecordingSink();
    const probe = readyOn([3]);
    await send(transport, probe);
    await bystander.admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: 2, name: topic, configEntries: [{ name: 'max.message.bytes', value: '4000000' }] }],
    });
    const partition = 3;
    await bystander.send(topic, [
      { partition, value: '{' },
      { partition, value: '' },
      { partition, value: null },
      { partition, value: Buffer.alloc(2 * 1024 * 1024, 0x5b) },
      { partition, value: JSON.stringify({ v: 9, ids: [jobOn(3)] }) },
      { partition, value: JSON.stringify({ v: 1, ids: ['not-a-uuid', '1; DROP TABLE jobs'] }) },
      { partition, value: JSON.stringify({ v: 1, ids: 'x' }) },
    ]);
    const last = readyOn([3]);
    await send(transport, last);
    await transport.consumeReady(['default'], sink);
    await arrived([...probe.jobIds, ...last.jobIds], sink);
    finish(sink.take());
    await eventually(async () => expect((await bystander.committed(topic)).get(partition)).toBe(9));
    const reasons = transport.of('malformed-message').map(({ reason, count }) => [reason, count]);
    expect(reasons).toEqual([
      ['not-json', 1],
      ['no-value', 1],
      ['no-value', 1],
      ['too-large', 1],
      ['version', 1],
      ['not-a-uuid', 2],
      ['shape', 1],
    ]);
    expect(transport.events.of('tickets-handled').reduce((sum, { count }) => sum + count, 0)).toBe(8);
  });

  it('a topic that is published again is delivered again, and its offsets move', async () => {
    const transport = join('again');
    const sink = new RecordingSink();
    await transport.consumeReady(['default'], sink);
    const entry = readyOn(ALL);
    for (const round of [1, 2, 3]) {
      await send(transport, entry);
      await eventually(() => expect(sink.received).toHaveLength(round * ALL.length));
      finish(sink.take());
      await eventually(async () => {
        expect([...(await bystander.committed(topic)).values()]).toEqual(ALL.map(() => round));
      });
    }
  });

  it('goes on with what is at or after its offset when that was set to the first, the last, and one beyond the end', async () => {
    const cases = [
      { partition: 4, offset: '0', expected: ['stale', 'waiting', 'fresh'] },
      { partition: 6, offset: '2', expected: ['fresh'] },
      { partition: 8, offset: '1000', expected: ['stale', 'waiting', 'fresh'] },
    ];
    const rows = cases.map(({ partition: at }) => ({
      stale: readyOn([at]),
      waiting: readyOn([at]),
      fresh: readyOn([at]),
    }));
    const transport = join('before');
    for (const { stale, waiting } of rows) {
      await send(transport, stale);
      await send(transport, waiting);
    }
    // kafkajs takes five seconds for it, however many partitions it is for.
    const partitions = cases.map(({ partition, offset }) => ({ partition, offset }));
    await bystander.admin.setOffsets({ groupId: names.groupOf(topic), topic, partitions });
    const sink = new RecordingSink();
    await transport.consumeReady(['default'], sink);
    await split(transport);
    for (const { fresh } of rows) await send(transport, fresh);
    await arrived(
      rows.flatMap(({ fresh }) => fresh.jobIds),
      sink,
    );
    for (const [index, { partition, offset, expected }] of cases.entries()) {
      const byJob = new Map(Object.entries(rows[index]!).map(([name, { jobIds }]) => [jobIds[0], name]));
      const received = sink.received.filter((jobId) => byJob.has(jobId)).map((jobId) => byJob.get(jobId));
      expect({ partition, offset, received }).toEqual({ partition, offset, received: expected });
    }
    finish(sink.take());
    await eventually(async () => {
      const committed = await bystander.committed(topic);
      expect(cases.map(({ partition }) => committed.get(partition))).toEqual([3, 3, 3]);
    });
  });

  it('tells how many messages wait, refused ones included, and goes on telling while their partition is held', async () => {
    const transport = join('lagging');
    const sink = new RecordingSink(2);
    const [taken, refused] = [2, 8].map((count) => Array.from({ length: count }, () => readyOn([8])));
    for (const entry of taken!) await send(transport, entry);
    await transport.consumeReady(['default'], sink);
    await arrived(
      taken!.flatMap(({ jobIds }) => jobIds),
      sink,
    );
    for (const entry of refused!) await send(transport, entry);
    await eventually(() => expect(transport.of('partition-lag').at(-1)).toMatchObject({ partition: 8, lag: 8 }), {
      withinMs: 60_000,
    });
    for (let message = 0; message < 5; message += 1) await transport.publish([readyOn([8])]);
    await eventually(() => expect(transport.of('partition-lag').at(-1)).toMatchObject({ partition: 8, lag: 13 }), {
      withinMs: 60_000,
    });
    sink.finish();
    await eventually(() => {
      sink.finish();
      expect(transport.of('partition-lag').at(-1)).toMatchObject({ partition: 8, lag: 0 });
    });
  });

  it('a row of a topic that refuses it does not keep the rows of others', async () => {
    const transport = join('sender');
    const [good, bad] = [readyOn([1]), { ...readyOn([11]), queue: 'narrow' }];
    await bystander.createTopic(names.ready('narrow'), 4);
    expect(await transport.publish([bad, good])).toEqual([good.id]);
  });

  it('is told to end when a topic has fewer partitions than are configured, and never runs on with another number', async () => {
    useFreshTopics();
    await bystander.createTopic(topic, 4);
    const transport = join('misconfigured');
    await transport.consumeReady(['default'], new RecordingSink());
    await eventually(() => expect(transport.fatal).toHaveLength(1));
    expect(transport.fatal[0]).toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringContaining(`topic ${topic} has 4 partitions where 12 are configured`),
    });
    expect(transport.of('partitions-assigned')).toEqual([]);
  });

  it('runs with a topic of more partitions, of which the last stay empty', async () => {
    useFreshTopics();
    await bystander.createTopic(topic, 15);
    const transport = join('grown');
    await transport.ensureTopics(['default']);
    const sink = new RecordingSink();
    await transport.consumeReady(['default'], sink);
    const entry = readyOn(ALL);
    await send(transport, entry);
    await arrived(entry.jobIds, sink);
    const lastOffsets = await bystander.admin.fetchTopicOffsets(topic);
    expect(lastOffsets.filter(({ partition }) => partition >= 12).map(({ offset }) => offset)).toEqual(['0', '0', '0']);
  });
});

/** After everything that nobody holds has been let go. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}
