import { describe, expect, it } from '@jest/globals';
import { toArrayLiteral, toTimestamp } from './array-literal.js';

describe('toArrayLiteral', () => {
  it('writes numbers and truth values bare, texts quoted, and null as NULL', () => {
    expect(toArrayLiteral([1, -2.5, true, null, 'NULL', ''])).toBe('{1,-2.5,true,NULL,"NULL",""}');
    expect(toArrayLiteral([])).toBe('{}');
  });

  it('escapes what would end or change a text', () => {
    expect(toArrayLiteral(['a"b', 'c\\d', '{e,f}'])).toBe('{"a\\"b","c\\\\d","{e,f}"}');
  });

  it('writes an element that repeats its neighbour as often as it is there, and one that differs by type alone anew', () => {
    expect(toArrayLiteral(['a"', 'a"', 'b', 'a"', null, null])).toBe('{"a\\"","a\\"","b","a\\"",NULL,NULL}');
    expect(toArrayLiteral([1, '1', true, 'true'])).toBe('{1,"1",true,"true"}');
  });

  it('nests', () => {
    expect(toArrayLiteral([toArrayLiteral(['a"', 'b'])])).toBe('{"{\\"a\\\\\\"\\",\\"b\\"}"}');
  });
});

describe('toTimestamp', () => {
  it('writes years beyond 9999 as PostgreSQL does, and takes what it does not know for the beginning of time', () => {
    expect(toTimestamp(new Date('2026-11-29T10:00:00.123Z'))).toBe('2026-11-29T10:00:00.123Z');
    expect(toTimestamp(new Date(Date.UTC(12_345, 0, 1)))).toBe('12345-01-01T00:00:00.000Z');
    expect(toTimestamp(new Date(-1e15))).toBe('-infinity');
  });

  it('throws on an instant that is none', () => {
    expect(() => toTimestamp(new Date(NaN))).toThrow(RangeError);
  });
});
