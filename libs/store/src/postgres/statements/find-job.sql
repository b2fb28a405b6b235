-- find-job: a job with its progress and the sight of its worker. A row that does not run has no lease holder.
--
-- $1 id.
--
-- Indexes: jobs_pkey, progress_pkey, workers_pkey. Concurrency: reads one snapshot.
SELECT
  j.id, j.type, j.queue, j.payload, j.max_attempts, j.retry, j.timeout_ms, j.tags, j.idempotency_key, j.traceparent,
  j.state, j.version, j.attempt, j.failures, j.lapses, j.lapses_in_row, j.crashes, j.snoozes, j.result, j.created_at,
  j.scheduled_for, j.claimed_at, j.finished_at, j.cancel_requested_at, j.last_error, j.claim_token, j.lease_holder, j.alone,
  w.last_seen AS worker_seen_at, p.value AS progress_value, p.sequence AS progress_sequence, p.updated_at AS progress_at
FROM deadman.jobs AS j
LEFT JOIN deadman.progress AS p ON p.job_id = j.id
LEFT JOIN deadman.workers AS w ON w.incarnation = j.lease_holder
WHERE j.id = $1::uuid;
