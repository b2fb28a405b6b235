import type {
  AttemptError,
  AttemptOutcome,
  AttemptRecord,
  Claim,
  ClaimedJob,
  DeadLetter,
  Job,
  JobState,
  JobView,
  OutboxEntry,
  RetryPolicy,
} from '@deadman/domain';

/** A job as the statements return it. */
export interface JobRow {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  readonly payload: string;
  readonly max_attempts: number;
  readonly retry: RetryPolicy;
  /** The driver gives a `bigint` as a text. */
  readonly timeout_ms: string;
  readonly tags: string[];
  readonly idempotency_key: string | null;
  readonly traceparent: string | null;
  readonly state: JobState;
  readonly version: number;
  readonly attempt: number;
  readonly failures: number;
  readonly lapses: number;
  readonly lapses_in_row: number;
  readonly crashes: number;
  readonly snoozes: number;
  readonly result: string | null;
  readonly created_at: Date;
  readonly scheduled_for: Date;
  readonly claimed_at: Date | null;
  readonly finished_at: Date | null;
  readonly cancel_requested_at: Date | null;
  readonly last_error: (AttemptError & { readonly attempt: number; readonly at: string }) | null;
  readonly claim_token: string | null;
  readonly lease_holder: string | null;
  readonly alone: boolean;
}

export interface JobViewRow extends JobRow {
  readonly worker_seen_at: Date | null;
  readonly progress_value: string | null;
  readonly progress_sequence: number;
  readonly progress_at: Date;
}

export interface AttemptRow {
  readonly job_id: string;
  readonly attempt: number;
  readonly outcome: AttemptOutcome;
  readonly claim_token: string;
  readonly worker_id: string;
  readonly claimed_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly error: AttemptError | null;
  readonly reclaimed_by: string | null;
  readonly reason: string | null;
}

export interface DeadLetterRow {
  readonly id: string;
  readonly job_id: string;
  readonly attempt: number;
  readonly type: string;
  readonly queue: string;
  readonly reason: string;
  readonly error: AttemptError | null;
  readonly failures: number;
  readonly lapses: number;
  readonly died_at: Date;
  readonly recorded_at: Date;
  readonly superseded: boolean;
}

export type OutboxRow =
  | { readonly kind: 'ready'; readonly id: string; readonly queue: string; readonly job_ids: string[] }
  | { readonly kind: 'dead'; readonly id: string; readonly job_id: string; readonly attempt: number };

export function toJob(row: JobRow): Job {
  return {
    id: row.id,
    type: row.type,
    queue: row.queue,
    payload: row.payload,
    maxAttempts: row.max_attempts,
    retry: row.retry,
    timeoutMs: Number(row.timeout_ms),
    tags: row.tags,
    idempotencyKey: row.idempotency_key,
    traceparent: row.traceparent,
    state: row.state,
    version: row.version,
    attempt: row.attempt,
    failures: row.failures,
    lapses: row.lapses,
    lapsesInRow: row.lapses_in_row,
    crashes: row.crashes,
    snoozes: row.snoozes,
    result: row.result,
    createdAt: row.created_at,
    scheduledFor: row.scheduled_for,
    startedAt: row.claimed_at,
    finishedAt: row.finished_at,
    cancelRequestedAt: row.cancel_requested_at,
    lastError: row.last_error && { ...row.last_error, at: new Date(row.last_error.at) },
    claim: toClaim(row),
  };
}

function toClaim(row: JobRow): Claim | null {
  if (row.claim_token === null || row.lease_holder === null || row.claimed_at === null) return null;
  return { token: row.claim_token, workerId: row.lease_holder, claimedAt: row.claimed_at, alone: row.alone };
}

export function toClaimedJob(row: JobRow): ClaimedJob {
  const job = toJob(row);
  if (job.claim === null) throw new TypeError(`Job ${job.id} was claimed and has no claim`);
  return { ...job, claim: job.claim };
}

export function toJobView(row: JobViewRow): JobView {
  const { progress_value: value, progress_sequence: sequence, progress_at: at } = row;
  return {
    ...toJob(row),
    workerSeenAt: row.worker_seen_at,
    progress: value === null ? null : { value, sequence, at },
  };
}

export function toAttempt(row: AttemptRow): AttemptRecord {
  return {
    jobId: row.job_id,
    attempt: row.attempt,
    outcome: row.outcome,
    claimToken: row.claim_token,
    workerId: row.worker_id,
    claimedAt: row.claimed_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    error: row.error,
    reclaimedBy: row.reclaimed_by,
    reason: row.reason,
  };
}

export function toDeadLetter(row: DeadLetterRow): DeadLetter {
  return {
    id: row.id,
    jobId: row.job_id,
    attempt: row.attempt,
    type: row.type,
    queue: row.queue,
    reason: row.reason,
    error: row.error,
    failures: row.failures,
    lapses: row.lapses,
    diedAt: row.died_at,
    recordedAt: row.recorded_at,
    superseded: row.superseded,
  };
}

export function toOutboxEntry(row: OutboxRow): OutboxEntry {
  return row.kind === 'ready'
    ? { id: row.id, kind: 'ready', queue: row.queue, jobIds: row.job_ids }
    : { id: row.id, kind: 'dead', jobId: row.job_id, attempt: row.attempt };
}
