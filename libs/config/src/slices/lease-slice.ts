import { defineSlice } from '../define-config.js';
import { wholeNumber } from '../variable.js';

/** One set holds for all workers and reapers of a deployment. The values make a `LeasePolicy` with `leasePolicy(ttlMs, …)`. */
export const leaseSlice = defineSlice('Leases', {
  ttlMs: wholeNumber({
    name: 'DEADMAN_LEASE_TTL_MS',
    what: 'Time a lease holds without renewal: how long a dead worker keeps its jobs. Milliseconds. Workers beat three times in it. The same for all workers and reapers.',
    default: 30_000,
    min: 1_000,
    max: 3_600_000,
  }),
  timeoutSlackMs: wholeNumber({
    name: 'DEADMAN_TIMEOUT_SLACK_MS',
    what: "What a run may overstay its job's timeout before a reaper takes it. Milliseconds.",
    default: 5_000,
    min: 0,
    max: 3_600_000,
  }),
  cancelGraceMs: wholeNumber({
    name: 'DEADMAN_CANCEL_GRACE_MS',
    what: 'Time a run has to end after its cancel was asked for. Milliseconds.',
    default: 30_000,
    min: 0,
    max: 3_600_000,
  }),
});
