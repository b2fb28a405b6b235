import { FakeClock } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FinishRate } from './finish-rate.js';

describe('FinishRate', () => {
  let clock: FakeClock;
  let rate: FinishRate;

  beforeEach(() => {
    clock = new FakeClock();
    rate = new FinishRate(clock);
  });

  async function finish(perTenth: number, tenths: number): Promise<void> {
    for (let tenth = 0; tenth < tenths; tenth += 1) {
      for (let count = 0; count < perTenth; count += 1) rate.count();
      await clock.advance(100);
      rate.perSecond();
    }
  }

  it('is nothing before anything finished', () => {
    expect(rate.perSecond()).toBe(0);
  });

  it('comes to a steady pace within a few seconds', async () => {
    await finish(50, 50);
    expect(rate.perSecond()).toBeGreaterThan(490);
    expect(rate.perSecond()).toBeLessThanOrEqual(500);
  });

  it('does not believe a burst of a tenth of a second', async () => {
    await finish(50, 1);
    expect(rate.perSecond()).toBeLessThanOrEqual(50);
  });

  it('falls when nothing finishes any more, however long nobody asked', async () => {
    await finish(50, 50);
    await clock.advance(60_000);
    expect(rate.perSecond()).toBe(0);
  });
});
