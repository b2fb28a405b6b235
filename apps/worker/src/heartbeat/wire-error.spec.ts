import { DeadmanError, isDeadmanError } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { fromWireEvent, toWireEvent } from './wire-error.js';

/** What the other thread gets. */
const carried = (error: unknown): unknown => {
  const event = fromWireEvent(structuredClone(toWireEvent({ kind: 'beat-failed', error })));
  return event.kind === 'beat-failed' ? event.error : undefined;
};

describe('an event that crosses to another thread', () => {
  it('keeps the class, the code, the stack and the causes of its error', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const error = new DeadmanError('store-unavailable', 'away', { cause });
    const arrived = carried(error);
    expect(isDeadmanError(arrived, 'store-unavailable')).toBe(true);
    expect(arrived).toMatchObject({ message: 'away', stack: error.stack, cause: { code: 'ECONNREFUSED' } });
  });

  it('keeps the name of an error that is not ours', () => {
    expect(carried(new TypeError('a bug'))).toMatchObject({ name: 'TypeError', message: 'a bug' });
  });

  it('is carried as it is when it has no error', () => {
    const event = { kind: 'leases-renewed', result: 'renewed', count: 3 } as const;
    expect(fromWireEvent(structuredClone(toWireEvent(event)))).toEqual(event);
    expect(carried('thrown as text')).toBe('thrown as text');
  });

  it('ends a chain of causes that has no end', () => {
    const error = new Error('circular');
    error.cause = error;
    expect(carried(error)).toMatchObject({ message: 'circular', cause: { message: 'circular' } });
  });
});
