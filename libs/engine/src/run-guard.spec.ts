import { aClaimedJob, deferred, FakeClock, RecordingEvents } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { RunGuard } from './run-guard.js';
import { RunLedger } from './run-ledger.js';
import { Run } from './run.js';

const TTL_MS = 30_000;

describe('RunGuard', () => {
  let clock: FakeClock;
  let beat: () => Promise<void>;
  let events: RecordingEvents;
  let ledger: RunLedger;
  let guard: RunGuard;
  let run: Run;

  beforeEach(() => {
    clock = new FakeClock();
    beat = async () => {};
    events = new RecordingEvents();
    ledger = new RunLedger(() => {});
    guard = new RunGuard({ ledger, events, clock, heart: { beat: () => beat() } }, TTL_MS);
    run = new Run(aClaimedJob(), clock.monotonicMs());
    ledger.add([run]);
  });

  const vouch = (sentAtMs = clock.monotonicMs()): void =>
    guard.vouch({ kind: 'runs-vouched', keys: [run.key], sentAtMs });

  const lose = (): void => guard.lose({ key: run.key, reason: 'stale' });

  it('aborts a run that is lost, and tells of it once', () => {
    lose();
    lose();
    expect([run.isLost, run.abortedBy]).toEqual([true, 'lease-lost']);
    expect(events.of('run-lost')).toMatchObject([{ reason: 'stale', jobId: run.job.id, attempt: run.job.attempt }]);
  });

  it('leaves a run whose outcome is on its way to the fence', () => {
    ledger.settle(run);
    lose();
    expect([run.isLost, events.of('run-lost')]).toEqual([false, []]);
  });

  it('does not mind a word about what is no longer held', () => {
    ledger.drop(run);
    lose();
    guard.cancel([run.key]);
    expect([run.isLost, run.abortedBy]).toEqual([false, null]);
  });

  it('aborts a run for which a cancel was asked', () => {
    guard.cancel([run.key, 'of somebody else']);
    expect(run.abortedBy).toBe('cancelled');
  });

  describe('before something that cannot be taken back', () => {
    beforeEach(() => ledger.start(run, clock.monotonicMs()));

    const mayFire = (): Promise<boolean> => guard.mayFire(run);

    it('lets a run through for a TTL after its claim was sent, and no longer', async () => {
      await clock.advance(TTL_MS);
      expect(await mayFire()).toBe(true);
      await clock.advance(1);
      expect(await mayFire()).toBe(false);
      expect([run.isLost, run.abortedBy]).toEqual([true, 'lease-lost']);
      expect(events.of('run-lost')).toMatchObject([{ reason: 'stale', jobId: run.job.id }]);
    });

    it('lets a run through for a TTL after the last good renewal was sent, however late it is heard of', async () => {
      const sentAtMs = clock.monotonicMs();
      await clock.advance(20_000);
      vouch();
      vouch(sentAtMs);
      await clock.advance(TTL_MS);
      expect(await mayFire()).toBe(true);
      await clock.advance(1);
      expect(await mayFire()).toBe(false);
    });

    it('asks the heart before it gives up a run that was only busy, and the heart answers for all at once', async () => {
      await clock.advance(2 * TTL_MS);
      const answer = deferred();
      let beats = 0;
      beat = async () => {
        beats += 1;
        await answer.promise;
        vouch();
      };
      const asked = Promise.all([mayFire(), mayFire()]);
      answer.resolve();
      expect([await asked, beats, run.isLost]).toEqual([[true, true], 1, false]);
      await clock.advance(TTL_MS + 1);
      await mayFire();
      expect(beats).toBe(2);
    });

    it('stops a run that is lost, settled or not started, and lets one that was told to stop undo what it did', async () => {
      run.abort('cancelled');
      expect(await mayFire()).toBe(true);
      ledger.settle(run);
      expect(await mayFire()).toBe(false);
      const lost = new Run(aClaimedJob(), clock.monotonicMs());
      expect(await guard.mayFire(lost)).toBe(false);
      ledger.start(lost, 0);
      lost.lose();
      expect(await guard.mayFire(lost)).toBe(false);
    });
  });
});
