import { asyncProperty, boolean, check, integer, record, subarray } from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { FaultPlan, NetworkFaults } from './fault-plan.js';

/** Whether a plan still breaks the rule it is about. */
export type StillFails = (plan: FaultPlan) => Promise<boolean>;

/** A lot of plans are tried, each a whole schedule; past this many the best so far has to do. */
const MOST_TRIES = 400;

/** What of a plan is kept: all of it, or less. */
interface Remains {
  readonly faults: FaultPlan['faults'];
  readonly jobs: FaultPlan['jobs'];
  readonly network: readonly (keyof NetworkFaults)[];
  readonly workers: number;
  readonly reapers: number;
  readonly apis: number;
  readonly slots: number;
  readonly isSkewed: boolean;
  readonly hasPoison: boolean;
  readonly hasThreads: boolean;
}

/**
 * Makes a failing plan smaller for as long as it fails: fewer faults and jobs, no network faults of a kind, fewer
 * processes, right clocks. fast-check decides what to leave out next. Every part of the world rolls its own dice, so that
 * what is left out changes little else.
 */
export async function shrinkPlan(plan: FaultPlan, fails: StillFails): Promise<FaultPlan> {
  let tries = 0;
  const holds = asyncProperty(remainsOf(plan), async (remains) => {
    tries += 1;
    return tries > MOST_TRIES || !(await fails(reduced(plan, remains)));
  });
  const { counterexample } = await check(holds, { numRuns: 1, examples: [[allOf(plan)]] });
  const [least = allOf(plan)] = counterexample ?? [];
  return reduced(plan, least);
}

function remainsOf(plan: FaultPlan): Arbitrary<Remains> {
  const whole = allOf(plan);
  return record({
    faults: subarray([...whole.faults]),
    jobs: subarray([...whole.jobs]),
    network: subarray([...whole.network]),
    workers: integer({ min: 1, max: whole.workers }),
    reapers: integer({ min: 1, max: whole.reapers }),
    apis: integer({ min: 1, max: whole.apis }),
    slots: integer({ min: 1, max: whole.slots }),
    isSkewed: boolean(),
    hasPoison: boolean(),
    hasThreads: boolean(),
  });
}

function allOf({
  faults,
  jobs,
  network,
  workers,
  reapers,
  apis,
  slots,
  skewMs,
  hasPoison,
  hearts,
}: FaultPlan): Remains {
  const kinds = Object.keys(network) as (keyof NetworkFaults)[];
  return {
    faults,
    jobs,
    network: kinds.filter((kind) => network[kind] > 0),
    workers,
    reapers,
    apis,
    slots,
    isSkewed: skewMs > 0,
    hasPoison,
    hasThreads: hearts === 'thread',
  };
}

function reduced(plan: FaultPlan, remains: Remains): FaultPlan {
  const { faults, jobs, network, workers, reapers, apis, slots, isSkewed, hasPoison, hasThreads } = remains;
  const chances = Object.entries(plan.network).map(([kind, chance]) => [
    kind,
    network.includes(kind as keyof NetworkFaults) ? chance : 0,
  ]);
  return {
    ...plan,
    faults,
    jobs,
    network: Object.fromEntries(chances) as unknown as NetworkFaults,
    workers,
    reapers,
    apis,
    slots,
    skewMs: isSkewed ? plan.skewMs : 0,
    hasPoison,
    hearts: hasThreads ? 'thread' : 'local',
  };
}
