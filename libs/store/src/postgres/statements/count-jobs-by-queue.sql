-- count-jobs-by-queue: how many jobs match, counting no further than asked. The companion of list-jobs-by-queue.
--
-- $1 states, $2 $3 position after which the oldest comes, $4 $5 position before which the newest comes, $6 queues, or
-- NULL for all, $7 most to count.
--
-- Index: jobs_by_queue. Concurrency: reads one snapshot.
WITH RECURSIVE names (queue) AS (
  (SELECT j.queue FROM deadman.jobs AS j WHERE $6::text[] IS NULL ORDER BY j.queue LIMIT 1)
  UNION ALL
  SELECT (SELECT j.queue FROM deadman.jobs AS j WHERE j.queue > n.queue ORDER BY j.queue LIMIT 1)
  FROM names AS n
  WHERE n.queue IS NOT NULL
),
queues AS MATERIALIZED (
  SELECT q.queue FROM unnest($6::text[]) AS q (queue)
  UNION ALL
  SELECT n.queue FROM names AS n WHERE n.queue IS NOT NULL
)
SELECT count(*)::integer AS count
FROM (
  SELECT
  FROM queues AS q
  CROSS JOIN unnest($1::text[]) AS s (state)
  CROSS JOIN LATERAL (
    SELECT
    FROM deadman.jobs AS j
    WHERE
      j.queue = q.queue
      AND j.state = s.state
      AND (j.created_at, j.id) > ($2::timestamptz, $3::uuid)
      AND (j.created_at, j.id) < ($4::timestamptz, $5::uuid)
    LIMIT $7::integer
  ) AS found
  LIMIT $7::integer
) AS matching;
