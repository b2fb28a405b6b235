import { SystemClock } from '@deadman/config';
import { isDeadmanError } from '@deadman/domain';
import type { OutboxEntry, Ticket } from '@deadman/domain';
import { FakeClock, RecordingSink, SequenceIds, settle } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { transportContract } from '../transport.contract.js';
import { MemoryTransport } from './memory-transport.js';
import type { MemoryTransportOptions } from './memory-transport.js';

transportContract('MemoryTransport', async () => {
  const transport = new MemoryTransport(new SystemClock(), { backoffBaseMs: 1 });
  return { transport, queues: ['default', 'mail'], close: () => transport.close() };
});

describe('MemoryTransport', () => {
  const ids = new SequenceIds();
  const setUp = (options: MemoryTransportOptions = {}): { clock: FakeClock; transport: MemoryTransport } => {
    const clock = new FakeClock();
    return { clock, transport: new MemoryTransport(clock, options) };
  };
  const ready = (jobId: string, queue = 'default'): OutboxEntry => ({
    id: ids.timeOrdered(),
    kind: 'ready',
    queue,
    jobIds: [jobId],
  });
  const dead = (jobId: string): OutboxEntry => ({ id: ids.timeOrdered(), kind: 'dead', jobId, attempt: 1 });

  it('delivers after the sender has gone on, never within its call', async () => {
    const { transport } = setUp();
    const sink = new RecordingSink();
    await transport.consumeReady(['default'], sink);
    await transport.publish([ready('a')]);
    expect(sink.received).toEqual([]);
    await settle();
    expect(sink.received).toEqual(['a']);
  });

  it('cuts a large batch into tickets, so that no consumer gets all of it at once', async () => {
    const { transport } = setUp();
    const sink = new RecordingSink();
    await transport.consumeReady(['default'], sink);
    const jobIds = Array.from({ length: 120 }, () => ids.timeOrdered());
    await transport.publish([{ id: ids.timeOrdered(), kind: 'ready', queue: 'default', jobIds }]);
    await settle();
    expect(sink.take().map((ticket) => ticket.jobIds.length)).toEqual([50, 50, 20]);
    expect(sink.received).toEqual(jobIds);
  });

  it('drops the oldest tickets of a queue that nobody empties, and counts them', async () => {
    const { transport } = setUp({ ticketLimit: 3 });
    for (const jobId of ['a', 'b', 'c', 'd', 'e']) await transport.publish([ready(jobId)]);
    const sink = new RecordingSink();
    await transport.consumeReady(['default'], sink);
    await settle();
    expect(sink.received).toEqual(['c', 'd', 'e']);
    expect(transport.droppedTickets).toBe(2);
  });

  it('acknowledges no death that it has no room for, so that its outbox row stays and is sent again', async () => {
    const { transport } = setUp({ deathLimit: 2 });
    const entries = [dead('a'), dead('b'), dead('c')];
    expect(await transport.publish(entries)).toEqual(entries.slice(0, 2).map(({ id }) => id));
  });

  it('serves its queues in turn, so that a busy one holds up no other', async () => {
    const { transport } = setUp();
    await transport.publish([ready('a1'), ready('a2'), ready('a3'), ready('b1', 'mail')]);
    const sink = new RecordingSink();
    await transport.consumeReady(['default', 'mail'], sink);
    await settle();
    expect(sink.received.indexOf('b1')).toBeLessThan(2);
  });

  it('leaves a ticket that a full sink refused to a consumer that has room', async () => {
    const { transport } = setUp();
    const full = new RecordingSink(0);
    await transport.consumeReady(['default'], full);
    await transport.publish([ready('a')]);
    await settle();
    const free = new RecordingSink();
    await transport.consumeReady(['default'], free);
    await settle();
    expect(free.received).toEqual(['a']);
  });

  it('pauses for a sink that tells of room and refuses all the same, instead of spinning', async () => {
    const { clock, transport } = setUp();
    let offers = 0;
    const lying = { offer: (): boolean => (offers += 1) < 0, whenRoom: async (): Promise<void> => {} };
    await transport.consumeReady(['default'], lying);
    await transport.publish([ready('a')]);
    await settle(50);
    const withoutTime = offers;
    await settle(50);
    expect(offers).toBe(withoutTime);
    await clock.advance(10);
    expect(offers).toBe(withoutTime + 1);
    await transport.close();
  });

  it('gives only what is undone to the next consumer, in the old order', async () => {
    const { transport } = setUp();
    const first = new RecordingSink();
    const subscription = await transport.consumeReady(['default'], first);
    await transport.publish(['a', 'b', 'c'].map((jobId) => ready(jobId)));
    await settle();
    const [, second] = first.take() as [Ticket, Ticket, Ticket];
    second.done('b');
    await subscription.close();
    const next = new RecordingSink();
    await transport.consumeReady(['default'], next);
    await settle();
    expect(next.received).toEqual(['a', 'c']);
  });

  it('tries a refused batch of deaths again after 100 ms, then doubling to 5 s', async () => {
    const { clock, transport } = setUp();
    const triedAtMs: number[] = [];
    await transport.consumeDead(async () => {
      triedAtMs.push(clock.monotonicMs());
      throw new Error('no');
    });
    await transport.publish([dead('a')]);
    await clock.advance(20_000);
    const pauses = triedAtMs.slice(1).map((at, index) => at - triedAtMs[index]!);
    expect(pauses.slice(0, 8)).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    await transport.close();
  });

  it('loses and repeats acknowledged messages when told to', async () => {
    const copies = new Map([
      ['lost', 0],
      ['twice', 2],
    ]);
    const { transport } = setUp({
      faults: { copies: (entry) => (entry.kind === 'ready' ? (copies.get(entry.jobIds[0]!) ?? 1) : 1) },
    });
    const sink = new RecordingSink();
    await transport.consumeReady(['default'], sink);
    expect(await transport.publish(['lost', 'twice', 'calm'].map((jobId) => ready(jobId)))).toHaveLength(3);
    await settle();
    expect(sink.received).toEqual(['twice', 'twice', 'calm']);
  });

  it('acknowledges nothing while it cannot be reached, and never throws for it', async () => {
    let isReachable = false;
    const { transport } = setUp({ faults: { isReachable: () => isReachable } });
    expect(await transport.publish([ready('a')])).toEqual([]);
    isReachable = true;
    expect(await transport.publish([ready('b')])).toHaveLength(1);
  });

  it('forgets everything when wiped, what was delivered and is not done included', async () => {
    const { transport } = setUp();
    const first = new RecordingSink();
    const subscription = await transport.consumeReady(['default'], first);
    await transport.publish([ready('a')]);
    await settle();
    await transport.publish([ready('b', 'mail')]);
    transport.wipe();
    await subscription.close();
    const sink = new RecordingSink();
    await transport.consumeReady(['default', 'mail'], sink);
    await settle();
    expect(sink.received).toEqual([]);
  });

  it('closes once for all: no delivery, no acknowledgement and no new consumer afterwards', async () => {
    const { transport } = setUp();
    const sink = new RecordingSink();
    await transport.consumeReady(['default'], sink);
    await Promise.all([transport.close(), transport.close()]);
    expect(await transport.publish([ready('a')])).toEqual([]);
    await settle();
    expect(sink.received).toEqual([]);
    const refused = await transport.consumeReady(['default'], sink).catch((error: unknown) => error);
    expect(isDeadmanError(refused, 'transport-unavailable')).toBe(true);
  });
});
