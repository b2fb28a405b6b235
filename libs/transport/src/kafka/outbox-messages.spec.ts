import { SequenceIds } from '@deadman/testing';
import type { OutboxEntry } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { toMessages } from './outbox-messages.js';
import { partitionOf } from './partitioner.js';
import { decodeDeath, decodeTicket } from './ticket-codec.js';
import { TopicNames } from './topic-names.js';

const names = new TopicNames();

describe('toMessages', () => {
  const ids = new SequenceIds();
  const ready = (jobs: number, queue = 'default'): OutboxEntry & { kind: 'ready' } => ({
    id: ids.timeOrdered(),
    kind: 'ready',
    queue,
    jobIds: Array.from({ length: jobs }, () => ids.timeOrdered()),
  });

  it('makes a micro-batch of 500 jobs a dozen messages, each with the jobs of its own partition and its first id as key', () => {
    const entry = ready(500);
    const messages = toMessages([entry], names, 12).get('jobs.ready') ?? [];
    expect(messages.length).toBe(12);
    const found = messages.flatMap(({ partition, key, value }) => {
      const ticket = decodeTicket(Buffer.from(value as string));
      if (ticket.kind !== 'ticket') throw new Error(ticket.reason);
      expect(key).toBe(ticket.jobIds[0]);
      expect(new Set(ticket.jobIds.map((jobId) => partitionOf(jobId, 12)))).toEqual(new Set([partition]));
      return ticket.jobIds;
    });
    expect(found.toSorted()).toEqual(entry.jobIds.toSorted());
  });

  it('lets small rows of one queue share messages, and keeps queues apart', () => {
    const entries = [...Array.from({ length: 200 }, () => ready(1)), ready(3, 'mail')];
    const messages = toMessages(entries, names, 12);
    expect([...messages.keys()]).toEqual(['jobs.ready', 'jobs.ready.mail']);
    expect(messages.get('jobs.ready')!.length).toBeLessThanOrEqual(12 * 2);
  });

  it('caps the ids of a message', () => {
    const messages = toMessages([ready(450)], names, 1).get('jobs.ready') ?? [];
    const sizes = messages.map(({ value }) => {
      const ticket = decodeTicket(Buffer.from(value as string));
      return ticket.kind === 'ticket' ? ticket.jobIds.length : 0;
    });
    expect(sizes).toEqual([100, 100, 100, 100, 50]);
  });

  it('names a job once, however many rows do', () => {
    const entry = ready(5);
    const messages = toMessages([entry, { ...entry, id: ids.timeOrdered() }], names, 1).get('jobs.ready') ?? [];
    expect(decodeTicket(Buffer.from(messages[0]!.value as string))).toMatchObject({ jobIds: entry.jobIds });
  });

  it('sends each death alone, on the partition of its job', () => {
    const jobIds = [ids.timeOrdered(), ids.timeOrdered()];
    const entries = jobIds.map((jobId, index): OutboxEntry => ({
      id: ids.timeOrdered(),
      kind: 'dead',
      jobId,
      attempt: index + 1,
    }));
    const messages = toMessages(entries, names, 12).get('jobs.dead') ?? [];
    expect(messages.map(({ partition }) => partition)).toEqual(jobIds.map((jobId) => partitionOf(jobId, 12)));
    expect(messages.map(({ value }) => decodeDeath(Buffer.from(value as string)))).toEqual(
      jobIds.map((jobId, index) => ({ kind: 'death', death: { jobId, attempt: index + 1 } })),
    );
  });

  it('sends nothing for a row that names no job', () => {
    expect(toMessages([ready(0)], names, 12).size).toBe(0);
  });
});
