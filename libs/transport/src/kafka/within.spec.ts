import { deferred, FakeClock } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { TookTooLong, within } from './within.js';

const LIMIT_MS = 1_000;

/** What became of the wait; null while it goes on. */
function watched(clock: FakeClock, work: Promise<string>): () => unknown {
  let outcome: unknown = null;
  within(clock, LIMIT_MS, 'The look', work).then(
    (value) => (outcome = value),
    (error: unknown) => (outcome = error),
  );
  return () => outcome;
}

describe('within', () => {
  it('returns what the work returns, and leaves no timer behind', async () => {
    const clock = new FakeClock();
    const outcome = watched(clock, Promise.resolve('done'));
    await clock.advance(0);
    expect(outcome()).toBe('done');
    expect(clock.pendingTimers).toBe(0);
  });

  it('throws once the limit has passed, and not before', async () => {
    const clock = new FakeClock();
    const outcome = watched(clock, deferred<string>().promise);
    await clock.advance(LIMIT_MS - 1);
    expect(outcome()).toBeNull();
    await clock.advance(1);
    expect(outcome()).toBeInstanceOf(TookTooLong);
  });

  it('leaves work its time after a stall of this thread, in which no answer could be read', async () => {
    const clock = new FakeClock();
    const answer = deferred<string>();
    const outcome = watched(clock, answer.promise);
    await clock.advance(0);
    clock.stall(20 * LIMIT_MS);
    await clock.advance(0);
    expect(outcome()).toBeNull();
    answer.resolve('answered');
    await clock.advance(0);
    expect(outcome()).toBe('answered');
  });

  it('throws after a stall, too, when no answer comes', async () => {
    const clock = new FakeClock();
    const outcome = watched(clock, deferred<string>().promise);
    await clock.advance(0);
    clock.stall(20 * LIMIT_MS);
    await clock.advance(LIMIT_MS);
    expect(outcome()).toBeInstanceOf(TookTooLong);
  });
});
