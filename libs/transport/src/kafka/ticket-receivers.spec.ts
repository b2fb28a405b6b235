import type { Ticket, TicketSink } from '@deadman/domain';
import { aJob, FakeClock, FixedRandom, RecordingEvents } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { HandlerReceiver } from './handler-receiver.js';
import { MalformedCounter } from './malformed-counter.js';
import type { MessageReceiver } from './message-receiver.js';
import { SinkReceiver } from './sink-receiver.js';
import { encodeTicket } from './ticket-codec.js';
import { TicketReader } from './ticket-reader.js';

const TOPIC = 'jobs.ready';

/** Answers each batch of tickets: whether it takes them. */
type Answer = (tickets: readonly Ticket[]) => boolean;
type MakeReceiver = (answer: Answer, reader: TicketReader, clock: FakeClock) => MessageReceiver;

const toHandler = (handler: (isTaken: boolean) => { whenRoom(): Promise<void> } | null): MakeReceiver => {
  return (answer, reader, clock) =>
    new HandlerReceiver({
      topic: TOPIC,
      reader,
      handler: async (tickets) => handler(answer(tickets)),
      listener: { on: () => {} },
      clock,
      random: new FixedRandom(),
    });
};

const toSink: MakeReceiver = (answer, reader) => {
  const sink: TicketSink = { offer: (tickets) => answer(tickets), whenRoom: async () => {} };
  return new SinkReceiver(reader, sink);
};

describe.each([
  ['a handler that has no room', toHandler((isTaken) => (isTaken ? null : { whenRoom: async () => {} }))],
  [
    'a handler that throws',
    toHandler((isTaken) => {
      if (!isTaken) throw new Error('not now');
      return null;
    }),
  ],
  ['a full queue', toSink],
])('what %s refuses', (_who, makeReceiver) => {
  let isTaking: boolean;
  let offered: string[][];
  let counted: unknown[];
  let accepted: number;
  let receiver: MessageReceiver;

  beforeEach(() => {
    const clock = new FakeClock();
    const events = new RecordingEvents();
    isTaking = false;
    offered = [];
    counted = [];
    accepted = 0;
    const listener = {
      on: (event: object) => void counted.push(event),
    };
    const malformed = new MalformedCounter(TOPIC, events, listener, () => {});
    const answer: Answer = (tickets) => {
      offered.push(tickets.flatMap(({ jobIds }) => jobIds));
      return isTaking;
    };
    receiver = makeReceiver(answer, new TicketReader('default', malformed, clock), clock);
  });

  const take = (...values: readonly string[]): boolean | Promise<boolean> =>
    receiver.take(values.map((value) => ({ value: Buffer.from(value), accept: () => void (accepted += 1) })));

  const malformed = (reason: string, count: number): object => ({
    kind: 'malformed-message',
    topic: TOPIC,
    reason,
    count,
  });

  it('counts as malformed once, when it is taken, however often it came', async () => {
    const { id } = aJob();
    const mixed = encodeTicket([id, 'not a uuid']);
    for (let time = 0; time < 3; time += 1) expect(await take(mixed)).toBe(false);
    expect([accepted, counted]).toEqual([0, []]);
    isTaking = true;
    expect(await take(mixed)).toBe(true);
    expect(offered).toEqual(Array.from({ length: 4 }, () => [id]));
    expect([accepted, counted]).toEqual([1, [malformed('not-a-uuid', 1)]]);
  });

  it('does not bring what means nothing before the tickets that it came with are taken', async () => {
    const [ticket, garbage] = [encodeTicket([aJob().id]), 'garbage'];
    expect(await take(ticket, garbage)).toBe(false);
    expect([accepted, counted]).toEqual([0, []]);
    isTaking = true;
    expect(await take(ticket, garbage)).toBe(true);
    expect([accepted, counted]).toEqual([2, [malformed('not-json', 1)]]);
  });

  it('leaves what means nothing and has nothing to wait for to be done at once', async () => {
    expect(await take('garbage')).toBe(true);
    expect([accepted, offered, counted]).toEqual([1, [], [malformed('not-json', 1)]]);
  });
});
