import { SequenceIds } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeDeath, decodeTicket, encodeDeath, encodeTicket } from './ticket-codec.js';

const ids = new SequenceIds();
const uuid = ids.timeOrdered();
const bytes = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

describe('tickets on the wire', () => {
  it('are read as they were written', () => {
    const jobIds = Array.from({ length: 500 }, () => ids.timeOrdered());
    expect(decodeTicket(bytes(encodeTicket(jobIds)))).toEqual({ kind: 'ticket', jobIds, notUuids: 0 });
  });

  it('are written in this form, which releases before and after this one read', () => {
    expect(encodeTicket([uuid])).toBe(`{"v":1,"ids":["${uuid}"]}`);
  });

  it('may carry members that a later release added', () => {
    expect(decodeTicket(bytes({ v: 1, ids: [uuid], trace: 'x' }))).toMatchObject({ kind: 'ticket', jobIds: [uuid] });
  });

  it('lose what is not a uuid, and say how much', () => {
    const decoded = decodeTicket(bytes({ v: 1, ids: ['1; DROP TABLE jobs', uuid, 7, null, uuid.toUpperCase(), {}] }));
    expect(decoded).toEqual({ kind: 'ticket', jobIds: [uuid], notUuids: 5 });
  });

  it.each([
    ['nothing at all', null, 'no-value'],
    ['no bytes', Buffer.alloc(0), 'no-value'],
    ['2 MB', Buffer.alloc(2 * 1024 * 1024, 0x61), 'too-large'],
    ['half an object', bytes('{'), 'not-json'],
    ['bytes of no text', Buffer.from([0xff, 0xfe, 0x00]), 'not-json'],
    ['null', bytes('null'), 'shape'],
    ['a number', bytes('7'), 'shape'],
    ['a list', bytes([uuid]), 'shape'],
    ['a version of the future', bytes({ v: 2, ids: [uuid] }), 'version'],
    ['a version before the first', bytes({ v: 0, ids: [uuid] }), 'version'],
    ['a version that is text', bytes({ v: '1', ids: [uuid] }), 'version'],
    ['no version', bytes({ ids: [uuid] }), 'version'],
    ['ids that are no list', bytes({ v: 1, ids: uuid }), 'shape'],
    ['no ids', bytes({ v: 1, ids: [] }), 'shape'],
  ])('%s is answered with a reason', (_title, value, reason) => {
    expect(decodeTicket(value)).toEqual({ kind: 'malformed', reason });
  });
});

describe('deaths on the wire', () => {
  it('are read as they were written', () => {
    const death = { jobId: uuid, attempt: 7 };
    expect(encodeDeath(death)).toBe(`{"v":1,"id":"${uuid}","attempt":7}`);
    expect(decodeDeath(bytes(encodeDeath(death)))).toEqual({ kind: 'death', death });
  });

  it.each([
    [null, 'no-value'],
    [bytes('{'), 'not-json'],
    [bytes({ v: 9, id: uuid, attempt: 1 }), 'version'],
    [bytes({ v: 1, id: 'x', attempt: 1 }), 'not-a-uuid'],
    [bytes({ v: 1, id: uuid }), 'shape'],
    [bytes({ v: 1, id: uuid, attempt: 0 }), 'shape'],
    [bytes({ v: 1, id: uuid, attempt: 1.5 }), 'shape'],
    [bytes({ v: 1, id: uuid, attempt: 2 ** 31 }), 'shape'],
  ])('%s is answered with a reason', (value, reason) => {
    expect(decodeDeath(value)).toEqual({ kind: 'malformed', reason });
  });
});

it('no bytes whatever make a reader throw', () => {
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((value) => Buffer.from(value)),
    fc.json().map((value) => Buffer.from(value)),
    fc.record({ v: fc.jsonValue(), ids: fc.jsonValue(), id: fc.jsonValue(), attempt: fc.jsonValue() }).map(bytes),
  );
  fc.assert(
    fc.property(anything, (value) => {
      const ticket = decodeTicket(value);
      expect(['ticket', 'malformed']).toContain(ticket.kind);
      expect(['death', 'malformed']).toContain(decodeDeath(value).kind);
    }),
    { numRuns: 2_000 },
  );
});
