import { STORM_CHECKS } from '../checks/checks.js';
import { workerNames } from './scenario.js';
import type { Scenario } from './scenario.js';

const JOBS = 5_000;
const ROUNDS = 3;

/** Share of all slots that are busy when everything is killed. */
const BUSY = 0.8;

/** A bound against hanging. Milliseconds. */
const BUSY_WITHIN_MS = 120_000;

export const allWorkersAtOnce: Scenario = {
  name: 'all-workers-at-once',
  number: 2,
  title: 'every worker is killed with -9 in the same moment, and started again; three times',
  checks: STORM_CHECKS.filter(({ name }) => name === 'none-is-dead' || name === 'runs-were-repeated'),
  async act(stage) {
    const { site, slots } = stage;
    const names = workerNames(stage.options.workers);
    const loading = stage.submit({ jobs: stage.scaled(JOBS, 3 * slots) });
    let isLoaded = false;
    void loading.then(() => (isLoaded = true));
    const isBusy = (): boolean => (stage.watch.states['RUNNING'] ?? 0) >= BUSY * slots;
    // On a slow machine all jobs may have ended before the last kill: then nobody gets busy any more.
    const isOver = (): boolean => isLoaded && stage.open < BUSY * slots;
    for (let round = 1; round <= ROUNDS; round += 1) {
      stage.say(`kill ${round} of ${ROUNDS} waits for busy workers`);
      await stage.until(() => isBusy() || isOver(), BUSY_WITHIN_MS);
      if (!isBusy()) break;
      await Promise.all(names.map((name) => site.services.get(name).kill()));
      await site.startAll(names.map((name) => ['worker', name] as const));
    }
    await loading;
  },
};
