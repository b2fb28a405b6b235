import type { Job } from '@deadman/domain';
import { describeError } from './describe-error.js';
import { duplicateRuns } from './duplicates.js';
import { Clients, LONGEST_BACKOFF_MS, MOST_ATTEMPTS } from './clients.js';
import { Dice } from './dice.js';
import { BULK_QUEUE, servesBulk, TTL_MS } from './deployment.js';
import { planFaults } from './fault-plan.js';
import { Livelock } from './kernel.js';
import type { FaultPlan } from './fault-plan.js';
import type { Violation } from './invariants.js';
import { RARE_TYPE, scriptOf } from './sim-handler.js';
import { Story } from './story.js';
import { Verdict } from './verdict.js';
import { World } from './world.js';

export interface ScheduleResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly situations: Readonly<Record<string, number>>;
  /** The same seed gives the same hash, or something in the world is not decided by it. */
  readonly hash: string;
  readonly measures: Measures;
  readonly story: Story;
}

/** Sums over schedules, except `slowestMs`, which is the worst of them. */
export interface Measures {
  readonly events: number;
  readonly jobs: number;
  readonly executions: number;
  /** Runs that nobody had called for (`protocol.md` §2). */
  readonly duplicates: number;
  readonly reaps: number;
  /** Reaps of a run whose worker had stood for a TTL and was at work on it. */
  readonly falseReaps: number;
  /** The same in schedules without a failover, in which the rules promise next to none. */
  readonly calmReaps: number;
  readonly calmFalseReaps: number;
  /** Virtual time from the end of the faults to the end of the last job. Milliseconds. */
  readonly slowestMs: number;
}

/** `faults.md` G9, before the jobs' own runs and backoffs. Milliseconds. */
const HEAL_WITHIN_MS = 4 * TTL_MS + 90_000;
/** A job that kills its process lapses fourteen times before it is dead. Milliseconds. */
const POISON_EXTRA_MS = 900_000;
const QUIET_MS = 2 * TTL_MS;
/** Longest that a client goes on asking. Milliseconds. */
const PATIENCE_MS = 60_000;

/** Runs one seed from its first fault to the last job's end. */
export function runSeed(seed: number, isTold = false): Promise<ScheduleResult> {
  return runPlan(planFaults(new Dice(seed)), isTold);
}

export async function runPlan(plan: FaultPlan, isTold = false): Promise<ScheduleResult> {
  const story = new Story(isTold);
  const world = new World(plan, story);
  const clients = new Clients(world);
  for (const fault of plan.faults) world.schedule(fault);
  clients.begin();
  const endedAtMs = await runToItsEnd(world, clients);
  story.mix(world.kernel.ran);
  return {
    seed: plan.seed,
    violations: world.invariants.violations,
    situations: world.situations.toRecord(),
    hash: story.hash,
    measures: measure(world, endedAtMs),
    story,
  };
}

/** Runs and judges a world. Returns when it had ended. What is thrown in one of its events would end a real process. */
async function runToItsEnd(world: World, clients: Clients): Promise<number> {
  const { kernel, plan, invariants } = world;
  try {
    await kernel.run(plan.untilMs);
    world.heal();
    const endedAtMs = await untilHealed(world, clients);
    new Verdict(world.watched, invariants).judge(clients.batches, world.hasFailedOver);
    return endedAtMs;
  } catch (error) {
    if (error instanceof Livelock) invariants.add('G9 livelock', '', error.message);
    else invariants.add('uncaught', '', describeError(error));
    return kernel.nowMs;
  }
}

/** Waits until everything has ended and stays so for longer than a lease. Returns when that was. */
async function untilHealed(world: World, clients: Clients): Promise<number> {
  const { kernel, db } = world;
  // A client that was not answered asks again; the time counts from when the last of them has been.
  await kernel.run(kernel.nowMs + PATIENCE_MS, () => clients.isDone);
  const isDone = (): boolean => clients.isDone && !db.hasOpenJobs && db.outbox.size === 0;
  const limitMs = kernel.nowMs + HEAL_WITHIN_MS + drainMs(world);
  while (kernel.nowMs < limitMs) {
    if (!(await kernel.run(limitMs, isDone))) break;
    const doneAtMs = kernel.nowMs;
    await kernel.run(doneAtMs + QUIET_MS);
    if (isDone()) return doneAtMs;
  }
  return kernel.nowMs;
}

/** The longest that what is open now can take when nothing goes wrong: every run to its timeout, on all slots, and every backoff. */
function drainMs({ db, plan }: World): number {
  const servingBulk = Array.from({ length: plan.workers }, (_, number) => number).filter(servesBulk).length;
  const workersFor = ({ type, queue }: Job): number => {
    if (type === RARE_TYPE) return 1;
    return queue === BULK_QUEUE ? servingBulk : plan.workers;
  };
  const runsMs = db.openJobs.reduce((sum, job) => sum + longestRunsMs(job) / (workersFor(job) * plan.slots), 0);
  const backoffMs = MOST_ATTEMPTS * LONGEST_BACKOFF_MS;
  const poisonMs = plan.hasPoison ? POISON_EXTRA_MS : 0;
  return runsMs + backoffMs + poisonMs;
}

function longestRunsMs(job: Job): number {
  const { ms, changeMs, stepMs } = scriptOf(job);
  const runMs = Math.min(ms + (changeMs ?? 0) + (stepMs ?? 0), job.timeoutMs) + 1_000;
  return (job.maxAttempts - job.failures + 1) * runMs;
}

function measure(world: World, endedAtMs: number): Measures {
  const { kernel, db, executions, historian, hasFailedOver } = world;
  const reaps = historian.reaps.length;
  const falseReaps = countFalseReaps(world);
  return {
    events: kernel.ran,
    jobs: db.jobs.size,
    executions: executions.count,
    duplicates: duplicateRuns(world),
    reaps,
    falseReaps,
    calmReaps: hasFailedOver ? 0 : reaps,
    calmFalseReaps: hasFailedOver ? 0 : falseReaps,
    slowestMs: endedAtMs - world.plan.untilMs,
  };
}

/** A run past its timeout, or past the grace of a cancel, is taken from a worker at work on purpose. */
function countFalseReaps({ historian, db }: World): number {
  const isOnPurpose = ({ jobId, attempt, token }: (typeof historian.reaps)[number]): boolean => {
    const row = db.attempts.get(jobId)?.find((found) => found.attempt === attempt && found.claimToken === token);
    return row?.reason === 'timeout' || row?.reason === 'cancel-grace';
  };
  return historian.reaps.filter((reap) => reap.wasAtWork && !isOnPurpose(reap)).length;
}
