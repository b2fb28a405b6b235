import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readRegressions } from './regression.js';
import { runSafely } from './run-safely.js';

const REGRESSIONS = join(import.meta.dirname, '..', 'regressions');

describe('a schedule', () => {
  it('is the same world for the same seed, whether its story is told or not', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const [once, again] = [await runSafely(seed), await runSafely(seed, true)];
      expect({ seed, hash: again.hash, situations: again.situations }).toEqual({
        seed,
        hash: once.hash,
        situations: once.situations,
      });
    }
  });

  it('is another world for another seed', async () => {
    const hashes = await Promise.all([11, 12].map((seed) => runSafely(seed)));
    expect(hashes[0]!.hash).not.toBe(hashes[1]!.hash);
  });
});

describe('a plan that broke a rule once', () => {
  for (const [file, { plan }] of readRegressions(REGRESSIONS)) {
    it(`keeps it now: ${file}`, async () => {
      expect((await runSafely(plan)).violations).toEqual([]);
    });
  }
});
