import { FakeClock, settle } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Pulse } from './pulse.js';

describe('Pulse', () => {
  let clock: FakeClock;
  let pulse: Pulse;
  let stop: AbortController;
  let isWoken: boolean;

  beforeEach(() => {
    clock = new FakeClock();
    pulse = new Pulse();
    stop = new AbortController();
    isWoken = false;
  });

  const wait = (): Promise<void> => pulse.wait(1_000, clock, stop.signal).then(() => void (isWoken = true));

  it('wakes whoever waits, and leaves no timer behind', async () => {
    const waiting = wait();
    await settle();
    expect(isWoken).toBe(false);
    pulse.beat();
    await waiting;
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps beats that nobody waited for as one', async () => {
    pulse.beat();
    pulse.beat();
    await wait();
    isWoken = false;
    void wait();
    await settle();
    expect(isWoken).toBe(false);
    pulse.beat();
  });

  it('wakes after the longest wait without a beat', async () => {
    void wait();
    await clock.advance(999);
    expect(isWoken).toBe(false);
    await clock.advance(1);
    expect(isWoken).toBe(true);
  });

  it('waits for nobody who was told to stop', async () => {
    const waiting = wait();
    stop.abort();
    await waiting;
    await wait();
    expect(clock.pendingTimers).toBe(0);
  });
});
