/**
 * The budgets and delays by which `transition` judges lapses and snoozes. One set holds for a whole deployment, since a
 * job may be settled by any worker and reaped by any reaper.
 */
export interface JobLimits {
  /** The lapse in a row that sends a job to quarantine, and each one after it. Default 7. */
  readonly quarantineFrom: number;
  /** Delay of the first quarantine; doubles with each further lapse in a row. Milliseconds, default 1 000. */
  readonly quarantineBaseMs: number;
  /** Longest delay of a quarantine. Milliseconds, default 60 000. */
  readonly quarantineMaxMs: number;
  /** Lapses of claims that ran alone, in a row, that make a job DEAD: the eighth ends it. Default 8. */
  readonly crashBudget: number;
  /** Snoozes a job may take; the next one makes it DEAD. Default 1 000. */
  readonly maxSnoozes: number;
  /** Shortest snooze; a shorter one is lengthened to it, so that a handler cannot spin. Milliseconds, default 1 000. */
  readonly minSnoozeMs: number;
}

/** `protocol.md` §13. The quarantine numbers come from the simulation told of in §9. */
export const DEFAULT_LIMITS: JobLimits = {
  quarantineFrom: 7,
  quarantineBaseMs: 1_000,
  quarantineMaxMs: 60_000,
  crashBudget: 8,
  maxSnoozes: 1_000,
  minSnoozeMs: 1_000,
};

/** The delay that a job waits in quarantine after its `lapsesInRow`-th lapse in a row, in milliseconds. */
export function quarantineDelayMs(lapsesInRow: number, limits: JobLimits): number {
  const doublings = Math.min(lapsesInRow - limits.quarantineFrom, 30);
  return Math.min(limits.quarantineMaxMs, limits.quarantineBaseMs * 2 ** doublings);
}
