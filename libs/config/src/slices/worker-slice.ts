import { defineSlice } from '../define-config.js';
import { text, wholeNumber } from '../variable.js';

export const workerSlice = defineSlice('Worker', {
  slots: wholeNumber({
    name: 'DEADMAN_SLOTS',
    what: 'Handlers that run at once in one worker.',
    default: 16,
    min: 1,
    max: 10_000,
  }),
  handlers: text({
    name: 'DEADMAN_HANDLERS',
    what: "A folder or module with a team's own handlers.",
    default: null,
    pattern: /^.+$/,
    allowed: 'a path or the name of a module',
  }),
  transactions: wholeNumber({
    name: 'DEADMAN_TRANSACTIONS',
    what: "Transactions of handlers that are open at once in one worker; others wait. Each has a connection of its own, beside the process's pool.",
    default: 10,
    min: 1,
    max: 1_000,
  }),
  quarantineWaitMs: wholeNumber({
    name: 'DEADMAN_QUARANTINE_WAIT_MS',
    what: 'Time a job waits in quarantine for a worker whose slots are empty, until workers empty theirs for it. Milliseconds.',
    default: 60_000,
    min: 1_000,
    max: 86_400_000,
  }),
  drainMs: wholeNumber({
    name: 'DEADMAN_DRAIN_MS',
    what: 'At shutdown, time for running handlers to finish before their signal is aborted. Milliseconds. A supervisor has to wait for this and the next together.',
    default: 25_000,
    min: 0,
    max: 86_400_000,
  }),
  abortGraceMs: wholeNumber({
    name: 'DEADMAN_ABORT_GRACE_MS',
    what: 'At shutdown, time between the abort and handing back what still runs. Milliseconds.',
    default: 5_000,
    min: 0,
    max: 3_600_000,
  }),
});
