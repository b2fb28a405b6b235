import type { FaultPlan, NetworkFaults } from './fault-plan.js';

/** Whether a plan still breaks the rule it is about. */
export type StillFails = (plan: FaultPlan) => Promise<boolean>;

/** A lot of plans are tried, each a whole schedule; past this many the best so far has to do. */
const MOST_TRIES = 400;

/**
 * Makes a failing plan smaller for as long as it fails: fewer faults and jobs by halves, then thirds, down to single ones
 * (delta debugging, Zeller and Hildebrandt, 2002), no network faults of a kind, fewer processes, right clocks. Every part of
 * the world rolls its own dice, so what is left out changes little else.
 */
export async function shrinkPlan(plan: FaultPlan, fails: StillFails): Promise<FaultPlan> {
  let tries = 0;
  const check = async (candidate: FaultPlan): Promise<boolean> => (tries += 1) <= MOST_TRIES && fails(candidate);
  let best = plan;
  for (;;) {
    const before = best;
    for (const step of STEPS) best = await step(best, check);
    if (sizeOf(best) >= sizeOf(before) || tries > MOST_TRIES) return best;
  }
}

type Step = (plan: FaultPlan, check: StillFails) => Promise<FaultPlan>;

const STEPS: readonly Step[] = [
  (plan, check) => shrinkList(plan, plan.faults, (faults) => ({ ...plan, faults }), check),
  (plan, check) => shrinkList(plan, plan.jobs, (jobs) => ({ ...plan, jobs }), check),
  shrinkNetwork,
  (plan, check) => firstThatFails(plan, simpler(plan), check),
];

/** Leaves out parts of a list, large ones first. */
async function shrinkList<Item>(
  plan: FaultPlan,
  whole: readonly Item[],
  withItems: (items: readonly Item[]) => FaultPlan,
  check: StillFails,
): Promise<FaultPlan> {
  let [items, best] = [whole, plan];
  for (let parts = 2; items.length > 0 && parts <= items.length * 2;) {
    const size = Math.max(1, Math.ceil(items.length / parts));
    let smaller: readonly Item[] | null = null;
    for (let start = 0; start < items.length && smaller === null; start += size) {
      const rest = [...items.slice(0, start), ...items.slice(start + size)];
      if (await check(withItems(rest))) smaller = rest;
    }
    if (smaller === null && size === 1) break;
    if (smaller === null) parts *= 2;
    else [items, best, parts] = [smaller, withItems(smaller), Math.max(2, parts - 1)];
  }
  return best;
}

async function shrinkNetwork(plan: FaultPlan, check: StillFails): Promise<FaultPlan> {
  let best = plan;
  for (const fault of Object.keys(plan.network) as (keyof NetworkFaults)[]) {
    if (best.network[fault] === 0) continue;
    const without = { ...best, network: { ...best.network, [fault]: 0 } };
    if (await check(without)) best = without;
  }
  return best;
}

/** The plan with one thing about it made plainer, for each thing that can be. */
function simpler(plan: FaultPlan): readonly FaultPlan[] {
  const candidates: FaultPlan[] = [];
  if (plan.skewMs > 0) candidates.push({ ...plan, skewMs: 0 });
  if (plan.hasPoison) candidates.push({ ...plan, hasPoison: false });
  if (plan.workers > 1) candidates.push({ ...plan, workers: plan.workers - 1 });
  if (plan.reapers > 1) candidates.push({ ...plan, reapers: plan.reapers - 1 });
  if (plan.apis > 1) candidates.push({ ...plan, apis: plan.apis - 1 });
  if (plan.hearts === 'thread') candidates.push({ ...plan, hearts: 'local' });
  if (plan.slots > 1) candidates.push({ ...plan, slots: plan.slots / 2 });
  return candidates;
}

async function firstThatFails(
  plan: FaultPlan,
  candidates: readonly FaultPlan[],
  check: StillFails,
): Promise<FaultPlan> {
  for (const candidate of candidates) if (await check(candidate)) return candidate;
  return plan;
}

function sizeOf(plan: FaultPlan): number {
  const { faults, jobs, network, workers, reapers, apis, slots, skewMs, hasPoison, hearts } = plan;
  const rates = Object.values(network).filter((chance) => chance > 0).length;
  return (
    faults.length +
    jobs.length +
    rates +
    workers +
    reapers +
    apis +
    slots +
    (skewMs > 0 ? 1 : 0) +
    (hasPoison ? 1 : 0) +
    (hearts === 'thread' ? 1 : 0)
  );
}
