import { describe, expect, it } from '@jest/globals';
import { aJobRow, anAttempt, aStart, blameless, DEAD, LIVING } from './doctored.contract.js';
import { distribution, measure } from './measures.js';

describe('measure', () => {
  it('counts as interrupted what had started, in a life that was killed, and lapsed', () => {
    expect(measure(blameless())).toMatchObject({ started: 3, interrupted: 1, kills: 6, lapses: 1, duplicateRuns: 1 });
  });

  it('does not count what a killed worker had settled and did not live to write down', () => {
    const evidence = blameless();
    const { starts } = evidence.history;
    const attempts = new Map(evidence.attempts).set('settled', [anAttempt('settled', 1)]);
    const history = { ...evidence.history, starts: [...starts, aStart('settled', 1, DEAD)] };
    expect(measure({ ...evidence, attempts, history })).toMatchObject({ started: 4, interrupted: 1 });
  });

  it('takes the time from the kill to the next start', () => {
    expect(measure(blameless()).recovery).toEqual({ count: 1, p50: 3_150, p99: 3_150, max: 3_150 });
  });

  it('keeps what went through quarantine apart', () => {
    const evidence = blameless();
    const lapses = Array.from({ length: 7 }, (_, index) =>
      anAttempt('often', index + 1, {
        outcome: 'lapsed',
        workerId: DEAD.instance,
        startedAt: null,
        claimedAtMs: 11_000,
      }),
    );
    const rows = [...lapses, anAttempt('often', 8, { claimedAtMs: 90_000 })];
    const jobs = new Map(evidence.jobs).set('often', aJobRow('often', { attempt: 8, lapses: 7 }));
    const { quarantines, recovery, recoveryFromQuarantine } = measure({
      ...evidence,
      jobs,
      attempts: new Map(evidence.attempts).set('often', rows),
    });
    expect([quarantines, recovery.count, recoveryFromQuarantine]).toEqual([
      1,
      7,
      { count: 1, p50: 80_000, p99: 80_000, max: 80_000 },
    ]);
  });

  it('tells how many ran at a kill', () => {
    const evidence = blameless();
    const starts = [...evidence.history.starts, aStart('x', 1, DEAD), aStart('y', 1, LIVING)];
    const { inFlight } = measure({ ...evidence, history: { ...evidence.history, starts } });
    expect(inFlight).toEqual({ mean: 2 / 6, most: 2 });
  });
});

describe('distribution', () => {
  it('takes percentiles from the values that there are', () => {
    const values = Array.from({ length: 200 }, (_, index) => index + 1);
    expect(distribution(values)).toEqual({ count: 200, p50: 100, p99: 198, max: 200 });
  });

  it('of nothing is nothing', () => {
    expect(distribution([])).toEqual({ count: 0, p50: null, p99: null, max: null });
  });
});
