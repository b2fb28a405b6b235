-- count-jobs-by-type: how many jobs match, counting no further than asked. The companion of list-jobs-by-type.
--
-- $1 states, $2 $3 position after which the oldest comes, $4 $5 position before which the newest comes, $6 types, $7
-- queues or NULL, $8 most to count.
--
-- Index: jobs_by_type. Concurrency: reads one snapshot.
SELECT count(*)::integer AS count
FROM (
  SELECT
  FROM unnest($6::text[]) AS t (type)
  CROSS JOIN unnest($1::text[]) AS s (state)
  CROSS JOIN LATERAL (
    SELECT
    FROM deadman.jobs AS j
    WHERE
      j.type = t.type
      AND j.state = s.state
      AND (j.created_at, j.id) > ($2::timestamptz, $3::uuid)
      AND (j.created_at, j.id) < ($4::timestamptz, $5::uuid)
      AND ($7::text[] IS NULL OR j.queue = ANY ($7)) IS TRUE
    LIMIT $8::integer
  ) AS found
  LIMIT $8::integer
) AS matching;
