import { DEFAULT_LIMITS, leasePolicy } from '@deadman/domain';
import type { CancelledClaim } from '@deadman/domain';
import { MemoryLeaseStore } from '@deadman/leases';
import { MemoryDatabase, MemoryWorkerRegistry } from '@deadman/store';
import { aClaim, aClaimedJob, FakeClock, FixedRandom, RecordingEvents } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { BeatingHeart } from './beating-heart.js';
import type { HeartWord } from './heart.js';
import { Run } from './run.js';

const POLICY = leasePolicy(30_000);
const OF_SOMEBODY_ELSE = { jobId: 'of somebody else', token: 'of somebody else' };
const WORKER = { incarnation: 'w', name: 'w', types: ['demo.echo'], queues: ['default'], slots: 4 };

describe('BeatingHeart', () => {
  let clock: FakeClock;
  let words: HeartWord[];
  /** What the worker has told and the heart has not read yet. */
  let untold: (() => void)[];
  let heart: BeatingHeart;

  beforeEach(() => {
    clock = new FakeClock();
    words = [];
    untold = [];
    heart = new BeatingHeart(
      {
        registry: new MemoryWorkerRegistry(new MemoryDatabase(clock)),
        leases: new MemoryLeaseStore(clock),
        clock,
        random: new FixedRandom(),
        events: new RecordingEvents(),
        say: (word) => void words.push(word),
        catchUp: () => untold.splice(0).forEach((read) => read()),
      },
      { worker: WORKER, policy: POLICY, limits: DEFAULT_LIMITS, quarantineWaitMs: 60_000 },
    );
  });

  function hold(timeoutMs = 60_000): Run {
    const run = new Run(aClaimedJob({ timeoutMs }), clock.monotonicMs());
    tellOf(run);
    return run;
  }

  function tellOf({ lease, job: { timeoutMs }, claimedAtMs }: Run): void {
    heart.hear({ kind: 'runs-held', runs: [{ lease, timeoutMs, claimedAtMs }] });
  }

  /** A claim ends as a worker tells it: it holds what that gave, and has it where it can stop it. */
  function endClaim(...runs: readonly Run[]): void {
    for (const run of runs) tellOf(run);
    expect(words).toEqual([]);
    heart.hear({ kind: 'claim-ended', token: runs[0]!.lease.token });
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
    heart.cancel([run.lease, OF_SOMEBODY_ELSE]);
    heart.cancel([OF_SOMEBODY_ELSE]);
    expect(words).toEqual([{ kind: 'cancel-asked', keys: [run.key] }]);
  });

  it('tells nothing of a cancel that was meant for an earlier claim: the job was retried since', () => {
    const run = hold();
    heart.cancel([{ jobId: run.job.id, token: 'of the claim before' }]);
    expect(words).toEqual([]);
  });

  describe.each([
    ['heard by the heart itself', (claims: readonly CancelledClaim[]) => heart.cancel(claims)],
    ['that its worker heard', (claims: readonly CancelledClaim[]) => heart.hear({ kind: 'cancel-noticed', claims })],
  ])('a cancel that is faster than the reply of the claim, %s', (_by, cancel) => {
    it('is told with the end of that claim, and of its runs alone', () => {
      const claim = aClaim();
      const [run, neighbour] = [new Run(aClaimedJob({ claim }), 0), new Run(aClaimedJob({ claim }), 0)];
      heart.hear({ kind: 'claim-began', token: claim.token });
      cancel([run.lease, OF_SOMEBODY_ELSE]);
      endClaim(run, neighbour);
      expect(words).toEqual([{ kind: 'cancel-asked', keys: [run.key] }]);
    });

    it('is told with its own claim when several are under way', () => {
      const [first, second] = [new Run(aClaimedJob(), 0), new Run(aClaimedJob(), 0)];
      for (const { lease } of [first, second]) heart.hear({ kind: 'claim-began', token: lease.token });
      cancel([second.lease]);
      endClaim(first);
      endClaim(second);
      expect(words).toEqual([{ kind: 'cancel-asked', keys: [second.key] }]);
    });

    it('does not touch another claim under way that brings the job: it was retried since', () => {
      const run = new Run(aClaimedJob(), 0);
      heart.hear({ kind: 'claim-began', token: run.lease.token });
      cancel([{ jobId: run.job.id, token: 'of the claim before' }]);
      endClaim(run);
      expect(words).toEqual([]);
    });

    it('does not touch a claim that begins later: the job was retried since', () => {
      const [before, run] = [new Run(aClaimedJob(), 0), new Run(aClaimedJob(), 0)];
      heart.hear({ kind: 'claim-began', token: before.lease.token });
      cancel([{ jobId: run.job.id, token: before.lease.token }]);
      heart.hear({ kind: 'claim-began', token: run.lease.token });
      endClaim(run);
      expect(words).toEqual([]);
    });

    it('is forgotten with the end of the claims under way', () => {
      const [empty, run] = [aClaim(), new Run(aClaimedJob(), 0)];
      heart.hear({ kind: 'claim-began', token: empty.token });
      cancel([{ jobId: run.job.id, token: empty.token }]);
      heart.hear({ kind: 'claim-ended', token: empty.token });
      heart.hear({ kind: 'claim-began', token: run.lease.token });
      endClaim(run);
      expect(words).toEqual([]);
    });

    it('is left to the next beat when ten thousand others wait', () => {
      const claim = aClaim();
      const [last, beyond] = [new Run(aClaimedJob({ claim }), 0), new Run(aClaimedJob({ claim }), 0)];
      heart.hear({ kind: 'claim-began', token: claim.token });
      cancel(Array.from({ length: 9_999 }, (_, index) => ({ jobId: `other ${index}`, token: claim.token })));
      cancel([last.lease, beyond.lease]);
      endClaim(last, beyond);
      expect(words).toEqual([{ kind: 'cancel-asked', keys: [last.key] }]);
    });
  });

  it('reads what its worker has told before it takes a job of a cancel for one that it does not know', () => {
    const [held, claimed] = [new Run(aClaimedJob(), 0), new Run(aClaimedJob(), 0)];
    untold.push(() => tellOf(held));
    untold.push(() => heart.hear({ kind: 'claim-began', token: claimed.lease.token }));
    heart.cancel([held.lease, claimed.lease]);
    expect(words.splice(0)).toEqual([{ kind: 'cancel-asked', keys: [held.key] }]);
    endClaim(claimed);
    expect(words).toEqual([{ kind: 'cancel-asked', keys: [claimed.key] }]);
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
