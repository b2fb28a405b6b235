import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson } from './canonical-json.js';
import { depthOf, elementsOf, endOfValue, membersOf, skipSpace } from './json-text.js';
import { findUnstorable } from './unstorable-text.js';

/** JSON text as clients write it: any white space, any spelling of numbers, any escapes. */
const space = fc.array(fc.constantFrom(' ', '\n', '\t', '\r'), { maxLength: 2 }).map((parts) => parts.join(''));
const scalar = fc.oneof(
  fc.constantFrom('null', 'true', 'false', '0', '-0', '1.10', '1e400', '-1E+2', '12345678901234567890', '""'),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\\\"', '"\\""', '"\\\\\\""', '"[{,:}]"', '"\\u0041"', '"\\/"'),
);
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc
      .tuple(fc.array(tie('json'), { maxLength: 4 }), space)
      .map(([items, gap]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
    fc
      .tuple(
        fc.array(
          fc.tuple(
            fc.string().map((name) => JSON.stringify(name)),
            tie('json'),
          ),
          { maxLength: 4 },
        ),
        space,
      )
      .map(
        ([members, gap]) =>
          `{${gap}${members.map(([name, value]) => `${name}${gap}:${gap}${value}`).join(`${gap},${gap}`)}${gap}}`,
      ),
  ),
}));

const RUNS = { seed: 20_261_129, numRuns: 500 };

describe('JSON text', () => {
  it('the end of a value is where the value ends', () => {
    fc.assert(
      fc.property(json, space, fc.constantFrom('', ',', ']', '}'), (text, gap, next) => {
        expect(endOfValue(`${text}${gap}${next}`, 0)).toBe(text.length);
      }),
      RUNS,
    );
  });

  it('members and elements are those that JSON.parse sees, at the texts they came from', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ unit: 'binary' }), json), { maxLength: 5 }), space, (entries, gap) => {
        const object = `{${gap}${entries.map(([name, value]) => `${JSON.stringify(name)}${gap}:${value}${gap}`).join(`,${gap}`)}}`;
        expect(membersOf(object, 0).map(({ name, start, end }) => [name, object.slice(start, end)])).toEqual(entries);
        const array = `${gap}[${entries.map(([, value]) => `${gap}${value}${gap}`).join()}]`;
        const at = skipSpace(array, 0);
        expect(elementsOf(array, at).map((start) => array.slice(start, endOfValue(array, start)))).toEqual(
          entries.map(([, value]) => value),
        );
      }),
      RUNS,
    );
  });

  it.each([
    ['1', 0],
    ['"[[["', 0],
    ['[]', 1],
    ['{"a":[{"b":[]}],"c":[]}', 4],
    ['["\\"[", [[]]]', 3],
  ])('%s is %d deep', (text, depth) => {
    expect(depthOf(text)).toBe(depth);
  });
});

describe('canonical JSON', () => {
  it('says the same thing', () => {
    fc.assert(
      fc.property(json, (text) => {
        expect(JSON.parse(canonicalJson(text))).toEqual(JSON.parse(text));
      }),
      RUNS,
    );
  });

  it('is the same however the text is spaced and ordered', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(canonicalJson(JSON.stringify(reversed(value), null, 3))).toBe(canonicalJson(text));
        expect(canonicalJson(` ${canonicalJson(text)}\n`)).toBe(canonicalJson(text));
      }),
      RUNS,
    );
  });

  it.each([
    ['1.10', '1.1'],
    ['9007199254740993', '9007199254740992'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"a":1,"a":2}', '{"a":2,"a":1}'],
    ['[1,2]', '[2,1]'],
    ['"1"', '1'],
  ])('%s and %s differ', (left, right) => {
    expect(canonicalJson(left)).not.toBe(canonicalJson(right));
  });

  it('escapes do not matter', () => {
    expect(canonicalJson('{"\\u0061":"\\/\\u00e9"}')).toBe(canonicalJson('{"a":"/é"}'));
  });
});

describe('a text of 256 KiB, 100 levels deep', () => {
  const inner = `[${Array.from({ length: 20_000 }, () => '"\\u0041"').join()}]`;
  const deep = `${'{"a":'.repeat(99)}${inner}${'}'.repeat(99)}`;

  it('is walked once, not once for each level', () => {
    const shallow = elapsed(() => canonicalJson(inner)) + elapsed(() => findUnstorable(inner, ''));
    const nested = elapsed(() => canonicalJson(deep)) + elapsed(() => findUnstorable(deep, ''));
    expect(nested).toBeLessThan(20 * shallow);
  });
});

describe('findUnstorable', () => {
  it('finds what PostgreSQL cannot store, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 }), (texts) => {
        const escaped = texts.map(
          (text) =>
            `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`,
        );
        const wanted = texts.flatMap((text, index) =>
          text.includes('\0') || !text.isWellFormed() ? [`/p/${index}`] : [],
        );
        expect(findUnstorable(`[${escaped.join()}]`, '/p').map(({ pointer }) => pointer)).toEqual(wanted);
      }),
      RUNS,
    );
  });

  it('stops at twenty', () => {
    expect(findUnstorable(`[${Array.from({ length: 50 }, () => '"\\u0000"').join()}]`, '')).toHaveLength(20);
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, inner]) => [name, reversed(inner)]),
  );
}

/** The fastest of five, in milliseconds: whatever disturbs a run makes it longer. */
function elapsed(act: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    act();
    return performance.now() - start;
  });
  return Math.min(...times);
}
