import { describe, expect, it } from '@jest/globals';
import { types } from 'pg';
import { TYPE_PARSERS } from './timestamp-parser.js';

const TIMESTAMPTZ = 1184;
const parse = TYPE_PARSERS.getTypeParser(TIMESTAMPTZ, 'text') as (text: string) => Date | number;

describe('the parser of instants', () => {
  it.each([
    ['2026-11-29 19:00:00.123+00', '2026-11-29T19:00:00.123Z'],
    ['2026-11-29 19:00:00+00', '2026-11-29T19:00:00.000Z'],
    ['0001-01-01 00:00:00+00', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31 23:59:59.999+00', '9999-12-31T23:59:59.999Z'],
    ['12345-01-01 00:00:00+00', '+012345-01-01T00:00:00.000Z'],
    ['0044-03-15 12:00:00+00 BC', '-000043-03-15T12:00:00.000Z'],
    ['2026-11-29 20:30:00+01:30', '2026-11-29T19:00:00.000Z'],
  ])('reads %s', (text, expected) => {
    expect((parse(text) as Date).toISOString()).toBe(expected);
  });

  it('gives each reader of the same text a date of its own', () => {
    const [one, other] = [parse('2026-11-29 19:00:00.123+00') as Date, parse('2026-11-29 19:00:00.123+00') as Date];
    one.setTime(0);
    expect(other.toISOString()).toBe('2026-11-29T19:00:00.123Z');
    expect((parse('2026-11-29 19:00:00.123+00') as Date).toISOString()).toBe('2026-11-29T19:00:00.123Z');
  });

  it('reads what is no instant as the driver does', () => {
    expect(parse('infinity')).toBe(Infinity);
  });

  it('leaves all other types to the driver', () => {
    const { INT4, TEXT, JSONB } = types.builtins;
    for (const oid of [INT4, TEXT, JSONB]) {
      expect(TYPE_PARSERS.getTypeParser(oid, 'text')).toBe(types.getTypeParser(oid, 'text'));
    }
  });
});
