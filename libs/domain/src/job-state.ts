/**
 * The closed set of states a job can be in. Names are those of the database; on the wire they are lower case.
 *
 * PENDING    ready to run, waits for a worker.
 * SCHEDULED  waits for `scheduledFor`: a delayed submit, a snooze, or quarantine.
 * RUNNING    claimed by a worker, whose claim token is part of the fence.
 * SUCCEEDED  the handler finished and its result is stored.
 * FAILED     the last attempt failed and a retry is due at `scheduledFor`.
 * DEAD       the budget is spent, or the failure cannot be retried.
 * CANCELLED  somebody asked for it to end, or the handler did.
 */
export const JOB_STATES = ['PENDING', 'SCHEDULED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'DEAD', 'CANCELLED'] as const;

export type JobState = (typeof JOB_STATES)[number];

/** The states that end a job. Only a person's retry leads out of DEAD and CANCELLED; nothing leads out of SUCCEEDED. */
export const TERMINAL_STATES = ['SUCCEEDED', 'DEAD', 'CANCELLED'] as const satisfies readonly JobState[];

export type TerminalState = (typeof TERMINAL_STATES)[number];

export function isTerminal(state: JobState): state is TerminalState {
  return (TERMINAL_STATES as readonly JobState[]).includes(state);
}

/** How an attempt ended, as its history row says. `running` is never stored: it is the attempt that the job row holds. */
export const ATTEMPT_OUTCOMES = [
  'running',
  'succeeded',
  'failed',
  'snoozed',
  'released',
  'lapsed',
  'cancelled',
] as const;

export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];
