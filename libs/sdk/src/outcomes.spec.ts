import { describe, expect, it } from '@jest/globals';
import { OUTCOME } from '@deadman/domain';
import { cancel, dead, done, MAX_SNOOZE_SECONDS, snooze } from './outcomes.js';

describe('outcomes', () => {
  it('done: carries its result, and null without one', () => {
    expect(done({ sent: 3 })).toEqual({ [OUTCOME]: 'done', result: { sent: 3 } });
    expect(done()).toEqual({ [OUTCOME]: 'done', result: null });
  });

  it('cancel: says nothing but that', () => {
    expect(cancel()).toEqual({ [OUTCOME]: 'cancel' });
  });

  it('snooze: seconds become whole milliseconds, never fewer', () => {
    expect(snooze({ seconds: 90 })).toEqual({ [OUTCOME]: 'snooze', delayMs: 90_000 });
    expect(snooze({ seconds: 0.0001 })).toEqual({ [OUTCOME]: 'snooze', delayMs: 1 });
    expect(snooze({ seconds: 0 })).toEqual({ [OUTCOME]: 'snooze', delayMs: 0 });
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, MAX_SNOOZE_SECONDS + 1, '5', null, undefined, 5n])(
    'snooze: %p seconds are refused',
    (seconds) => {
      expect(() => snooze({ seconds: seconds as number })).toThrow(RangeError);
    },
  );

  it('snooze: no options at all are refused as a number would be', () => {
    expect(() => snooze(undefined as never)).toThrow(RangeError);
  });

  it('dead: an error is kept as it is, a message becomes one that points to the handler', () => {
    const error = new TypeError('no such customer');
    expect(dead(error)).toEqual({ [OUTCOME]: 'dead', error });

    const { error: made } = dead('no such customer');
    expect(made).toBeInstanceOf(Error);
    expect((made as Error).stack?.split('\n')[1]).toContain('outcomes.spec');
  });
});
