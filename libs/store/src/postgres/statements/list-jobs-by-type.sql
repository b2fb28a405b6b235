-- list-jobs-by-type: a page of jobs in the order of their creation. Used when a type is asked for, and no tag.
--
-- $1 newest first, $2 states, $3 $4 position after which the oldest comes, $5 $6 position before which the newest
-- comes, $7 types, $8 queues or NULL, $9 most rows.
--
-- Indexes: jobs_by_type, once per type and state, so that a page costs the same however deep it is. A queue is an
-- opaque test on what it finds. The branch of the other order is not run. jobs_pkey, progress_pkey and workers_pkey for
-- what is shown.
--
-- Concurrency: reads one snapshot.
WITH newest AS MATERIALIZED (
  SELECT found.created_at, found.id
  FROM unnest($7::text[]) AS t (type)
  CROSS JOIN unnest($2::text[]) AS s (state)
  CROSS JOIN LATERAL (
    SELECT j.created_at, j.id
    FROM deadman.jobs AS j
    WHERE
      $1::boolean
      AND j.type = t.type
      AND j.state = s.state
      AND (j.created_at, j.id) > ($3::timestamptz, $4::uuid)
      AND (j.created_at, j.id) < ($5::timestamptz, $6::uuid)
      AND ($8::text[] IS NULL OR j.queue = ANY ($8)) IS TRUE
    ORDER BY j.created_at DESC, j.id DESC
    LIMIT $9::integer
  ) AS found
  ORDER BY found.created_at DESC, found.id DESC
  LIMIT $9::integer
),
oldest AS MATERIALIZED (
  SELECT found.created_at, found.id
  FROM unnest($7::text[]) AS t (type)
  CROSS JOIN unnest($2::text[]) AS s (state)
  CROSS JOIN LATERAL (
    SELECT j.created_at, j.id
    FROM deadman.jobs AS j
    WHERE
      NOT $1::boolean
      AND j.type = t.type
      AND j.state = s.state
      AND (j.created_at, j.id) > ($3::timestamptz, $4::uuid)
      AND (j.created_at, j.id) < ($5::timestamptz, $6::uuid)
      AND ($8::text[] IS NULL OR j.queue = ANY ($8)) IS TRUE
    ORDER BY j.created_at, j.id
    LIMIT $9::integer
  ) AS found
  ORDER BY found.created_at, found.id
  LIMIT $9::integer
)
SELECT
  j.id, j.type, j.queue, j.payload, j.max_attempts, j.retry, j.timeout_ms, j.tags, j.idempotency_key, j.traceparent,
  j.state, j.version, j.attempt, j.failures, j.lapses, j.lapses_in_row, j.crashes, j.snoozes, j.result, j.created_at,
  j.scheduled_for, j.claimed_at, j.finished_at, j.cancel_requested_at, j.last_error, j.claim_token, j.lease_holder, j.alone,
  w.last_seen AS worker_seen_at, p.value AS progress_value, p.sequence AS progress_sequence, p.updated_at AS progress_at
FROM (TABLE newest UNION ALL TABLE oldest) AS page
JOIN deadman.jobs AS j ON j.id = page.id
LEFT JOIN deadman.progress AS p ON p.job_id = j.id
LEFT JOIN deadman.workers AS w ON w.incarnation = j.lease_holder
ORDER BY
  CASE WHEN $1::boolean THEN page.created_at END DESC, CASE WHEN $1::boolean THEN page.id END DESC, page.created_at, page.id;
