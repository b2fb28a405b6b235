import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toStorableText, unstorableReason } from './storable-text.js';

describe('unstorableReason', () => {
  it.each([
    ['', null],
    ['plain', null],
    ['héllo, 世界, \u{1f600}, \u202eright to left', null],
    ['\\u0000 as an escape of JSON text', null],
    ['a\0b', 'nul'],
    ['\ud83d', 'lone-surrogate'],
    ['a\ude00b', 'lone-surrogate'],
    ['\ude00\ud83d in the wrong order', 'lone-surrogate'],
  ] as const)('%j: %s', (text, expected) => {
    expect(unstorableReason(text)).toBe(expected);
  });
});

describe('toStorableText', () => {
  it('keeps what can be stored', () => {
    expect(toStorableText('héllo \u{1f600}', 100)).toBe('héllo \u{1f600}');
  });

  it('shows a replacement character where something could not be stored', () => {
    expect(toStorableText('a\0b\ud83dc', 100)).toBe('a\ufffdb\ufffdc');
  });

  it('never cuts a character in half', () => {
    expect(toStorableText('ab\u{1f600}', 3)).toBe('ab\ufffd');
  });

  it('is storable and within its length, whatever it was given', () => {
    const anyText = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
    fc.assert(
      fc.property(anyText, fc.nat({ max: 50 }), (text, maxLength) => {
        const stored = toStorableText(text, maxLength);
        expect(unstorableReason(stored)).toBeNull();
        expect(stored.length).toBeLessThanOrEqual(maxLength);
      }),
    );
  });
});
