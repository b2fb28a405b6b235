import { deferred, FakeClock } from '@deadman/testing';
import type { Deferred } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { PartitionHolds } from './partition-holds.js';

const topic = 'jobs.ready';

function setUp() {
  const clock = new FakeClock();
  const calls: string[] = [];
  const stopping = new AbortController();
  const ready: Deferred<void>[] = [];
  const holds = new PartitionHolds({
    topic,
    receiver: {
      take: () => false,
      whenReady: () => {
        ready.push(deferred());
        return ready.at(-1)!.promise;
      },
    },
    clock,
    listener: { on: () => undefined },
    pause: (partitions) => void calls.push(`pause ${partitions.join()}`),
    resume: (partitions) => void calls.push(`resume ${partitions.join()}`),
    signal: stopping.signal,
  });
  return { clock, calls, stopping, ready, holds };
}

describe('PartitionHolds', () => {
  it('resumes all that it holds when the receiver is ready, which it asks once', async () => {
    const { clock, calls, ready, holds } = setUp();
    holds.hold(3);
    holds.hold(7);
    await clock.advance(60_000);
    expect(calls).toEqual(['pause 3', 'pause 7']);
    expect(ready).toHaveLength(1);
    ready[0]!.resolve();
    await clock.advance(0);
    expect(calls.slice(2)).toEqual(['resume 3,7']);
  });

  it('pauses for a receiver that tells of room and takes nothing, instead of fetching again and again', async () => {
    const { clock, calls, ready, holds } = setUp();
    holds.hold(3);
    await clock.advance(0);
    ready[0]!.resolve();
    await clock.advance(0);
    holds.hold(3);
    await clock.advance(99);
    expect(ready).toHaveLength(1);
    await clock.advance(1);
    expect(ready).toHaveLength(2);
    ready[1]!.resolve();
    await clock.advance(0);
    holds.taken();
    holds.hold(3);
    await clock.advance(0);
    expect(ready).toHaveLength(3);
    expect(calls.filter((call) => call === 'resume 3')).toHaveLength(2);
  });

  it('resumes nothing that a new assignment has made new, nor anything once it is to stop', async () => {
    const { clock, calls, stopping, ready, holds } = setUp();
    holds.hold(3);
    await clock.advance(0);
    holds.forget();
    ready[0]!.resolve();
    await clock.advance(0);
    holds.hold(4);
    await clock.advance(100);
    stopping.abort();
    ready[1]!.resolve();
    await clock.advance(0);
    expect(calls).toEqual(['pause 3', 'pause 4']);
  });
});
