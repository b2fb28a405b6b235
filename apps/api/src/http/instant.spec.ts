import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseInstant } from './instant.js';

describe('parseInstant', () => {
  it('reads what toISOString writes', () => {
    const range = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true };
    fc.assert(
      fc.property(fc.date(range), (date) => {
        expect(parseInstant(date.toISOString())).toEqual(date);
      }),
      { seed: 1 },
    );
  });

  it.each([
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29t23:59:59.9z', '2000-02-29T23:59:59.900Z'],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00.000Z'],
    ['2026-01-01T00:00:00.123456789+00:00', '2026-01-01T00:00:00.123Z'],
    ['0050-01-01T00:00:00Z', '0050-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00-00:00', '2026-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseInstant(text)?.toISOString()).toBe(iso);
  });

  it.each([
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+00:60',
    '2026-01-01T00:00:00+0000',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00.Z',
    '+002026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z ',
    '2026-W01-1T00:00:00Z',
    '',
  ])('"%s" is none', (text) => {
    expect(parseInstant(text)).toBeNull();
  });
});
