import { SeededRandom } from '@deadman/testing';
import { Clients } from './clients.js';
import { planFaults } from './fault-plan.js';
import type { FaultPlan } from './fault-plan.js';
import type { Violation } from './invariants.js';
import type { Script } from './sim-handler.js';
import { Story } from './story.js';
import { LIMITS, TTL_MS, World } from './world.js';

export interface ScheduleResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly situations: Readonly<Record<string, number>>;
  /** The same seed gives the same hash, or something in the world is not decided by it. */
  readonly hash: string;
  readonly events: number;
  /** Virtual time from the end of the faults until everything had ended. Milliseconds. */
  readonly healedInMs: number;
  readonly story: Story;
}

/** `faults.md` G9, before the jobs' own runs and backoffs. Milliseconds. */
const HEAL_WITHIN_MS = 4 * TTL_MS + 90_000;
/** A job that kills its process lapses fourteen times before it is dead. Milliseconds. */
const POISON_EXTRA_MS = 900_000;
const QUIET_MS = 2 * TTL_MS;

/** Runs one seed from its first fault to the last job's end. */
export function runSeed(seed: number, isTold = false): Promise<ScheduleResult> {
  return runPlan(planFaults(new SeededRandom(seed)), isTold);
}

export async function runPlan(plan: FaultPlan, isTold = false): Promise<ScheduleResult> {
  const story = new Story(isTold);
  const world = new World(plan, story);
  const clients = new Clients(world);
  for (const fault of plan.faults) world.schedule(fault);
  clients.begin();
  await world.kernel.run(plan.untilMs);
  world.heal();
  const healedAtMs = await healed(world, clients);
  world.invariants.judge(world.db, LIMITS);
  return {
    seed: plan.seed,
    violations: world.invariants.violations,
    situations: world.situations.toRecord(),
    hash: story.hash,
    events: world.kernel.ran,
    healedInMs: healedAtMs - plan.untilMs,
    story,
  };
}

/** Waits until everything has ended and stays so for longer than a lease. Returns when that was. */
async function healed(world: World, clients: Clients): Promise<number> {
  const isDone = (): boolean => clients.isDone && world.db.openJobs.length === 0 && world.db.outbox.size === 0;
  const hasPoison = (): boolean =>
    [...world.db.jobs.values()].some(({ payload }) => payload.includes('"isPoison":true'));
  const limitMs = world.plan.untilMs + HEAL_WITHIN_MS + drainMs(world) + (hasPoison() ? POISON_EXTRA_MS : 0);
  while (world.kernel.nowMs < limitMs) {
    if (!(await world.kernel.run(limitMs, isDone))) break;
    const doneAtMs = world.kernel.nowMs;
    await world.kernel.run(doneAtMs + QUIET_MS);
    if (isDone()) return doneAtMs;
  }
  return world.kernel.nowMs;
}

/** The longest that what is open now can take when nothing goes wrong: every run to its timeout, on all slots, and every backoff. */
function drainMs({ db, plan }: World): number {
  const runsMs = db.openJobs.map(({ timeoutMs, maxAttempts, failures, payload }) => {
    const { ms } = JSON.parse(payload) as Script;
    return (maxAttempts - failures + 1) * (Math.min(ms, timeoutMs) + 1_000);
  });
  const backoffMs = 4 * 3_000;
  return runsMs.reduce((sum, ms) => sum + ms, 0) / (plan.workers * plan.slots) + backoffMs;
}
