-- find-key-holders: the jobs that hold idempotency keys, and the requests they were made from.
--
-- $1 keys.
--
-- Indexes: idempotency_keys_pkey, jobs_pkey.
--
-- Concurrency: reads one snapshot. A key and its job are stored and deleted together, so that a key without its job is
-- not seen.
SELECT
  k.key AS held_key, k.fingerprint,
  j.id, j.type, j.queue, j.payload, j.max_attempts, j.retry, j.timeout_ms, j.tags, j.idempotency_key, j.traceparent,
  j.state, j.version, j.attempt, j.failures, j.lapses, j.lapses_in_row, j.crashes, j.snoozes, j.result, j.created_at,
  j.scheduled_for, j.claimed_at, j.finished_at, j.cancel_requested_at, j.last_error, j.claim_token, j.lease_holder, j.alone
FROM deadman.idempotency_keys AS k
JOIN deadman.jobs AS j ON j.id = k.job_id
WHERE k.key = ANY ($1::text[]);
