-- list-jobs-by-tag: a page of jobs in the order of their creation. Used when a tag is asked for.
--
-- $1 newest first, $2 states, $3 $4 position after which the oldest comes, $5 $6 position before which the newest
-- comes, $7 tags, $8 types or NULL, $9 queues or NULL, $10 most rows.
--
-- Indexes: job_tags_pkey, once per tag, so that a page costs the same however deep it is. All else is an opaque test on
-- the jobs it finds. The branch of the other order is not run. jobs_pkey, progress_pkey and workers_pkey for what is
-- shown.
--
-- Concurrency: reads one snapshot.
WITH newest AS MATERIALIZED (
  SELECT DISTINCT found.created_at, found.id
  FROM unnest($7::text[]) AS g (tag)
  CROSS JOIN LATERAL (
    SELECT t.created_at, t.job_id AS id
    FROM deadman.job_tags AS t
    JOIN deadman.jobs AS j ON j.id = t.job_id
    WHERE
      $1::boolean
      AND t.tag = g.tag
      AND (t.created_at, t.job_id) > ($3::timestamptz, $4::uuid)
      AND (t.created_at, t.job_id) < ($5::timestamptz, $6::uuid)
      AND (
        j.state = ANY ($2::text[])
        AND ($8::text[] IS NULL OR j.type = ANY ($8))
        AND ($9::text[] IS NULL OR j.queue = ANY ($9))
      ) IS TRUE
    ORDER BY t.created_at DESC, t.job_id DESC
    LIMIT $10::integer
  ) AS found
  ORDER BY found.created_at DESC, found.id DESC
  LIMIT $10::integer
),
oldest AS MATERIALIZED (
  SELECT DISTINCT found.created_at, found.id
  FROM unnest($7::text[]) AS g (tag)
  CROSS JOIN LATERAL (
    SELECT t.created_at, t.job_id AS id
    FROM deadman.job_tags AS t
    JOIN deadman.jobs AS j ON j.id = t.job_id
    WHERE
      NOT $1::boolean
      AND t.tag = g.tag
      AND (t.created_at, t.job_id) > ($3::timestamptz, $4::uuid)
      AND (t.created_at, t.job_id) < ($5::timestamptz, $6::uuid)
      AND (
        j.state = ANY ($2::text[])
        AND ($8::text[] IS NULL OR j.type = ANY ($8))
        AND ($9::text[] IS NULL OR j.queue = ANY ($9))
      ) IS TRUE
    ORDER BY t.created_at, t.job_id
    LIMIT $10::integer
  ) AS found
  ORDER BY found.created_at, found.id
  LIMIT $10::integer
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
