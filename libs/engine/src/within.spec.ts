import { DeadmanError } from '@deadman/domain';
import { deferred, FakeClock, settle } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { within } from './within.js';

describe('within', () => {
  let clock: FakeClock;

  beforeEach(() => {
    clock = new FakeClock();
  });

  it('hands on an answer that comes in time, and leaves no timer behind', async () => {
    await expect(within(Promise.resolve('yes'), 100, clock)).resolves.toBe('yes');
    await settle();
    expect(clock.pendingTimers).toBe(0);
  });

  it('hands on an error that comes in time', async () => {
    const error = new DeadmanError('store-unavailable');
    await expect(within(Promise.reject(error), 100, clock)).rejects.toBe(error);
    await settle();
    expect(clock.pendingTimers).toBe(0);
  });

  it('says that the outcome is unknown when no answer came, and takes no harm from one that comes later', async () => {
    const call = deferred<string>();
    const outcome = within(call.promise, 100, clock).catch((error: unknown) => error);
    await clock.advance(100);
    await expect(outcome).resolves.toMatchObject({ code: 'unknown-outcome' });
    call.reject(new Error('late'));
    await settle();
  });
});
