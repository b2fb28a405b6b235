-- claim-idle: gives ready jobs to a worker that has free slots and no tickets, the oldest first (protocol §5). With
-- `alone`, gives it jobs from quarantine instead, and marks them (§9).
--
-- $1 token, $2 worker, $3 types, $4 queues, $5 most jobs, $6 least age in ms, $7 alone, $8 lapses in a row from which a
-- job is in quarantine.
--
-- Indexes: jobs_ready, from its oldest entry for each pair of queue and type, so that jobs of types which nobody runs cost
-- nothing however many there are; jobs_lapsed for quarantine; jobs_pkey to lock and to update. The branch that is not
-- wanted is not run. Other conditions are opaque tests, so that no other index can tempt the planner.
--
-- Concurrency: rows that others hold are skipped, so that it never waits and cannot deadlock. Candidates are gathered
-- without locks and in a greater number than asked for, so that several claims at once find rows for each; only what is
-- taken is locked, and judged again once it is.
WITH clock AS MATERIALIZED (SELECT deadman.clock() AS now),
candidates AS MATERIALIZED (
  SELECT ready.id, ready.created_at
  FROM unnest($4::text[]) AS q (queue)
  CROSS JOIN unnest($3::text[]) AS t (type)
  CROSS JOIN LATERAL (
    SELECT j.id, j.created_at
    FROM deadman.jobs AS j
    WHERE
      NOT $7::boolean
      AND j.queue || '/' || j.type = q.queue || '/' || t.type
      AND j.state = 'PENDING'
      AND j.created_at <= (SELECT now FROM clock) - $6::double precision * interval '1 ms'
      AND (j.lapses_in_row < $8::integer) IS TRUE
    ORDER BY j.created_at, j.id
    LIMIT 2 * $5::integer + 100
  ) AS ready
  ORDER BY ready.created_at, ready.id
  LIMIT 2 * $5::integer + 100
),
crowd AS MATERIALIZED (
  SELECT j.id, j.created_at
  FROM candidates AS c
  JOIN deadman.jobs AS j ON j.id = c.id
  WHERE (j.state = 'PENDING' AND j.lapses_in_row < $8::integer) IS TRUE
  ORDER BY c.created_at, c.id
  LIMIT $5::integer
  FOR UPDATE OF j SKIP LOCKED
),
quarantined AS MATERIALIZED (
  SELECT j.id, j.created_at
  FROM deadman.jobs AS j
  WHERE
    $7::boolean
    AND j.state = 'PENDING'
    AND j.lapses_in_row > 0
    AND j.lapses_in_row >= $8::integer
    AND j.created_at <= (SELECT now FROM clock) - $6::double precision * interval '1 ms'
    AND (j.queue = ANY ($4::text[]) AND j.type = ANY ($3::text[])) IS TRUE
  ORDER BY j.created_at, j.id
  LIMIT $5::integer
  FOR UPDATE SKIP LOCKED
),
oldest AS MATERIALIZED (
  SELECT either.id
  FROM (TABLE crowd UNION ALL TABLE quarantined) AS either
  ORDER BY either.created_at, either.id
  LIMIT $5::integer
)
UPDATE deadman.jobs AS j
SET
  state = 'RUNNING',
  version = j.version + 1,
  attempt = j.attempt + 1,
  claim_token = $1::uuid,
  lease_holder = $2::uuid,
  claimed_at = clock.now,
  alone = $7::boolean
FROM oldest AS o
CROSS JOIN clock
WHERE j.id = o.id
RETURNING
  j.id, j.type, j.queue, j.payload, j.max_attempts, j.retry, j.timeout_ms, j.tags, j.idempotency_key, j.traceparent,
  j.state, j.version, j.attempt, j.failures, j.lapses, j.lapses_in_row, j.crashes, j.snoozes, j.result, j.created_at,
  j.scheduled_for, j.claimed_at, j.finished_at, j.cancel_requested_at, j.last_error, j.claim_token, j.lease_holder, j.alone;
