import { unstorableReason } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { attemptError, captureError, MINIMAL_ERROR } from './attempt-error.js';

function errorWith(properties: Readonly<Record<string, unknown>>): Error {
  return Object.assign(new Error('it broke'), properties);
}

function withThrowingGetter(name: string): Error {
  return Object.defineProperty(new Error('it broke'), name, {
    get: () => {
      throw new Error('no looking');
    },
  });
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function chainOf(links: number): Error {
  return links === 0 ? new Error('the root') : new Error(`link ${links}`, { cause: chainOf(links - 1) });
}

describe('captureError', () => {
  it('keeps name, message, code and stack of an error', () => {
    const thrown = errorWith({ code: 'ECONNRESET' });
    expect(captureError(thrown)).toEqual({
      name: 'Error',
      message: 'it broke',
      code: 'ECONNRESET',
      stack: thrown.stack,
      causes: [],
      issues: [],
    });
  });

  it('keeps the chain of causes, nearest first, as far as it can be read', () => {
    const { causes } = captureError(chainOf(2));
    expect(causes).toEqual([
      { name: 'Error', message: 'link 1' },
      { name: 'Error', message: 'the root' },
    ]);
    expect(captureError(chainOf(100)).causes).toHaveLength(5);
  });

  it('ends at a cause that is circular', () => {
    const thrown = new Error('first');
    thrown.cause = new Error('second', { cause: thrown });
    expect(captureError(thrown).causes).toEqual([{ name: 'Error', message: 'second' }]);
  });

  it('counts the errors of an AggregateError as causes', () => {
    const thrown = new AggregateError([new TypeError('one'), 'two', null], 'all of them');
    expect(captureError(thrown).causes).toEqual([
      { name: 'TypeError', message: 'one' },
      { name: 'NonError', message: 'two' },
      { name: 'NonError', message: 'A handler threw null' },
    ]);
  });

  it('ends at a thousand errors, and at an array of errors that cannot be read', () => {
    expect(captureError(new AggregateError(Array.from({ length: 1_000 }, chainOf.bind(null, 1)))).causes).toHaveLength(
      5,
    );
    expect(captureError(errorWith({ errors: revoked() }))).toEqual(MINIMAL_ERROR);
  });

  it.each([
    [null, 'A handler threw null'],
    [undefined, 'A handler threw undefined'],
    ['just text', 'just text'],
    ['', ''],
    [10n ** 30n, `A handler threw ${10n ** 30n}`],
    [Symbol('why'), 'A handler threw Symbol(why)'],
    [Number.NaN, 'A handler threw NaN'],
  ])('says what was thrown when it was no error: %p', (thrown, message) => {
    expect(captureError(thrown)).toMatchObject({ name: 'NonError', message, stack: null });
  });

  it.each(['name', 'message', 'stack', 'code', 'cause', 'errors'])(
    'survives a getter of "%s" that throws',
    (property) => {
      const record = captureError(withThrowingGetter(property));
      expect(record.message).toBe(property === 'message' ? 'The thrown value has no message.' : 'it broke');
      expect(record.name).toBe('Error');
    },
  );

  it('survives a proxy that can no longer be looked at', () => {
    expect(captureError(revoked())).toMatchObject({ name: 'Error', message: 'The thrown value has no message.' });
  });

  it('looks at no other property, circular or BigInt as they may be', () => {
    const thrown = errorWith({ amount: 10n });
    expect(captureError(Object.assign(thrown, { self: thrown }))).toMatchObject({ message: 'it broke', causes: [] });
  });

  it('cuts a message, a stack of 5 MB and a name to what is worth reading', () => {
    const long = 'x'.repeat(5_000_000);
    const record = captureError(errorWith({ name: long, message: long, stack: long, code: long }));
    expect([record.name, record.message, record.stack, record.code].map((text) => text?.length)).toEqual([
      256, 4_096, 8_192, 128,
    ]);
  });

  it('can always be stored: no NUL and no lone surrogate is left, not even by the cut', () => {
    const nasty = 'a\0b\ud800c' + '😀'.repeat(5_000);
    const thrown = errorWith({
      name: nasty,
      message: nasty,
      stack: nasty,
      code: nasty,
      cause: errorWith({ message: nasty }),
    });
    const { name, message, stack, code, causes } = captureError(thrown);
    const texts = [name, message, stack!, code!, causes[0]!.message];
    expect(texts.map(unstorableReason)).toEqual(texts.map(() => null));
    expect(texts.every((text) => text.startsWith('a\ufffdb\ufffdc'))).toBe(true);
  });

  it('keeps a code that is a number, as drivers have', () => {
    expect(captureError(errorWith({ code: 1_205 })).code).toBe('1205');
    expect(captureError(errorWith({ code: { no: 'text' } })).code).toBeNull();
  });
});

describe('attemptError', () => {
  it('can be stored whatever a schema says of a payload, and keeps the first fifty issues', () => {
    const issues = Array.from({ length: 60 }, () => ({ pointer: '/a\0', message: 'bad \ud800' }));
    const error = attemptError('payload-invalid', 'It does not fit.', issues);
    expect(error.issues).toHaveLength(50);
    expect(error.issues[0]).toEqual({ pointer: '/a�', message: 'bad �' });
  });
});
