-- find-suspects: running jobs that a reaper has reason to look at, the longest claimed first (protocol §9).
--
-- $1 TTL, $2 slack after a timeout, $3 grace after a cancel request, all in ms; $4 most rows.
--
-- Indexes: jobs_running, all of it; workers_pkey; jobs_pkey for what is returned.
--
-- Concurrency: reads one snapshot and decides nothing: whoever acts on it carries the fence of the claim it saw.
WITH clock AS MATERIALIZED (SELECT deadman.clock() AS now),
running AS (
  SELECT
    j.id,
    j.claimed_at,
    extract(epoch FROM clock.now - j.claimed_at)::double precision * 1000 AS claim_age_ms,
    extract(epoch FROM clock.now - j.cancel_requested_at)::double precision * 1000 AS cancel_age_ms,
    extract(epoch FROM clock.now - w.last_seen)::double precision * 1000 AS worker_age_ms,
    j.timeout_ms
  FROM deadman.jobs AS j
  CROSS JOIN clock
  LEFT JOIN deadman.workers AS w ON w.incarnation = j.lease_holder
  WHERE j.state = 'RUNNING' AND j.claimed_at < clock.now - $1::double precision * interval '1 ms'
),
suspects AS MATERIALIZED (
  SELECT r.id, r.claimed_at, r.claim_age_ms, r.cancel_age_ms, r.worker_age_ms
  FROM running AS r
  WHERE
    r.claim_age_ms > $1::double precision + r.timeout_ms + $2::double precision
    OR r.cancel_age_ms > $3::double precision
    OR r.worker_age_ms IS NULL
    OR r.worker_age_ms > $1::double precision
  ORDER BY r.claimed_at, r.id
  LIMIT $4::integer
)
SELECT
  s.claim_age_ms, s.cancel_age_ms, s.worker_age_ms,
  j.id, j.type, j.queue, j.payload, j.max_attempts, j.retry, j.timeout_ms, j.tags, j.idempotency_key, j.traceparent,
  j.state, j.version, j.attempt, j.failures, j.lapses, j.lapses_in_row, j.crashes, j.snoozes, j.result, j.created_at,
  j.scheduled_for, j.claimed_at, j.finished_at, j.cancel_requested_at, j.last_error, j.claim_token, j.lease_holder, j.alone
FROM suspects AS s
JOIN deadman.jobs AS j ON j.id = s.id
ORDER BY s.claimed_at, s.id;
