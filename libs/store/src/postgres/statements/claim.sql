-- claim: gives the named jobs that are ready to a worker (protocol §5).
--
-- $1 ids, $2 token, $3 worker, $4 types it has handlers for, $5 lapses in a row from which a job is in quarantine.
--
-- Index: jobs_pkey. The condition on the rest is one opaque test, so that no other index can tempt the planner with
-- statistics from before a burst.
--
-- Concurrency: rows are locked in id order, so that claims never deadlock, and each is judged as it is once it is
-- locked. Nothing is skipped: a PENDING row that was passed over would look as if its ticket had been used.
WITH locked AS MATERIALIZED (
  SELECT j.id
  FROM deadman.jobs AS j
  WHERE
    j.id = ANY ($1::uuid[])
    AND (j.state = 'PENDING' AND j.type = ANY ($4::text[]) AND j.lapses_in_row < $5::integer) IS TRUE
  ORDER BY j.id
  FOR UPDATE
),
clock AS MATERIALIZED (SELECT deadman.clock() AS now FROM (SELECT count(*) FROM locked) AS once_locked)
UPDATE deadman.jobs AS j
SET
  state = 'RUNNING',
  version = j.version + 1,
  attempt = j.attempt + 1,
  claim_token = $2::uuid,
  lease_holder = $3::uuid,
  claimed_at = clock.now,
  alone = false
FROM locked AS l
CROSS JOIN clock
WHERE j.id = l.id
RETURNING
  j.id, j.type, j.queue, j.payload, j.max_attempts, j.retry, j.timeout_ms, j.tags, j.idempotency_key, j.traceparent,
  j.state, j.version, j.attempt, j.failures, j.lapses, j.lapses_in_row, j.crashes, j.snoozes, j.result, j.created_at,
  j.scheduled_for, j.claimed_at, j.finished_at, j.cancel_requested_at, j.last_error, j.claim_token, j.lease_holder, j.alone;
