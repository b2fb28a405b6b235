import type { Ticket } from '@deadman/domain';
import { RecordingEvents, SequenceIds } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { TicketQueue } from './ticket-queue.js';

describe('TicketQueue', () => {
  let ids: SequenceIds;
  let events: RecordingEvents;
  let offers: number;
  let queue: TicketQueue;
  let done: string[];

  beforeEach(() => {
    ids = new SequenceIds();
    events = new RecordingEvents();
    offers = 0;
    done = [];
    queue = queueOf(10);
  });

  function queueOf(capacity: number): TicketQueue {
    return new TicketQueue(capacity, events, () => (offers += 1));
  }

  const aTicket = (...jobIds: readonly string[]): Ticket => ({
    queue: 'default',
    jobIds,
    claimed: () => undefined,
    done: (jobId) => void done.push(jobId),
  });
  const newIds = (count: number): string[] => Array.from({ length: count }, () => ids.timeOrdered());
  const taken = (count: number): string[] => queue.take(count).map(({ jobId }) => jobId);

  async function hasResolved(promise: Promise<void>): Promise<boolean> {
    return Promise.race([promise.then(() => true), Promise.resolve().then(() => Promise.resolve(false))]);
  }

  it('gives out the oldest jobs first, each once, and tells the claimer of every offer', () => {
    const [a, b, c] = newIds(3) as [string, string, string];
    expect(queue.offer([aTicket(a, b), aTicket(c)])).toBe(true);
    expect(offers).toBe(1);
    expect(taken(2)).toEqual([a, b]);
    expect(taken(2)).toEqual([c]);
    expect(done).toEqual([]);
  });

  it('names a job once however many tickets do, with all of them', () => {
    const [a] = newIds(1) as [string];
    queue.offer([aTicket(a), aTicket(a)]);
    expect(queue.size).toBe(1);
    expect(queue.take(10)[0]!.tickets).toHaveLength(2);
    expect(events.of('tickets-handled')).toEqual([{ kind: 'tickets-handled', result: 'duplicate', count: 1 }]);
  });

  it.each(['', '{', '../x', '__proto__', 'x'.repeat(2_000_000), '0199-not-a-uuid', "'; DROP TABLE jobs"])(
    'drops what is not a uuid before it reaches SQL, and its offset moves',
    (malformed) => {
      const [a] = newIds(1) as [string];
      expect(queue.offer([aTicket(malformed, a)])).toBe(true);
      expect(done).toEqual([malformed]);
      expect(taken(10)).toEqual([a]);
      expect(events.of('tickets-handled')).toEqual([{ kind: 'tickets-handled', result: 'malformed', count: 1 }]);
    },
  );

  it('refuses everything while it is full, takes a ticket whole while there is any room', () => {
    queue = queueOf(2);
    expect(queue.offer([aTicket(...newIds(1))])).toBe(true);
    expect(queue.offer([aTicket(...newIds(5))])).toBe(true);
    expect(queue.offer([aTicket(...newIds(1))])).toBe(false);
    expect(queue.size).toBe(6);
    expect(offers).toBe(2);
  });

  it('is filled by a job that is delivered over and over, so that a repeated topic cannot fill the memory', () => {
    queue = queueOf(3);
    const [a] = newIds(1) as [string];
    for (let copy = 0; copy < 3; copy += 1) expect(queue.offer([aTicket(a)])).toBe(true);
    expect(queue.offer([aTicket(a)])).toBe(false);
    queue.take(1);
    expect(queue.offer([aTicket(a)])).toBe(true);
  });

  it('tells of room as soon as something was taken', async () => {
    queue = queueOf(2);
    await queue.whenRoom();
    queue.offer([aTicket(...newIds(3))]);
    const room = queue.whenRoom();
    queue.take(1);
    expect(await hasResolved(room)).toBe(false);
    queue.take(1);
    await room;
  });

  it('keeps jobs that were put back, together with the tickets that came meanwhile', () => {
    const [a, b] = newIds(2) as [string, string];
    queue.offer([aTicket(a, b)]);
    const jobs = queue.take(1);
    queue.offer([aTicket(a)]);
    queue.putBack(jobs);
    const all = queue.take(10);
    expect(all.map(({ jobId }) => jobId).toSorted()).toEqual([a, b]);
    expect(all.find(({ jobId }) => jobId === a)!.tickets).toHaveLength(2);
    expect(queue.offer([aTicket(...newIds(10))])).toBe(true);
  });

  it('is as full of jobs that were put back as it was before, however often claims fail', () => {
    queue = queueOf(3);
    queue.offer([aTicket(...newIds(3))]);
    for (let claim = 0; claim < 3; claim += 1) {
      queue.putBack(queue.take(3));
      expect(queue.offer([aTicket(...newIds(1))])).toBe(false);
    }
    queue.take(1);
    expect(queue.offer([aTicket(...newIds(1))])).toBe(true);
  });

  it('forgets what waits when it closes, without saying that it was done, and lets nobody wait for room', async () => {
    queue = queueOf(1);
    const [a] = newIds(1) as [string];
    queue.offer([aTicket(a)]);
    const jobs = queue.take(1);
    queue.offer([aTicket(...newIds(1))]);
    const room = queue.whenRoom();
    queue.close();
    await room;
    queue.putBack(jobs);
    expect(queue.size).toBe(0);
    expect(done).toEqual([]);
    expect(queue.offer([aTicket(a)])).toBe(false);
    await queue.whenRoom();
  });
});
