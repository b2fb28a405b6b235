import { DEFAULT_LIMITS } from '@deadman/domain';
import { defineSlice } from '../define-config.js';
import { wholeNumber } from '../variable.js';

const DAY_MS = 86_400_000;

/** The domain's `JobLimits`. One set holds for all workers and reapers of a deployment. */
export const limitsSlice = defineSlice(
  'Limits of a job',
  {
    quarantineFrom: wholeNumber({
      name: 'DEADMAN_QUARANTINE_FROM',
      what: 'The lapse in a row that sends a job to quarantine, and each one after it.',
      default: DEFAULT_LIMITS.quarantineFrom,
      min: 1,
      max: 1_000,
    }),
    quarantineBaseMs: wholeNumber({
      name: 'DEADMAN_QUARANTINE_BASE_MS',
      what: 'Delay of the first quarantine; doubles with each further lapse in a row. Milliseconds.',
      default: DEFAULT_LIMITS.quarantineBaseMs,
      min: 1,
      max: DAY_MS,
    }),
    quarantineMaxMs: wholeNumber({
      name: 'DEADMAN_QUARANTINE_MAX_MS',
      what: 'Longest delay of a quarantine. Milliseconds.',
      default: DEFAULT_LIMITS.quarantineMaxMs,
      min: 1,
      max: DAY_MS,
    }),
    crashBudget: wholeNumber({
      name: 'DEADMAN_CRASH_BUDGET',
      what: 'Lapses of a job that ran alone, in a row, that make it dead.',
      default: DEFAULT_LIMITS.crashBudget,
      min: 1,
      max: 1_000,
    }),
    maxSnoozes: wholeNumber({
      name: 'DEADMAN_MAX_SNOOZES',
      what: 'Snoozes a job may take; the next one makes it dead.',
      default: DEFAULT_LIMITS.maxSnoozes,
      min: 0,
      max: 1_000_000,
    }),
    minSnoozeMs: wholeNumber({
      name: 'DEADMAN_MIN_SNOOZE_MS',
      what: 'Shortest snooze; a shorter one is lengthened to it. Milliseconds.',
      default: DEFAULT_LIMITS.minSnoozeMs,
      min: 1,
      max: DAY_MS,
    }),
  },
  [
    {
      variables: ['DEADMAN_QUARANTINE_BASE_MS', 'DEADMAN_QUARANTINE_MAX_MS'],
      holds: ({ quarantineBaseMs, quarantineMaxMs }) => quarantineBaseMs <= quarantineMaxMs,
      rule: 'the first delay of a quarantine must not be longer than the longest',
    },
  ],
);
