import { describe, expect, it } from '@jest/globals';
import { DEFAULT_LIMITS, quarantineDelayMs } from './job-limits.js';

describe('quarantineDelayMs', () => {
  it('starts at a second with the seventh lapse and doubles to a minute', () => {
    const delays = [7, 8, 9, 10, 11, 12, 13, 14].map((lapses) => quarantineDelayMs(lapses, DEFAULT_LIMITS));
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('stays at its longest however many lapses there were', () => {
    expect(quarantineDelayMs(Number.MAX_SAFE_INTEGER, DEFAULT_LIMITS)).toBe(60_000);
  });
});
