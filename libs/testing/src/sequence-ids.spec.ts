import { isUuid } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { FakeClock } from './fake-clock.js';
import { SequenceIds } from './sequence-ids.js';

describe('SequenceIds', () => {
  it('makes valid uuids of both versions, the same in every run', () => {
    const ids = new SequenceIds();
    const made = [ids.timeOrdered(), ids.random()];
    expect(made.every(isUuid)).toBe(true);
    expect(made.map((id) => Number(id[14]))).toEqual([7, 4]);
    const again = new SequenceIds();
    expect([again.timeOrdered(), again.random()]).toEqual(made);
  });

  it('sorts time-ordered ids as they were made, within a millisecond and over time', async () => {
    const clock = new FakeClock();
    const ids = new SequenceIds(clock);
    const made: string[] = [];
    for (let step = 0; step < 40; step += 1) {
      made.push(ids.timeOrdered());
      if (step % 20 === 0) await clock.advance(1);
    }
    expect(made.toSorted()).toEqual(made);
  });

  it('never meets the ids of another stream', () => {
    const one = new SequenceIds(null, 1);
    const two = new SequenceIds(null, 2);
    const made = [1, 2, 3].flatMap(() => [one.timeOrdered(), two.timeOrdered(), one.random(), two.random()]);
    expect(new Set(made).size).toBe(made.length);
  });
});
