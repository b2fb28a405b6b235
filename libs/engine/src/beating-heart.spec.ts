import { DEFAULT_LIMITS, leasePolicy } from '@deadman/domain';
import { MemoryLeaseStore } from '@deadman/leases';
import { MemoryDatabase, MemoryWorkerRegistry } from '@deadman/store';
import { aClaimedJob, FakeClock, FixedRandom, RecordingEvents } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { BeatingHeart } from './beating-heart.js';
import type { HeartWord } from './heart.js';
import { Run } from './run.js';

const POLICY = leasePolicy(30_000);
const WORKER = { incarnation: 'w', name: 'w', types: ['demo.echo'], queues: ['default'], slots: 4 };

describe('BeatingHeart', () => {
  let clock: FakeClock;
  let words: HeartWord[];
  let heart: BeatingHeart;

  beforeEach(() => {
    clock = new FakeClock();
    words = [];
    heart = new BeatingHeart(
      {
        registry: new MemoryWorkerRegistry(new MemoryDatabase(clock)),
        leases: new MemoryLeaseStore(clock),
        clock,
        random: new FixedRandom(),
        events: new RecordingEvents(),
        say: (word) => void words.push(word),
        catchUp: () => {},
      },
      { worker: WORKER, policy: POLICY, limits: DEFAULT_LIMITS, quarantineWaitMs: 60_000 },
    );
  });

  function hold(timeoutMs = 60_000): Run {
    const run = new Run(aClaimedJob({ timeoutMs }), clock.monotonicMs());
    heart.hear({ kind: 'runs-held', runs: [{ lease: run.lease, timeoutMs, claimedAtMs: run.claimedAtMs }] });
    return run;
  }

  it('beats at its pace until it is stopped, and says so last of all with each beat', async () => {
    heart.start();
    await clock.advance(40_000);
    await heart.stop();
    const beats = words.filter(({ kind }) => kind === 'beaten').length;
    expect(beats).toBeGreaterThanOrEqual(4);
    expect(beats).toBeLessThanOrEqual(5);
    expect(words.at(-1)).toEqual({ kind: 'beaten', isRegistered: true });
    expect(clock.pendingTimers).toBe(0);
  });

  it('tells of a cancel at once when the job is held here, and of no other', () => {
    const run = hold();
    heart.cancel([run.job.id, 'of somebody else']);
    heart.cancel(['of somebody else']);
    expect(words).toEqual([{ kind: 'cancel-asked', keys: [run.key] }]);
  });

  it('knows when a handler has overstayed its timeout and the slack, and forgives what is being settled', async () => {
    const run = hold();
    heart.hear({ kind: 'run-started', key: run.key, atMs: clock.monotonicMs() });
    await clock.advance(60_000 + POLICY.timeoutSlackMs);
    expect(heart.isAnyOverdue()).toBe(false);
    await clock.advance(1);
    expect(heart.isAnyOverdue()).toBe(true);
    heart.hear({ kind: 'run-settling', key: run.key });
    expect(heart.isAnyOverdue()).toBe(false);
  });

  it('gives a run of which no start is known the TTL in which it may have started', async () => {
    hold();
    await clock.advance(POLICY.ttlMs + 60_000 + POLICY.timeoutSlackMs);
    expect(heart.isAnyOverdue()).toBe(false);
    await clock.advance(1);
    expect(heart.isAnyOverdue()).toBe(true);
  });
});
