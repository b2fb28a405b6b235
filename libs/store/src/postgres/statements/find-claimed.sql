-- find-claimed: the jobs that run under a claim token. Clears up a claim whose reply was lost.
--
-- $1 token.
--
-- Index: jobs_running, all of it; there are never more running jobs than slots. Concurrency: reads one snapshot.
SELECT
  j.id, j.type, j.queue, j.payload, j.max_attempts, j.retry, j.timeout_ms, j.tags, j.idempotency_key, j.traceparent,
  j.state, j.version, j.attempt, j.failures, j.lapses, j.lapses_in_row, j.crashes, j.snoozes, j.result, j.created_at,
  j.scheduled_for, j.claimed_at, j.finished_at, j.cancel_requested_at, j.last_error, j.claim_token, j.lease_holder, j.alone
FROM deadman.jobs AS j
WHERE j.state = 'RUNNING' AND j.claim_token = $1::uuid;
