import { SeededRandom } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { SortedSet } from './sorted-set.js';

const SEED = 20_261_129;

describe('SortedSet', () => {
  it('stays in order, whatever is added and deleted', () => {
    const random = new SeededRandom(SEED);
    const set = new SortedSet<number>((a, b) => a - b);
    const model = new Set<number>();
    for (let step = 0; step < 2_000; step += 1) {
      const item = Math.floor(random.next() * 500);
      if (model.delete(item)) set.delete(item);
      else set.add([...model.add(item)].at(-1)!);
    }
    const expected = [...model].toSorted((a, b) => a - b);
    expect([...set.ascending()]).toEqual(expected);
    expect([...set.descending()]).toEqual(expected.toReversed());
    expect(set.size).toBe(model.size);
  });

  it('does nothing when asked to delete what it does not hold', () => {
    const set = new SortedSet<number>((a, b) => a - b);
    set.delete(1);
    set.add(2);
    set.delete(1);
    set.delete(3);
    expect([...set.ascending()]).toEqual([2]);
  });
});
