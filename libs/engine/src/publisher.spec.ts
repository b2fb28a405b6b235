import { DeadmanError } from '@deadman/domain';
import type { JobStore, OutboxEntry, Transport } from '@deadman/domain';
import { FakeClock, RecordingEvents, settle } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Publisher } from './publisher.js';

const TICKET: OutboxEntry = { id: 'ticket', kind: 'ready', queue: 'default', jobIds: ['a'] };
const OTHER_TICKET: OutboxEntry = { id: 'other', kind: 'ready', queue: 'mail', jobIds: ['b'] };
const DEATH: OutboxEntry = { id: 'death', kind: 'dead', jobId: 'c', attempt: 3 };

describe('Publisher', () => {
  let events: RecordingEvents;
  let clock: FakeClock;
  let publisher: Publisher;
  let publish: (entries: readonly OutboxEntry[]) => Promise<readonly string[]>;
  let deleteOutbox: (ids: readonly string[]) => Promise<void>;
  /** What each statement deleted. */
  let deleted: (readonly string[])[];

  beforeEach(() => {
    events = new RecordingEvents();
    deleted = [];
    publish = async (entries) => entries.map(({ id }) => id);
    deleteOutbox = async (ids) => void deleted.push(ids);
    const transport = { publish: (all: readonly OutboxEntry[]) => publish(all) } as unknown as Transport;
    const store = { deleteOutbox: (ids: readonly string[]) => deleteOutbox(ids) } as unknown as JobStore;
    clock = new FakeClock();
    publisher = new Publisher({ transport, store, clock, events });
  });

  const ticket = (id: string): OutboxEntry => ({ ...TICKET, id });

  it('deletes the rows of tickets that were acknowledged, and of nothing else', async () => {
    publish = async () => [TICKET.id];
    await expect(publisher.send([TICKET, OTHER_TICKET])).resolves.toBe(1);
    await publisher.flush();
    expect(deleted).toEqual([[TICKET.id]]);
    expect(events.all).toEqual([{ kind: 'outbox-sent', by: 'writer', count: 1, failed: 1 }]);
  });

  it('sends deaths and never deletes their rows, acknowledged or not', async () => {
    await expect(publisher.send([DEATH, TICKET], 'relay')).resolves.toBe(2);
    await publisher.flush();
    expect(deleted).toEqual([[TICKET.id]]);
    expect(events.all).toEqual([{ kind: 'outbox-sent', by: 'relay', count: 2, failed: 0 }]);
  });

  it('never throws: what cannot be sent stays for the relay', async () => {
    publish = () => Promise.reject(new DeadmanError('transport-unavailable'));
    await expect(publisher.send([TICKET])).resolves.toBe(0);
    await publisher.flush();
    expect(deleted).toEqual([]);
    expect(events.all).toEqual([{ kind: 'outbox-sent', by: 'writer', count: 0, failed: 1 }]);
  });

  it('never throws when a row that was sent cannot be deleted', async () => {
    const error = new DeadmanError('store-unavailable');
    deleteOutbox = () => Promise.reject(error);
    await expect(publisher.send([TICKET])).resolves.toBe(1);
    await publisher.flush();
    expect(events.all.at(-1)).toEqual({ kind: 'loop-failed', loop: 'outbox-delete', error });
  });

  it('deletes in one statement what several sends had, 50 ms after the first of them', async () => {
    await publisher.send([ticket('a')]);
    await clock.advance(30);
    await publisher.send([ticket('b'), DEATH]);
    await clock.advance(19);
    expect(deleted).toEqual([]);
    await clock.advance(1);
    expect(deleted).toEqual([['a', 'b']]);
    await publisher.send([ticket('c')]);
    await clock.advance(50);
    expect(deleted).toEqual([['a', 'b'], ['c']]);
  });

  it('waits for no more rows than a statement takes well', async () => {
    const many = Array.from({ length: 500 }, (_, index) => ticket(`t${index}`));
    await publisher.send(many);
    await settle();
    expect(deleted).toEqual([many.map(({ id }) => id)]);
  });

  it('flushes what waits and what is being deleted, for whoever stops', async () => {
    const undeleted: (() => void)[] = [];
    deleteOutbox = (ids) => new Promise<void>((resolve) => undeleted.push(resolve)).then(() => void deleted.push(ids));
    await publisher.send([ticket('a')]);
    await clock.advance(50);
    await publisher.send([ticket('b')]);
    let isFlushed = false;
    const flushed = publisher.flush().then(() => (isFlushed = true));
    await settle();
    undeleted[1]!();
    await settle();
    expect(isFlushed).toBe(false);
    undeleted[0]!();
    await flushed;
    expect(deleted).toEqual([['b'], ['a']]);
  });

  it('has nothing to do for no entries', async () => {
    await expect(publisher.send([])).resolves.toBe(0);
    await publisher.flush();
    expect(events.all).toEqual([]);
  });
});
