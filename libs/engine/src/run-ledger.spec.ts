import { aClaim, aClaimedJob } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { HeartNews } from './heart.js';
import { RunLedger } from './run-ledger.js';
import { Run } from './run.js';

describe('RunLedger', () => {
  let told: HeartNews[];
  let ledger: RunLedger;

  beforeEach(() => {
    told = [];
    ledger = new RunLedger((news) => void told.push(news));
  });

  it('holds a run from its claim until it is dropped, and finds it by its claim', () => {
    const run = new Run(aClaimedJob(), 0);
    ledger.add([run]);
    expect(ledger.find(run.lease)).toBe(run);
    expect(ledger.find({ ...run.lease, token: 'of an earlier claim' })).toBeUndefined();
    expect([ledger.size, ledger.isEmpty]).toEqual([1, false]);
    ledger.drop(run);
    expect(ledger.find(run.lease)).toBeUndefined();
    expect([ledger.size, ledger.isEmpty]).toEqual([0, true]);
  });

  it('keeps two claims of one job apart', () => {
    const job = aClaimedJob();
    const first = new Run(job, 0);
    const second = new Run({ ...job, attempt: 2, claim: aClaim() }, 0);
    ledger.add([first, second]);
    ledger.drop(first);
    expect(ledger.runs()).toEqual([second]);
  });

  it('is not empty while the reply of a claim is out', () => {
    ledger.beginClaim('token');
    expect([ledger.isEmpty, ledger.isClaiming('token')]).toEqual([false, true]);
    ledger.endClaim('token');
    expect([ledger.isEmpty, ledger.isClaiming('token')]).toEqual([true, false]);
  });

  it('knows of a job that has to run alone for as long as it is held', () => {
    const alone = new Run(aClaimedJob({ claim: aClaim({ alone: true }) }), 0);
    ledger.add([new Run(aClaimedJob(), 0)]);
    expect(ledger.holdsAlone()).toBe(false);
    ledger.add([alone]);
    expect(ledger.holdsAlone()).toBe(true);
    ledger.drop(alone);
    expect(ledger.holdsAlone()).toBe(false);
  });

  it('tells the heart of a claim and of what it gave, step by step', () => {
    const run = new Run(aClaimedJob({ timeoutMs: 60_000 }), 5);
    ledger.beginClaim('token');
    ledger.add([run]);
    ledger.endClaim('token');
    ledger.start(run, 7);
    ledger.settle(run);
    ledger.drop(run);
    expect(told).toEqual([
      { kind: 'claim-began', token: 'token' },
      { kind: 'runs-held', runs: [{ lease: run.lease, timeoutMs: 60_000, claimedAtMs: 5 }] },
      { kind: 'claim-ended', token: 'token' },
      { kind: 'run-started', key: run.key, atMs: 7 },
      { kind: 'run-settling', key: run.key },
      { kind: 'run-dropped', key: run.key },
    ]);
    expect(run).toMatchObject({ phase: 'settling', startedAtMs: 7 });
  });

  it('tells nothing of a run that it does not hold', () => {
    const orphan = new Run(aClaimedJob(), 0);
    ledger.settle(orphan);
    ledger.drop(orphan);
    expect(told).toEqual([]);
  });
});
