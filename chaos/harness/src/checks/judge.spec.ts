import { describe, expect, it } from '@jest/globals';
import { CHECKS, STORM_CHECKS } from './checks.js';
import { aJobRow, aStart, blameless, DEAD, LIVING, TTL_MS } from './doctored.contract.js';
import type { Evidence } from './evidence.js';
import { isGreen, judge } from './judge.js';
import type { Finding } from './judge.js';

const ALL = [...CHECKS, ...STORM_CHECKS];

function withLateStart(evidence: Evidence): Evidence {
  const late = aStart('killed', 2, LIVING, DEAD.endedAtMs! + TTL_MS + 15_001);
  return { ...evidence, history: { ...evidence.history, starts: [...evidence.history.starts.slice(0, 2), late] } };
}

function withLostJob(evidence: Evidence): Evidence {
  return { ...evidence, jobs: new Map(evidence.jobs).set('plain', aJobRow('plain', { state: 'RUNNING' })) };
}

const verdict = (evidence: Evidence, isTimed: boolean, findings: readonly Finding[] = []): boolean =>
  isGreen(judge(ALL, findings, evidence, { isTimed }));

describe('the judgement of a run', () => {
  it('is green when nothing was found', () => {
    expect(verdict(blameless(), true)).toBe(true);
  });

  it('is red for what took too long, and only tells of it where that does not decide', () => {
    const slow = withLateStart(blameless());
    expect(verdict(slow, true)).toBe(false);
    expect(verdict(slow, false)).toBe(true);
    const told = judge(ALL, [], slow, { isTimed: false }).find(({ check }) => check === 'recovered-in-time');
    expect(told).toMatchObject({ count: 1, decides: false });
  });

  it.each([true, false])('is red for a job that was lost, whether speed decides (%s) or not', (isTimed) => {
    expect(verdict(withLostJob(blameless()), isTimed)).toBe(false);
  });

  it('is red for what a scenario found, where speed does not decide, too', () => {
    const finding = { check: 'nothing-runs-again', promise: 'not one attempt more', breaches: ['2 attempts'] };
    expect(verdict(blameless(), false, [finding])).toBe(false);
  });

  it('knows two checks of speed: the share of runs that kills interrupt, and how soon work is taken up again', () => {
    expect(ALL.filter(({ isOfSpeed }) => isOfSpeed).map(({ name }) => name)).toEqual([
      'kill-rate-reached',
      'recovered-in-time',
    ]);
  });
});
