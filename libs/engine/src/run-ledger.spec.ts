import { aClaim, aClaimedJob } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { RunLedger } from './run-ledger.js';
import { Run } from './run.js';

describe('RunLedger', () => {
  let ledger: RunLedger;

  beforeEach(() => {
    ledger = new RunLedger();
  });

  it('holds a run from its claim until it is dropped, and finds it by its claim', () => {
    const run = new Run(aClaimedJob(), 0);
    ledger.add(run);
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
    ledger.add(first);
    ledger.add(second);
    ledger.drop(first);
    expect(ledger.runs()).toEqual([second]);
  });

  it('is not empty while the reply of a claim is out', () => {
    ledger.beginClaim('token');
    expect([ledger.isEmpty, ledger.isClaiming('token')]).toEqual([false, true]);
    const seen = ledger.claimsUnderWay();
    ledger.endClaim('token');
    expect([ledger.isEmpty, ledger.isClaiming('token')]).toEqual([true, false]);
    expect([...seen]).toEqual(['token']);
  });

  it('knows of a job that has to run alone for as long as it is held', () => {
    const alone = new Run(aClaimedJob({ claim: aClaim({ alone: true }) }), 0);
    ledger.add(new Run(aClaimedJob(), 0));
    expect(ledger.holdsAlone()).toBe(false);
    ledger.add(alone);
    expect(ledger.holdsAlone()).toBe(true);
    ledger.drop(alone);
    expect(ledger.holdsAlone()).toBe(false);
  });
});
