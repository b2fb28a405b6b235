import { describe, expect, it } from '@jest/globals';
import { isDeepStrictEqual } from 'node:util';
import { Dice } from './dice.js';
import { planFaults } from './fault-plan.js';
import type { FaultPlan } from './fault-plan.js';
import { shrinkPlan } from './shrink.js';

/** A plan with many faults and jobs. */
function largePlan(): FaultPlan {
  for (let seed = 1; ; seed += 1) {
    const plan = planFaults(new Dice(seed));
    if (plan.faults.length >= 8 && plan.jobs.length >= 30) return plan;
  }
}

describe('shrinkPlan', () => {
  it('leaves the one fault and the one job that matter', async () => {
    const plan = largePlan();
    const [culprit, job] = [plan.faults[5]!, plan.jobs[17]!];
    const shrunk = await shrinkPlan(plan, async ({ faults, jobs }) => faults.includes(culprit) && jobs.includes(job));
    expect(shrunk).toMatchObject({ faults: [culprit], jobs: [job], workers: 1, reapers: 1, slots: 1, skewMs: 0 });
    expect(Object.values(shrunk.network)).toEqual(Object.values(shrunk.network).map(() => 0));
  });

  it('leaves a plan alone that fails only as it is', async () => {
    const plan = largePlan();
    const isWhole = async (candidate: FaultPlan): Promise<boolean> => isDeepStrictEqual(candidate, plan);
    expect(await shrinkPlan(plan, isWhole)).toEqual(plan);
  });

  it('leaves a plan alone that does not fail at all', async () => {
    const plan = largePlan();
    expect(await shrinkPlan(plan, async () => false)).toEqual(plan);
  });

  it('stops trying in the end', async () => {
    let tries = 0;
    await shrinkPlan(largePlan(), async () => ((tries += 1), tries % 2 === 1));
    expect(tries).toBeLessThanOrEqual(400);
  });
});
