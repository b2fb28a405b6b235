import { FakeClock } from '@deadman/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PartitionLags } from './partition-lags.js';

describe('PartitionLags', () => {
  let clock: FakeClock;
  let told: (readonly [partition: number, lag: number])[];
  let held: number[];
  let ends: Map<number, bigint> | Error;
  let looks: number;
  let lags: PartitionLags;
  let stop: AbortController;
  let watching: Promise<void>;

  beforeEach(() => {
    clock = new FakeClock();
    [told, held, ends, looks] = [[], [], new Map(), 0];
    stop = new AbortController();
    lags = new PartitionLags({
      topic: 'jobs.ready',
      clock,
      listener: { on: (event) => void (event.kind === 'partition-lag' && told.push([event.partition, event.lag])) },
      held: () => held,
      fetchEnds: async () => {
        looks += 1;
        if (ends instanceof Error) throw ends;
        return ends;
      },
    });
    watching = lags.watch(stop.signal);
  });

  afterEach(async () => {
    stop.abort();
    await watching;
    expect(clock.pendingTimers).toBe(0);
  });

  it('tell with each batch what it left at the broker', () => {
    lags.handedOver(3, 40n, 100n);
    lags.handedOver(4, 100n, 100n);
    expect(told).toEqual([
      [3, 60],
      [4, 0],
    ]);
  });

  it('go on growing while a partition is held, of which no batch tells', async () => {
    lags.handedOver(3, 40n, 100n);
    held = [3];
    for (const end of [300n, 500n]) {
      ends = new Map([[3, end]]);
      await clock.advance(5_000);
    }
    expect(told).toEqual([
      [3, 60],
      [3, 260],
      [3, 460],
    ]);
  });

  it('ask nobody while nothing is held', async () => {
    lags.handedOver(3, 40n, 100n);
    await clock.advance(60_000);
    expect(looks).toBe(0);
  });

  it('leave to its batches what is not held, and to its new owner what has gone', async () => {
    lags.handedOver(3, 40n, 100n);
    lags.handedOver(4, 40n, 100n);
    ends = new Map([3, 4, 5].map((partition) => [partition, 200n]));
    held = [4];
    await clock.advance(5_000);
    expect(told.slice(2)).toEqual([[4, 160]]);
    lags.forget();
    await clock.advance(5_000);
    expect(told).toHaveLength(3);
  });

  it('keep asking though the brokers do not answer', async () => {
    lags.handedOver(3, 40n, 100n);
    held = [3];
    ends = new Error('no broker');
    await clock.advance(15_000);
    expect(looks).toBe(3);
    ends = new Map([[3, 110n]]);
    await clock.advance(5_000);
    expect(told.at(-1)).toEqual([3, 70]);
  });
});
