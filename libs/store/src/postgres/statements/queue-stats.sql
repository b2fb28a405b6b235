-- queue-stats: jobs per state of each queue, and how long its oldest pending job has been due.
--
-- $1 queues, $2 states whose jobs wait or run, which are counted in full, $3 states that end a job, $4 how far to count
-- those.
--
-- Index: jobs_by_queue. Concurrency: reads one snapshot.
SELECT q.queue, s.state, counted.count, false AS is_capped, counted.oldest_age_ms
FROM unnest($1::text[]) AS q (queue)
CROSS JOIN unnest($2::text[]) AS s (state)
CROSS JOIN LATERAL (
  SELECT
    count(*)::integer AS count,
    extract(epoch FROM deadman.clock() - min(j.scheduled_for))::double precision * 1000 AS oldest_age_ms
  FROM deadman.jobs AS j
  WHERE j.queue = q.queue AND j.state = s.state
) AS counted
UNION ALL
SELECT q.queue, s.state, least(counted.count, $4::integer), counted.count > $4::integer, NULL
FROM unnest($1::text[]) AS q (queue)
CROSS JOIN unnest($3::text[]) AS s (state)
CROSS JOIN LATERAL (
  SELECT count(*)::integer AS count
  FROM (
    SELECT FROM deadman.jobs AS j WHERE j.queue = q.queue AND j.state = s.state LIMIT $4::integer + 1
  ) AS ended
) AS counted;
