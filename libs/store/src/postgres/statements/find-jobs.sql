-- find-jobs: those of the named jobs that are stored.
--
-- $1 ids.
--
-- Index: jobs_pkey. Concurrency: reads one snapshot.
SELECT
  j.id, j.type, j.queue, j.payload, j.max_attempts, j.retry, j.timeout_ms, j.tags, j.idempotency_key, j.traceparent,
  j.state, j.version, j.attempt, j.failures, j.lapses, j.lapses_in_row, j.crashes, j.snoozes, j.result, j.created_at,
  j.scheduled_for, j.claimed_at, j.finished_at, j.cancel_requested_at, j.last_error, j.claim_token, j.lease_holder, j.alone
FROM deadman.jobs AS j
WHERE j.id = ANY ($1::uuid[]);
