import { describe, expect, it } from '@jest/globals';
import { Dice } from './dice.js';
import { CALM, FAULT_KINDS, planFaults } from './fault-plan.js';
import type { FaultKind } from './fault-plan.js';
import { KeptPlan, tellFaults } from './plan-schema.js';

const PLAN = { ...planFaults(new Dice(7)), jobs: [0, 3], network: CALM, faults: [] };
const KILL = { kind: 'kill', atMs: 1, victim: 1, forMs: 1 };
const OUTAGE = { kind: 'outage', atMs: 1, server: 'redis', manner: 'silent', forMs: 1, isEmptied: true };
const FAILOVER = { kind: 'failover', atMs: 1, lostMs: 1, forMs: 1, stepMs: 1 };

function faultsOf(whole: unknown): string {
  const { error } = KeptPlan.safeParse(whole);
  return error === undefined ? '' : tellFaults(error);
}

function faultsOfPlan(plan: object): string {
  return faultsOf({ seed: 7, check: '§7 doubt', note: 'was wrong', plan });
}

describe('a plan that can be run', () => {
  it('is every plan that a seed gives, as it was', () => {
    const kinds = new Set<FaultKind>();
    for (let seed = 0; seed < 300; seed += 1) {
      const plan = planFaults(new Dice(seed));
      const kept = { seed, check: '§7 doubt', note: '', plan };
      expect(KeptPlan.parse(structuredClone(kept))).toEqual(kept);
      for (const { kind } of plan.faults) kinds.add(kind);
    }
    expect([...kinds].toSorted()).toEqual([...FAULT_KINDS].toSorted());
  });

  it.each<[string, object]>([
    ['no jobs and no faults are left', { jobs: [], faults: [] }],
    ['a clock is set back', { faults: [{ ...FAILOVER, stepMs: -900 }] }],
    ['times are of no whole milliseconds', { untilMs: 10.5 }],
    ['Redis comes back with nothing', { faults: [OUTAGE] }],
  ])('is one in which %s', (_what, change) => {
    expect(faultsOfPlan({ ...PLAN, ...change })).toBe('');
  });

  it.each<[string, object, string]>([
    ['no workers', { workers: 0 }, 'plan.workers'],
    ['half an api', { apis: 1.5 }, 'plan.apis'],
    ['no reapers', { reapers: 0 }, 'plan.reapers'],
    ['no slots', { slots: 0 }, 'plan.slots'],
    ['more workers than would ever start', { workers: 1e9 }, 'plan.workers'],
    ['a seed of more than 32 bits', { seed: 2 ** 32 }, 'plan.seed'],
    ['an end that never comes', { untilMs: 1e20 }, 'plan.untilMs'],
    ['an end before the beginning', { untilMs: -1 }, 'plan.untilMs'],
    ['a time that is no number', { skewMs: Number.NaN }, 'plan.skewMs'],
    ['a time as a text', { skewMs: '300000' }, 'plan.skewMs'],
    ['half a job', { jobs: [1, 2.5] }, 'plan.jobs[1]'],
    ['a job twice', { jobs: [1, 1] }, 'plan.jobs'],
    ['hearts of no kind', { hearts: 'none' }, 'plan.hearts'],
    ['no word on poison', { hasPoison: undefined }, 'plan.hasPoison'],
    ['a network of nothing', { network: {} }, 'plan.network.requestLost'],
    ['a chance above one', { network: { ...CALM, replyLost: 1.1 } }, 'plan.network.replyLost'],
    ['a chance of nothing known', { network: { ...CALM, replyLots: 0.1 } }, 'replyLots'],
    ['no faults', { faults: undefined }, 'plan.faults'],
    ['a fault of no kind', { faults: [KILL, {}] }, 'plan.faults[1].kind'],
    ['a fault of an unknown kind', { faults: [{ ...KILL, kind: 'kil' }] }, 'plan.faults[0].kind'],
    ['a fault that is none', { faults: [null] }, 'plan.faults[0]'],
    ['a fault without its time', { faults: [{ ...KILL, atMs: undefined }] }, 'plan.faults[0].atMs'],
    ['a fault before the beginning', { faults: [{ ...KILL, atMs: -1 }] }, 'plan.faults[0].atMs'],
    ['half a victim', { faults: [{ ...KILL, victim: 0.5 }] }, 'plan.faults[0].victim'],
    ['a member of another kind', { faults: [{ ...KILL, stepMs: 1 }] }, 'stepMs'],
    ['an unknown server', { faults: [{ ...OUTAGE, server: 'mysql' }] }, 'plan.faults[0].server'],
    ['an unknown manner', { faults: [{ ...OUTAGE, manner: 'loud' }] }, 'plan.faults[0].manner'],
    ['Postgres emptied', { faults: [{ ...OUTAGE, server: 'postgres' }] }, 'plan.faults[0].isEmptied'],
    ['a clock that goes nowhere', { faults: [{ ...FAILOVER, stepMs: Infinity }] }, 'plan.faults[0].stepMs'],
    ['a misspelt member', { wokers: 2 }, 'wokers'],
  ])('is none with %s, and the place is named', (_what, change, named) => {
    expect(faultsOfPlan({ ...PLAN, ...change })).toContain(named);
  });

  it('is none in which two things are wrong, and both are named', () => {
    const said = faultsOfPlan({ ...PLAN, workers: 0, slots: 0 });
    expect(said.split('\n')).toEqual([expect.stringContaining('workers'), expect.stringContaining('slots')]);
  });

  it.each([null, 7, [], {}, { plan: PLAN }, PLAN])('is not in %j', (whole) => {
    expect(faultsOf(whole)).not.toBe('');
  });
});
