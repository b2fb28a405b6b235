import { isUuid } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { SystemClock } from './system-clock.js';
import { SystemIds } from './system-ids.js';
import { SystemRandom } from './system-random.js';

describe('SystemClock', () => {
  it('calls back once, not before the time by its own monotonic clock', async () => {
    const clock = new SystemClock();
    const startedMs = clock.monotonicMs();
    await clock.sleep(20);
    // Node rounds timers to whole milliseconds, so that one may fire a fraction early.
    expect(clock.monotonicMs() - startedMs).toBeGreaterThanOrEqual(19);
  });

  it('never calls back after a cancel', async () => {
    const clock = new SystemClock();
    let hasFired = false;
    clock.setTimer(0, () => (hasFired = true)).cancel();
    await clock.sleep(20);
    expect(hasFired).toBe(false);
  });

  it('wakes a sleeper whose signal is aborted', async () => {
    const aborter = new AbortController();
    const slept = new SystemClock().sleep(2 ** 31 - 1, aborter.signal);
    aborter.abort();
    await expect(slept).resolves.toBeUndefined();
  });

  it.each([-1, Number.NaN, 2 ** 31])('refuses to wait %p ms instead of firing at once', (delayMs) => {
    expect(() => new SystemClock().setTimer(delayMs, () => {})).toThrow(RangeError);
  });
});

describe('SystemIds', () => {
  it('makes uuids in the one spelling of this system: version 7 sorted as made, version 4 at random', () => {
    const ids = new SystemIds();
    const ordered = Array.from({ length: 1_000 }, () => ids.timeOrdered());
    expect(ordered.toSorted()).toEqual(ordered);
    expect(new Set(ordered).size).toBe(1_000);
    expect([ordered[0]!, ids.random()].map((id) => Number(id[14]))).toEqual([7, 4]);
    expect([ordered[0]!, ids.random()].every(isUuid)).toBe(true);
  });
});

describe('SystemRandom', () => {
  it('stays in [0, 1)', () => {
    const random = new SystemRandom();
    for (let draw = 0; draw < 1_000; draw += 1) {
      const value = random.next();
      expect(value >= 0 && value < 1).toBe(true);
    }
  });
});
