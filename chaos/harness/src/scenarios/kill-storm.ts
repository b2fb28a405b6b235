import { STORM_CHECKS } from '../checks/checks.js';
import { KillCount } from '../storm/kill-count.js';
import { KillPlan } from '../storm/kill-plan.js';
import { Storm } from '../storm/storm.js';
import { SURROUNDINGS, workerNames } from './scenario.js';
import type { Scenario } from './scenario.js';

/**
 * Mean time of a run, at any time scale. It says how often workers have to die, and a worker that starts takes the processor
 * for seconds: deaths three times as dense would measure the machine. Milliseconds (faults.md: about 3 s on 256 slots).
 */
const RUN_MS = 3_000;

/** What a recovery under the storm may take beyond a TTL (faults.md, scenario 1). Milliseconds. */
const RECOVERY_SLACK_MS = 15_000;

/** What G9 allows a job in quarantine: each time it may wait for a worker that empties its slots. Milliseconds. */
const QUARANTINE_MS = 120_000;

/** Below these shares of all slots the jobs that are left no longer fill the workers: the storm may end, and has to end. */
const [FEW, HARDLY_ANY] = [0.5, 0.1];

/** The last runs, which nobody kills any more, must not push the share below what is asked for. */
const ABOVE = 1.04;

const LOOK_EVERY_MS = 200;

export const killStorm: Scenario = {
  name: 'kill-storm',
  number: 1,
  title: 'workers are killed with -9 all the time, so that 30 % of all executions are interrupted',
  fleet: () => SURROUNDINGS,
  terms: ({ killRate, ttlMs }) => ({ killRate, recoveryP99Ms: ttlMs + RECOVERY_SLACK_MS }),
  checks: STORM_CHECKS,
  async act(stage) {
    const { site, options, slots } = stage;
    const jobs = stage.scaled(options.jobs);
    const count = new KillCount();
    const plan = new KillPlan(stage.dice('deaths'), { aim: aimOf(options.killRate, slots, jobs), runMs: RUN_MS });
    const storm = new Storm(site, plan, count);
    storm.start(workerNames(options.workers));
    const loading = stage.submit({ jobs, runMs: [RUN_MS / 2, RUN_MS * 1.5] });
    let isLoaded = false;
    void loading.then(() => (isLoaded = true));

    const isOver = (): boolean => {
      count.look(site.lives);
      stage.say(`${((count.rate ?? 0) * 100).toFixed(1)} % interrupted, of ${count.started} starts`);
      if (storm.failure !== null || stage.stop.aborted) return true;
      if (!isLoaded || stage.open > FEW * slots) return false;
      return stage.open <= HARDLY_ANY * slots || (count.rate ?? 0) >= options.killRate * ABOVE;
    };
    await stage.until(isOver, limitMs(jobs, slots), LOOK_EVERY_MS);
    await storm.stop();
    await loading;
    if (storm.failure !== null) throw storm.failure;
    return QUARANTINE_MS;
  },
};

function aimOf(killRate: number, slots: number, jobs: number): number {
  return Math.min(0.9, killRate * (ABOVE + (2 * slots) / jobs));
}

/** A bound against hanging: three times what the runs take without faults, and what a start takes. Milliseconds. */
function limitMs(jobs: number, slots: number): number {
  return 300_000 + (4 * jobs * RUN_MS) / slots;
}
