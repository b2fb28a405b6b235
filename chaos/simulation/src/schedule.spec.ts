import { describe, expect, it } from '@jest/globals';
import { runSeed } from './schedule.js';

const SEEDS = Array.from({ length: 50 }, (_, index) => index + 1);

describe('the protocol under fifty seeded schedules of faults', () => {
  it('keeps every accepted job, gives each attempt one outcome, and ends everything once the faults are over', async () => {
    for (const seed of SEEDS) {
      const { violations } = await runSeed(seed);
      expect({ seed, violations }).toEqual({ seed, violations: [] });
    }
  });

  it('is the same world for the same seed', async () => {
    for (const seed of SEEDS.slice(0, 5)) {
      const [once, again] = [await runSeed(seed), await runSeed(seed)];
      expect(again.hash).toBe(once.hash);
    }
  });
});
