import type { EngineEvent } from '@deadman/domain';

export type Level = 'debug' | 'info' | 'warn';

/** What the log says of an event. `event` is stable: alerts and searches hang on it. */
export interface EventLine {
  readonly level: Level;
  readonly event: string;
  readonly msg: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

type Kind = EngineEvent['kind'];
type OfKind<K extends Kind> = Extract<EngineEvent, { kind: K }>;

/**
 * The line for every kind of event, null for none. Info is every job event that is not routine; a job that just starts
 * and succeeds is debug, as is whatever happens many times a second on a quiet day. Trouble of the service is a warning.
 */
const LINES: { readonly [K in Kind]: (event: OfKind<K>) => EventLine | null } = {
  'jobs-submitted': (event) => line('debug', 'jobs.submitted', 'Jobs were stored', fieldsOf(event)),
  // Overload refuses many a second. Each client hears of it, and operators see the counter.
  'submit-rejected': ({ because, count }) =>
    because === 'data'
      ? line('warn', 'jobs.rejected', 'A submit was refused: the database cannot store what it says', {
          because,
          count,
        })
      : line('debug', 'jobs.rejected', 'A submit was refused: too many wait', { because, count }),
  'tickets-handled': ({ result, count }) =>
    line(result === 'malformed' ? 'warn' : 'debug', `tickets.${result}`, 'Tickets were handled', { count }),
  'jobs-claimed': ({ by, count }) =>
    line(by === 'quarantine' ? 'info' : 'debug', 'jobs.claimed', 'Jobs were claimed', { by, count }),
  'claim-failed': ({ error }) => line('warn', 'claim.failed', 'A claim failed and will be tried again', { err: error }),
  'attempt-started': (event) => line('debug', 'attempt.started', 'An attempt started', fieldsOf(event)),
  'attempt-settled': settled,
  'write-fenced': (event) =>
    line('info', 'write.fenced', 'A late write was refused: the job has moved on', fieldsOf(event)),
  'run-lost': (event) => line('info', 'run.lost', 'A run lost its lease and was stopped', fieldsOf(event)),
  'run-aborted': (event) => line('info', 'run.aborted', 'The signal of a run was aborted', fieldsOf(event)),
  'step-in-doubt': (event) =>
    line('warn', 'step.in-doubt', 'A step is done again, and may have happened before', fieldsOf(event)),
  'orphan-released': (event) =>
    line('info', 'claim.orphan-released', 'A claim whose reply was lost was handed back', fieldsOf(event)),
  'leases-renewed': ({ result, count }) =>
    line(RENEWAL_LEVELS[result], `leases.${result === 'error' ? 'renewal-failed' : result}`, RENEWALS[result], {
      count,
    }),
  'beat-failed': ({ error }) => line('warn', 'beat.failed', 'The heartbeat did not reach the database', { err: error }),
  'drain-for-quarantine': () =>
    line('info', 'worker.draining-for-quarantine', 'The worker empties its slots for a job in quarantine', {}),
  'reaper-scanned': (event) => line('debug', 'reaper.scanned', 'The reaper scanned', fieldsOf(event)),
  'job-reclaimed': ({ recoveryMs, ...event }) =>
    line('info', 'lease.expired', 'A job was taken from its worker', { ...fieldsOf(event), durationMs: recoveryMs }),
  'jobs-promoted': ({ count, maxDelayMs }) =>
    count === 0 ? null : line('debug', 'jobs.promoted', 'Jobs became due', { count, maxDelayMs }),
  'outbox-sent': ({ by, count, failed }) =>
    failed > 0
      ? line('warn', 'outbox.send-failed', 'Wake-ups could not be sent; the relay tries again', { by, count, failed })
      : line('debug', 'outbox.sent', 'Wake-ups were sent', { by, count }),
  'dead-letter-recorded': (event) =>
    line('info', 'dead-letter.recorded', 'A dead letter was recorded', fieldsOf(event)),
  'jobs-purged': ({ jobs }) =>
    jobs === 0 ? null : line('debug', 'jobs.purged', 'Old jobs were deleted', { count: jobs }),
  'loop-turned': () => null,
  'loop-failed': ({ loop, error }) =>
    line('warn', 'loop.failed', 'A background pass failed and will be tried again', { loop, err: error }),
};

const RENEWAL_LEVELS = { renewed: 'debug', refused: 'info', error: 'warn' } as const;
const RENEWALS = {
  renewed: 'Leases were renewed',
  refused: 'Leases are held by others',
  error: 'Leases could not be renewed',
} as const;

export function eventLine<K extends Kind>(event: OfKind<K>): EventLine | null {
  return LINES[event.kind as K](event);
}

/** Named after what became of the job where it ended, else after what became of the attempt. */
function settled({
  outcome,
  state,
  ranMs,
  endToEndMs,
  error,
  reason,
  jobId,
  type,
  queue,
  attempt,
}: OfKind<'attempt-settled'>): EventLine {
  const fields = {
    jobId,
    type,
    queue,
    attempt,
    outcome,
    state,
    durationMs: ranMs,
    endToEndMs,
    reason,
    ...(error && { err: error }),
  };
  if (state === 'DEAD') return line('info', 'job.dead', 'A job is dead', fields);
  if (state === 'CANCELLED') return line('info', 'job.cancelled', 'A job was cancelled', fields);
  const isRoutine = outcome === 'succeeded' || outcome === 'snoozed';
  return line(isRoutine ? 'debug' : 'info', `attempt.${outcome}`, `An attempt ${outcome}`, fields);
}

/** Everything an event says besides its kind, which the line's own name replaces. */
function fieldsOf({ kind: _kind, ...fields }: { readonly kind: Kind }): Readonly<Record<string, unknown>> {
  return fields;
}

function line(level: Level, event: string, msg: string, fields: Readonly<Record<string, unknown>>): EventLine {
  return { level, event, msg, fields };
}
