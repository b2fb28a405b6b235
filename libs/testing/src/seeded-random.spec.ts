import { describe, expect, it } from '@jest/globals';
import { SeededRandom } from './seeded-random.js';

describe('SeededRandom', () => {
  it('gives the same numbers for the same seed, and others for another', () => {
    const numbers = (seed: number): number[] => {
      const random = new SeededRandom(seed);
      return Array.from({ length: 10 }, () => random.next());
    };
    expect(numbers(7)).toEqual(numbers(7));
    expect(numbers(7)).not.toEqual(numbers(8));
  });

  it('spreads over [0, 1) evenly', () => {
    const random = new SeededRandom(1);
    const buckets = Array.from({ length: 10 }, () => 0);
    for (let draw = 0; draw < 10_000; draw += 1) buckets[Math.floor(random.next() * 10)]! += 1;
    for (const count of buckets) expect(count).toBeGreaterThan(850);
  });

  it('shuffles without losing or inventing anything', () => {
    const items = Array.from({ length: 100 }, (_, index) => index);
    const shuffled = new SeededRandom(3).shuffle(items);
    expect(shuffled).not.toEqual(items);
    expect(shuffled.toSorted((a, b) => a - b)).toEqual(items);
  });
});
