import { FakeClock, SeededRandom } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { wakeUpSetContract } from '../wake-up-set.contract.js';
import { MemoryWakeUpSet } from './memory-wake-up-set.js';

wakeUpSetContract('MemoryWakeUpSet', async () => {
  const clock = new FakeClock();
  return { set: new MemoryWakeUpSet(clock), laterMs: 10_000, elapse: (ms) => clock.advance(ms), close: async () => {} };
});

describe('MemoryWakeUpSet', () => {
  it('pops what a plain sorted list would, after thousands of moves', async () => {
    const random = SeededRandom.announced('MemoryWakeUpSet');
    const clock = new FakeClock();
    const set = new MemoryWakeUpSet(clock);
    const expected = new Map<string, number>();
    for (let move = 0; move < 5_000; move += 1) {
      const id = `job-${random.integer(1, 300)}`;
      const inMs = random.integer(0, 60_000);
      expected.set(id, inMs);
      await set.add([{ id, inMs }]);
    }

    await clock.advance(30_000);

    const due = [...expected].filter(([, atMs]) => atMs <= 30_000).toSorted(([, a], [, b]) => a - b);
    const popped = await set.popDue(1_000);
    expect(popped.map((id) => expected.get(id))).toEqual(due.map(([, atMs]) => atMs));
    expect(new Set(popped)).toEqual(new Set(due.map(([id]) => id)));
  });
});
