import { defineSlice } from '../define-config.js';
import { scaledNumber } from '../variable.js';

const DAY_MS = 86_400_000;
const DAYS = { min: 1, max: 3_650, factor: DAY_MS } as const;

export const retentionSlice = defineSlice('Retention', {
  finishedKeptMs: scaledNumber({
    name: 'DEADMAN_FINISHED_KEPT_DAYS',
    what: 'How long succeeded and cancelled jobs are kept. Days. A job outlives this as long as its idempotency key lives.',
    default: 7,
    ...DAYS,
  }),
  deadKeptMs: scaledNumber({
    name: 'DEADMAN_DEAD_KEPT_DAYS',
    what: 'How long dead jobs are kept. Days.',
    default: 90,
    ...DAYS,
  }),
  keyKeptMs: scaledNumber({
    name: 'DEADMAN_KEY_KEPT_DAYS',
    what: 'How long an idempotency key is kept after its job has ended. Days.',
    default: 7,
    ...DAYS,
  }),
});
