import { FakeClock } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { MainWatch } from './main-watch.js';

const EVERY_MS = 500;

describe('MainWatch', () => {
  let clock: FakeClock;
  let isOverdue: boolean;
  let blocked: number[];
  let pulses: number;
  let watch: MainWatch;

  beforeEach(() => {
    clock = new FakeClock();
    isOverdue = false;
    blocked = [];
    pulses = 0;
    watch = new MainWatch(
      {
        clock,
        isAnyOverdue: () => isOverdue,
        onPulse: () => void (pulses += 1),
        onBlocked: (silentMs) => void blocked.push(silentMs),
      },
      EVERY_MS,
    );
    watch.start();
  });

  it('lets a handler block its thread for as long as its job may run', async () => {
    await clock.advance(60_000);
    expect([blocked, pulses]).toEqual([[], 121]);
  });

  it('tells of a thread that is silent past the deadline of a job', async () => {
    await clock.advance(1_500);
    isOverdue = true;
    await clock.advance(400);
    expect(blocked).toEqual([]);
    await clock.advance(100);
    expect(blocked).toEqual([2_000]);
  });

  it('forgives a job that is overdue in a thread which turns: that one deals with it', async () => {
    isOverdue = true;
    for (let turn = 0; turn < 20; turn += 1) {
      watch.heard();
      await clock.advance(1_000);
    }
    expect(blocked).toEqual([]);
  });

  it('leaves nothing behind when it stops', async () => {
    watch.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});
