-- list-dead-letters: a page of dead letters in the order in which they were recorded.
--
-- $1 newest first, $2 $3 position after which the page begins, $4 types or NULL, $5 queues or NULL, $6 reasons or NULL,
-- $7 most rows.
--
-- Indexes: dead_letters_by_time, from the position on; dead_letters_pkey for what is returned. The branch of the other
-- order is not run.
--
-- Concurrency: reads one snapshot.
WITH newest AS MATERIALIZED (
  SELECT l.id, l.recorded_at
  FROM deadman.dead_letters AS l
  WHERE
    $1::boolean
    AND (l.recorded_at, l.id) < ($2::timestamptz, $3::uuid)
    AND ($4::text[] IS NULL OR l.type = ANY ($4))
    AND ($5::text[] IS NULL OR l.queue = ANY ($5))
    AND ($6::text[] IS NULL OR l.reason = ANY ($6))
  ORDER BY l.recorded_at DESC, l.id DESC
  LIMIT $7::integer
),
oldest AS MATERIALIZED (
  SELECT l.id, l.recorded_at
  FROM deadman.dead_letters AS l
  WHERE
    NOT $1::boolean
    AND (l.recorded_at, l.id) > ($2::timestamptz, $3::uuid)
    AND ($4::text[] IS NULL OR l.type = ANY ($4))
    AND ($5::text[] IS NULL OR l.queue = ANY ($5))
    AND ($6::text[] IS NULL OR l.reason = ANY ($6))
  ORDER BY l.recorded_at, l.id
  LIMIT $7::integer
)
SELECT
  l.id, l.job_id, l.attempt, l.type, l.queue, l.reason, l.error, l.failures, l.lapses, l.died_at, l.recorded_at,
  l.superseded
FROM (TABLE newest UNION ALL TABLE oldest) AS page
JOIN deadman.dead_letters AS l ON l.id = page.id
ORDER BY
  CASE WHEN $1::boolean THEN page.recorded_at END DESC, CASE WHEN $1::boolean THEN page.id END DESC, page.recorded_at,
  page.id;
