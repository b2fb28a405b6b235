import { DeadmanError } from '@deadman/domain';
import type { JobStore, OutboxEntry, Transport } from '@deadman/domain';
import { RecordingEvents } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Publisher } from './publisher.js';

const TICKET: OutboxEntry = { id: 'ticket', kind: 'ready', queue: 'default', jobIds: ['a'] };
const OTHER_TICKET: OutboxEntry = { id: 'other', kind: 'ready', queue: 'mail', jobIds: ['b'] };
const DEATH: OutboxEntry = { id: 'death', kind: 'dead', jobId: 'c', attempt: 3 };

describe('Publisher', () => {
  let events: RecordingEvents;
  let publish: (entries: readonly OutboxEntry[]) => Promise<readonly string[]>;
  let deleteOutbox: (ids: readonly string[]) => Promise<void>;
  let deleted: string[];

  beforeEach(() => {
    events = new RecordingEvents();
    deleted = [];
    publish = async (entries) => entries.map(({ id }) => id);
    deleteOutbox = async (ids) => void deleted.push(...ids);
  });

  function send(entries: readonly OutboxEntry[], by?: 'writer' | 'relay'): Promise<number> {
    const transport = { publish: (all: readonly OutboxEntry[]) => publish(all) } as unknown as Transport;
    const store = { deleteOutbox: (ids: readonly string[]) => deleteOutbox(ids) } as unknown as JobStore;
    return new Publisher({ transport, store, events }).send(entries, by);
  }

  it('deletes the rows of tickets that were acknowledged, and of nothing else', async () => {
    publish = async () => [TICKET.id];
    await expect(send([TICKET, OTHER_TICKET])).resolves.toBe(1);
    expect(deleted).toEqual([TICKET.id]);
    expect(events.all).toEqual([{ kind: 'outbox-sent', by: 'writer', count: 1, failed: 1 }]);
  });

  it('sends deaths and never deletes their rows, acknowledged or not', async () => {
    await expect(send([DEATH, TICKET], 'relay')).resolves.toBe(2);
    expect(deleted).toEqual([TICKET.id]);
    expect(events.all).toEqual([{ kind: 'outbox-sent', by: 'relay', count: 2, failed: 0 }]);
  });

  it('never throws: what cannot be sent stays for the relay', async () => {
    publish = () => Promise.reject(new DeadmanError('transport-unavailable'));
    await expect(send([TICKET])).resolves.toBe(0);
    expect(deleted).toEqual([]);
    expect(events.all).toEqual([{ kind: 'outbox-sent', by: 'writer', count: 0, failed: 1 }]);
  });

  it('never throws when a row that was sent cannot be deleted', async () => {
    const error = new DeadmanError('store-unavailable');
    deleteOutbox = () => Promise.reject(error);
    await expect(send([TICKET])).resolves.toBe(1);
    expect(events.all.at(-1)).toEqual({ kind: 'loop-failed', loop: 'outbox-delete', error });
  });

  it('has nothing to do for no entries', async () => {
    await expect(send([])).resolves.toBe(0);
    expect(events.all).toEqual([]);
  });
});
