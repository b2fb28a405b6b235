import { STORM_CHECKS } from '../checks/checks.js';
import { KillCount } from '../storm/kill-count.js';
import { KillPlan } from '../storm/kill-plan.js';
import { Storm } from '../storm/storm.js';
import { SURROUNDINGS, workerNames } from './scenario.js';
import type { Scenario } from './scenario.js';

/** What a recovery under the storm may take beyond a TTL (faults.md, scenario 1). Milliseconds. */
const RECOVERY_SLACK_MS = 15_000;

/** What G9 allows a job in quarantine: each time it may wait for a worker that empties its slots. Milliseconds. */
const QUARANTINE_MS = 120_000;

/** Below this share of all slots the jobs that are left no longer fill the workers, and the storm may end. */
const NEARLY_NOTHING = 0.5;

const LOOK_EVERY_MS = 200;

export const killStorm: Scenario = {
  name: 'kill-storm',
  number: 1,
  title: 'workers are killed with -9 all the time, so that 30 % of all executions are interrupted',
  fleet: () => SURROUNDINGS,
  terms: ({ killRate, ttlMs }) => ({ killRate, recoveryP99Ms: ttlMs + RECOVERY_SLACK_MS }),
  checks: STORM_CHECKS,
  async act(stage) {
    const { site, options, slots, runMs } = stage;
    const count = new KillCount();
    const plan = new KillPlan(stage.dice('deaths'), { killRate: options.killRate, runMs });
    const storm = new Storm(site, plan, count);
    storm.start(workerNames(options.workers));
    const loading = stage.submit({ jobs: stage.scaled(options.jobs) });
    let isLoaded = false;
    void loading.then(() => (isLoaded = true));

    const isOver = (): boolean => {
      count.look(site.lives);
      stage.say(`killed ${((count.rate ?? 0) * 100).toFixed(1)} % of ${count.started} starts`);
      if (storm.failure !== null || stage.stop.aborted) return true;
      if (!isLoaded || stage.open > NEARLY_NOTHING * slots) return false;
      return stage.open === 0 || (count.rate ?? 0) >= options.killRate;
    };
    await stage.until(isOver, limitMs(stage.scaled(options.jobs), slots, runMs), LOOK_EVERY_MS);
    await storm.stop();
    await loading;
    if (storm.failure !== null) throw storm.failure;
    return QUARANTINE_MS;
  },
};

/** A bound against hanging: three times what the runs take without faults, and what a start takes. Milliseconds. */
function limitMs(jobs: number, slots: number, runMs: number): number {
  return 300_000 + (4 * jobs * runMs) / slots;
}
