import { unstorableReason } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { MAX_RESULT_BYTES, resultText, utf8Bytes } from './attempt-result.js';

const codeOf = (value: unknown): string | null => {
  const result = resultText(value);
  return 'error' in result ? result.error.code : null;
};

describe('resultText', () => {
  it.each([
    [{ ok: true }, '{"ok":true}'],
    [undefined, 'null'],
    [null, 'null'],
    [() => 1, 'null'],
    [Symbol('s'), 'null'],
    ['text', '"text"'],
    [Number.NaN, 'null'],
    [[undefined], '[null]'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ])('stores %p as JSON', (value, text) => {
    expect(resultText(value)).toEqual({ text });
  });

  it('refuses what is circular, a BigInt, or throws while it is written, and says why', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const throwing = {
      toJSON: () => {
        throw new Error('not today');
      },
    };
    expect([circular, { n: 1n }, throwing].map(codeOf)).toEqual(Array.from({ length: 3 }, () => 'result-not-storable'));
    expect(resultText(throwing)).toMatchObject({ error: { message: expect.stringContaining('not today') } });
  });

  it('refuses 20 MB rather than cutting it', () => {
    expect(codeOf('x'.repeat(20_000_000))).toBe('result-too-large');
  });

  it('counts bytes, not characters', () => {
    expect(codeOf('x'.repeat(MAX_RESULT_BYTES - 2))).toBeNull();
    expect(codeOf('x'.repeat(MAX_RESULT_BYTES - 1))).toBe('result-too-large');
    expect(codeOf('€'.repeat(MAX_RESULT_BYTES / 3))).toBe('result-too-large');
  });

  it('writes a NUL and a lone surrogate so that the text can be stored', () => {
    const result = resultText('a\0b\ud800');
    expect('text' in result && unstorableReason(result.text)).toBeNull();
  });
});

describe('utf8Bytes', () => {
  it.each(['', 'abc', 'é', '€', '😀', 'a😀€é', 'ß'.repeat(1_000)])('counts %p as an encoder does', (text) => {
    expect(utf8Bytes(text)).toBe(Buffer.byteLength(text));
  });
});
