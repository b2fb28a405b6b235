import { DeadmanError } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { SeededRandom } from '@deadman/testing';
import { bisect } from './bisect.js';

const rejected = (): DeadmanError => new DeadmanError('data-rejected');

/** An act that refuses a part as soon as one bad item is in it, and notes what it did. */
function actThatRefuses(isBad: (item: number) => boolean): {
  readonly acts: number[][];
  readonly done: number[];
  act(part: readonly number[]): Promise<string[]>;
} {
  const acts: number[][] = [];
  const done: number[] = [];
  const act = async (part: readonly number[]): Promise<string[]> => {
    acts.push([...part]);
    if (part.some(isBad)) throw rejected();
    done.push(...part);
    return part.map((item) => `ok ${item}`);
  };
  return { acts, done, act };
}

describe('bisect', () => {
  it('acts once on a batch that is accepted', async () => {
    const { acts, act } = actThatRefuses(() => false);
    expect(await bisect([1, 2, 3], act, () => 'bad')).toEqual(['ok 1', 'ok 2', 'ok 3']);
    expect(acts).toEqual([[1, 2, 3]]);
  });

  it('does nothing for an empty batch', async () => {
    const { acts, act } = actThatRefuses(() => false);
    expect(await bisect([], act, () => 'bad')).toEqual([]);
    expect(acts).toEqual([]);
  });

  it('answers for the culprits alone, does every other item exactly once, and keeps the order, whatever the batch', async () => {
    const random = SeededRandom.announced('bisect');
    for (let round = 0; round < 200; round += 1) {
      const batch = Array.from({ length: random.integer(1, 40) }, (_, index) => index);
      const bad = new Set(batch.filter(() => random.next() < 0.2));
      const { done, act } = actThatRefuses((item) => bad.has(item));
      const results = await bisect(batch, act, (item, { code }) => `${code} ${item}`);
      expect(results).toEqual(batch.map((item) => (bad.has(item) ? `data-rejected ${item}` : `ok ${item}`)));
      expect(done).toEqual(batch.filter((item) => !bad.has(item)));
    }
  });

  it('finds one culprit among 500 in at most 19 acts', async () => {
    const { acts, act } = actThatRefuses((item) => item === 123);
    await bisect(
      Array.from({ length: 500 }, (_, index) => index),
      act,
      () => 'bad',
    );
    expect(acts.length).toBeLessThanOrEqual(19);
  });

  it('throws every other error at once and splits nothing', async () => {
    const error = new DeadmanError('store-unavailable');
    let acts = 0;
    const act = async (): Promise<string[]> => {
      acts += 1;
      throw error;
    };
    await expect(bisect([1, 2, 3], act, () => 'bad')).rejects.toBe(error);
    expect(acts).toBe(1);
  });

  it('throws an error that comes in the midst of splitting, and blames nobody for it', async () => {
    const blamed: number[] = [];
    const act = async (part: readonly number[]): Promise<string[]> => {
      if (part.length > 1) throw rejected();
      throw new DeadmanError('unknown-outcome');
    };
    const onCulprit = (item: number): string => {
      blamed.push(item);
      return 'bad';
    };
    await expect(bisect([1, 2], act, onCulprit)).rejects.toMatchObject({ code: 'unknown-outcome' });
    expect(blamed).toEqual([]);
  });
});
