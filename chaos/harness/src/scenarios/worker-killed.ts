import type { Check } from '../checks/checks.js';
import type { Scenario } from './scenario.js';

/** What a takeover may take beyond a TTL when nothing else goes wrong (faults.md, scenario 1). Milliseconds. */
const CALM_SLACK_MS = 5_000;

const BUSY_WITHIN_MS = 60_000;

const takenOver: Check = {
  name: 'taken-over-in-time',
  promise: `kill → next start within TTL + ${CALM_SLACK_MS / 1_000} s, for every job of the killed worker`,
  find: ({ terms: { ttlMs } }, { recovery: { count, max } }) => {
    if (count === 0) return ['the killed worker ran nothing'];
    return max! > ttlMs + CALM_SLACK_MS ? [`the longest took ${max} ms`] : [];
  },
};

export const workerKilled: Scenario = {
  name: 'worker-killed-mid-execution',
  number: null,
  title: 'one of several workers is killed with -9 while it runs jobs, and does not come back',
  checks: [takenOver],
  async act(stage) {
    const { slots, runMs } = stage;
    // Less than the others can take: what is measured is the takeover and not the wait for a slot.
    const jobs = Math.floor(slots / 2);
    await stage.submit({ jobs, runMs: [2 * runMs, 3 * runMs] });
    await stage.until(() => (stage.watch.states['RUNNING'] ?? 0) >= jobs, BUSY_WITHIN_MS);
    await stage.site.services.get('worker-1').kill();
  },
};
