import { aClaimedJob, RecordingEvents } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { RunGuard } from './run-guard.js';
import { RunLedger } from './run-ledger.js';
import { Run } from './run.js';

describe('RunGuard', () => {
  let events: RecordingEvents;
  let ledger: RunLedger;
  let guard: RunGuard;
  let run: Run;

  beforeEach(() => {
    events = new RecordingEvents();
    ledger = new RunLedger(() => {});
    guard = new RunGuard(ledger, events);
    run = new Run(aClaimedJob(), 0);
    ledger.add([run]);
  });

  const lose = (): void => guard.lose({ kind: 'run-lost', key: run.key, reason: 'stale' });

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
});
