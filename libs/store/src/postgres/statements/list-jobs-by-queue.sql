-- list-jobs-by-queue: a page of jobs in the order of their creation. Used when neither tag nor type is asked for.
--
-- $1 newest first, $2 states, $3 $4 position after which the oldest comes, $5 $6 position before which the newest
-- comes, $7 queues, or NULL for all, $8 most rows.
--
-- Indexes: jobs_by_queue, once per queue and state, so that a page costs the same however deep it is. Without a queue
-- filter the queues are found by skipping from one to the next in the same index. The branch of the other order is not
-- run. jobs_pkey, progress_pkey and workers_pkey for what is shown.
--
-- Concurrency: reads one snapshot.
WITH RECURSIVE names (queue) AS (
  (SELECT j.queue FROM deadman.jobs AS j WHERE $7::text[] IS NULL ORDER BY j.queue LIMIT 1)
  UNION ALL
  SELECT (SELECT j.queue FROM deadman.jobs AS j WHERE j.queue > n.queue ORDER BY j.queue LIMIT 1)
  FROM names AS n
  WHERE n.queue IS NOT NULL
),
queues AS MATERIALIZED (
  SELECT q.queue FROM unnest($7::text[]) AS q (queue)
  UNION ALL
  SELECT n.queue FROM names AS n WHERE n.queue IS NOT NULL
),
newest AS MATERIALIZED (
  SELECT found.created_at, found.id
  FROM queues AS q
  CROSS JOIN unnest($2::text[]) AS s (state)
  CROSS JOIN LATERAL (
    SELECT j.created_at, j.id
    FROM deadman.jobs AS j
    WHERE
      $1::boolean
      AND j.queue = q.queue
      AND j.state = s.state
      AND (j.created_at, j.id) > ($3::timestamptz, $4::uuid)
      AND (j.created_at, j.id) < ($5::timestamptz, $6::uuid)
    ORDER BY j.created_at DESC, j.id DESC
    LIMIT $8::integer
  ) AS found
  ORDER BY found.created_at DESC, found.id DESC
  LIMIT $8::integer
),
oldest AS MATERIALIZED (
  SELECT found.created_at, found.id
  FROM queues AS q
  CROSS JOIN unnest($2::text[]) AS s (state)
  CROSS JOIN LATERAL (
    SELECT j.created_at, j.id
    FROM deadman.jobs AS j
    WHERE
      NOT $1::boolean
      AND j.queue = q.queue
      AND j.state = s.state
      AND (j.created_at, j.id) > ($3::timestamptz, $4::uuid)
      AND (j.created_at, j.id) < ($5::timestamptz, $6::uuid)
    ORDER BY j.created_at, j.id
    LIMIT $8::integer
  ) AS found
  ORDER BY found.created_at, found.id
  LIMIT $8::integer
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
