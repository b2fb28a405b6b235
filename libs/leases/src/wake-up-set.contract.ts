import { SystemIds } from '@deadman/config';
import type { WakeUpSet } from '@deadman/domain';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

/** One empty wake-up set as the contract sees it. */
export interface WakeUpSetHarness {
  readonly set: WakeUpSet;
  /** A delay that is far from over while a step of the contract runs on a slow machine. */
  readonly laterMs: number;
  /** Lets time pass for the set. */
  elapse(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** What every wake-up set promises (`protocol.md` §10). */
export function wakeUpSetContract(name: string, open: () => Promise<WakeUpSetHarness>): void {
  describe(`${name} as a wake-up set`, () => {
    const ids = new SystemIds();
    let harness: WakeUpSetHarness;
    let set: WakeUpSet;
    let laterMs: number;

    beforeEach(async () => {
      harness = await open();
      ({ set, laterMs } = harness);
    });

    afterEach(() => harness.close());

    it('popDue: returns what is due, soonest first, and keeps what is not', async () => {
      const [now, overdue, later] = [ids.random(), ids.random(), ids.random()];
      await set.add([
        { id: later, inMs: laterMs },
        { id: now, inMs: 0 },
        { id: overdue, inMs: -5_000 },
      ]);
      expect(await set.popDue(10)).toEqual([overdue, now]);
      await harness.elapse(laterMs + 1);
      expect(await set.popDue(10)).toEqual([later]);
    });

    it('popDue: returns each id once, also to callers at the same time', async () => {
      const entries = Array.from({ length: 100 }, () => ({ id: ids.random(), inMs: 0 }));
      await set.add(entries);
      const popped = (await Promise.all(Array.from({ length: 10 }, () => set.popDue(20)))).flat();
      expect(popped.toSorted()).toEqual(entries.map(({ id }) => id).toSorted());
    });

    it('popDue: returns no more than it was asked for', async () => {
      await set.add(Array.from({ length: 5 }, () => ({ id: ids.random(), inMs: 0 })));
      expect(await set.popDue(3)).toHaveLength(3);
      expect(await set.popDue(3)).toHaveLength(2);
      expect(await set.popDue(3)).toEqual([]);
    });

    it('add: moves a job that is there already, sooner or later', async () => {
      const [sooner, later] = [ids.random(), ids.random()];
      await set.add([
        { id: sooner, inMs: laterMs },
        { id: later, inMs: 0 },
      ]);
      await set.add([
        { id: sooner, inMs: 0 },
        { id: later, inMs: laterMs },
      ]);
      expect(await set.popDue(10)).toEqual([sooner]);
      await harness.elapse(laterMs + 1);
      expect(await set.popDue(10)).toEqual([later]);
    });

    it('add: a job that was popped can come back', async () => {
      const id = ids.random();
      await set.add([{ id, inMs: 0 }]);
      await set.popDue(1);
      await set.add([{ id, inMs: 0 }]);
      expect(await set.popDue(1)).toEqual([id]);
    });

    it('nextInMs: tells how long until the next is due, 0 when it is overdue, null when there is none', async () => {
      expect(await set.nextInMs()).toBeNull();
      const id = ids.random();
      await set.add([{ id, inMs: laterMs }]);
      const nextInMs = await set.nextInMs();
      expect(nextInMs).toBeGreaterThan(0);
      expect(nextInMs).toBeLessThanOrEqual(laterMs);
      await set.add([{ id, inMs: -1_000 }]);
      expect(await set.nextInMs()).toBe(0);
      await set.popDue(1);
      expect(await set.nextInMs()).toBeNull();
    });

    it('nextInMs: follows a job that was moved', async () => {
      const id = ids.random();
      await set.add([{ id, inMs: 0 }]);
      await set.add([{ id, inMs: laterMs }]);
      expect(await set.nextInMs()).toBeGreaterThan(0);
    });

    it('empty calls do nothing', async () => {
      await set.add([]);
      expect(await set.popDue(10)).toEqual([]);
    });
  });
}
