import { describe, expect, it } from '@jest/globals';
import { FakeClock } from './fake-clock.js';

describe('FakeClock', () => {
  it('fires timers in order of their time, and those of one time in order of their setting', async () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    clock.setTimer(20, () => fired.push('late'));
    clock.setTimer(10, () => fired.push('first of two'));
    clock.setTimer(10, () => fired.push('second of two'));

    await clock.advance(15);
    expect(fired).toEqual(['first of two', 'second of two']);
    await clock.advance(5);
    expect(fired).toEqual(['first of two', 'second of two', 'late']);
  });

  it('moves both clocks, and shows a timer the time it was set for', async () => {
    const clock = new FakeClock(new Date('2026-03-01T12:00:00.000Z'));
    let atMs = -1;
    clock.setTimer(250, () => (atMs = clock.monotonicMs()));

    await clock.advance(1_000);

    expect(atMs).toBe(250);
    expect(clock.monotonicMs()).toBe(1_000);
    expect(clock.now()).toEqual(new Date('2026-03-01T12:00:01.000Z'));
  });

  it('lets promises settle between timers, so that a loop of sleeps runs as often as it should', async () => {
    const clock = new FakeClock();
    let turns = 0;
    const loop = async (): Promise<void> => {
      for (; turns < 5; turns += 1) await clock.sleep(100);
    };
    const ended = loop();

    await clock.advance(350);
    expect(turns).toBe(3);
    await clock.advance(150);
    await ended;
    expect(turns).toBe(5);
  });

  it('never fires a timer that was cancelled', async () => {
    const clock = new FakeClock();
    let hasFired = false;
    clock.setTimer(10, () => (hasFired = true)).cancel();

    await clock.advance(100);

    expect(hasFired).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends a sleep when its signal is aborted, and leaves no timer behind', async () => {
    const clock = new FakeClock();
    const aborter = new AbortController();
    const slept = clock.sleep(1_000, aborter.signal);

    aborter.abort();
    await slept;

    expect(clock.monotonicMs()).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([-1, Number.NaN, 2 ** 31])('refuses to wait %p ms, which a real timer would not do either', (delayMs) => {
    expect(() => new FakeClock().setTimer(delayMs, () => {})).toThrow(RangeError);
  });

  it('stops at the condition it was asked to wait for, and complains when that never holds', async () => {
    const clock = new FakeClock();
    let ticks = 0;
    const tick = (): void => {
      ticks += 1;
      clock.setTimer(10, tick);
    };
    clock.setTimer(10, tick);

    await clock.advanceUntil(() => ticks === 3, 1_000);
    expect(clock.monotonicMs()).toBe(30);
    await expect(clock.advanceUntil(() => ticks === 1_000, 100)).rejects.toThrow('within 100 ms');
  });
});
