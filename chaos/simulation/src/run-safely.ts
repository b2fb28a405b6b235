import { describeError } from './describe-error.js';
import { Dice } from './dice.js';
import { planFaults } from './fault-plan.js';
import type { FaultPlan } from './fault-plan.js';
import type { Violation } from './invariants.js';
import { runPlan } from './schedule.js';
import type { ScheduleResult } from './schedule.js';

/** Runs a seed, or a plan. A promise that nobody caught breaks a rule like any other: a real process would end. */
export async function runSafely(what: number | FaultPlan, isTold = false): Promise<ScheduleResult> {
  const uncaught: Violation[] = [];
  const hear = (error: unknown): void => {
    uncaught.push({ check: 'uncaught', jobId: '', message: describeError(error) });
  };
  process.on('unhandledRejection', hear);
  try {
    const plan = typeof what === 'number' ? planFaults(new Dice(what)) : what;
    const result = await runPlan(plan, isTold);
    // Node tells of a rejection only after the microtasks, and this may have been the last of them.
    await new Promise<void>((resolve) => setImmediate(resolve));
    return { ...result, violations: [...uncaught, ...result.violations] };
  } finally {
    process.off('unhandledRejection', hear);
  }
}
