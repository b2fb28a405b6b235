-- count-jobs-by-tag: how many jobs match, counting no further than asked. The companion of list-jobs-by-tag.
--
-- $1 states, $2 $3 position after which the oldest comes, $4 $5 position before which the newest comes, $6 tags, $7
-- types or NULL, $8 queues or NULL, $9 most to count.
--
-- Indexes: job_tags_pkey, jobs_pkey. Concurrency: reads one snapshot.
SELECT count(*)::integer AS count
FROM (
  SELECT DISTINCT found.job_id
  FROM unnest($6::text[]) AS g (tag)
  CROSS JOIN LATERAL (
    SELECT t.job_id
    FROM deadman.job_tags AS t
    JOIN deadman.jobs AS j ON j.id = t.job_id
    WHERE
      t.tag = g.tag
      AND (t.created_at, t.job_id) > ($2::timestamptz, $3::uuid)
      AND (t.created_at, t.job_id) < ($4::timestamptz, $5::uuid)
      AND (
        j.state = ANY ($1::text[])
        AND ($7::text[] IS NULL OR j.type = ANY ($7))
        AND ($8::text[] IS NULL OR j.queue = ANY ($8))
      ) IS TRUE
    ORDER BY t.created_at DESC, t.job_id DESC
    LIMIT $9::integer
  ) AS found
  LIMIT $9::integer
) AS matching;
