import { describe, expect, it, jest } from '@jest/globals';
import { Dice } from './dice.js';
import { FAULT_MARKS, MARKS, NETWORK_MARKS, SKEW_MARK } from './fault-marks.js';
import { CALM, FAULT_KINDS, planFaults } from './fault-plan.js';
import type { FaultPlan, NetworkFaults } from './fault-plan.js';
import { runSafely } from './run-safely.js';

/** Many more than it takes. */
const MOST_SEEDS = 300;
const FEW_JOBS = 12;
/** Fifty times what the slowest takes on one core. Milliseconds. */
const WITHIN_MS = 300_000;

jest.setTimeout(WITHIN_MS);

/** What is left of the plan of a seed when all but its processes and its first jobs is taken away. */
function calmPlan(seed: number): FaultPlan {
  const plan = planFaults(new Dice(seed));
  return { ...plan, jobs: plan.jobs.slice(0, FEW_JOBS), hasPoison: false, faults: [], network: CALM, skewMs: 0 };
}

/** The marks of a plan's run. */
async function marksOf(plan: FaultPlan): Promise<ReadonlySet<string>> {
  const { situations } = await runSafely(plan);
  return new Set(MARKS.filter((mark) => (situations[mark] ?? 0) > 0));
}

/** Runs one plan after the other until every wanted mark has come about. Returns those that did. */
async function marksUntil(wanted: readonly string[], planOf: (seed: number) => FaultPlan): Promise<readonly string[]> {
  const seen = new Set<string>();
  for (let seed = 1; seed <= MOST_SEEDS && !wanted.every((mark) => seen.has(mark)); seed += 1) {
    for (const mark of await marksOf(planOf(seed))) seen.add(mark);
  }
  return [...seen].toSorted();
}

describe('a fault leaves its own marks, and no other', () => {
  it.each(FAULT_KINDS)('%s', async (kind) => {
    const planOf = (seed: number): FaultPlan => {
      const faults = planFaults(new Dice(seed)).faults.filter((fault) => fault.kind === kind);
      return { ...calmPlan(seed), faults };
    };
    expect(await marksUntil(FAULT_MARKS[kind], planOf)).toEqual([...FAULT_MARKS[kind]].toSorted());
  });

  it.each(Object.keys(CALM) as (keyof NetworkFaults)[])('%s', async (fate) => {
    // Without a process that dies now and then no scan would ever take a job back.
    const hasPoison = fate === 'rowLocked';
    const network = { ...CALM, [fate]: 0.04 };
    const planOf = (seed: number): FaultPlan => ({ ...calmPlan(seed), hasPoison, network });
    expect(await marksUntil(NETWORK_MARKS[fate], planOf)).toEqual([...NETWORK_MARKS[fate]].toSorted());
  });

  it('a wrong clock', async () => {
    expect(await marksUntil([SKEW_MARK], (seed) => ({ ...calmPlan(seed), skewMs: 300_000 }))).toEqual([SKEW_MARK]);
  });

  it('none at all', async () => {
    for (const seed of [1, 2, 3, 4, 5]) expect([seed, ...(await marksOf(calmPlan(seed)))]).toEqual([seed]);
  });
});
