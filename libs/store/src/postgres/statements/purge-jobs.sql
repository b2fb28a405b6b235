-- purge-jobs: deletes ended jobs that are past their time, with all that belongs to them.
--
-- $1 time SUCCEEDED and CANCELLED are kept, $2 time DEAD is kept, both in ms; $3 most jobs.
--
-- Indexes: jobs_ended, from the longest ended in each state; idempotency_keys_pkey and outbox_one_row_per_death for
-- what keeps a job; jobs_pkey, job_tags_pkey, attempts_pkey, effects_pkey, steps_pkey, progress_pkey and
-- dead_letters_one_per_death for what goes.
--
-- Concurrency: rows that others hold are skipped. A job that somebody retries is held by them, or no longer ended.
WITH clock AS MATERIALIZED (SELECT deadman.clock() AS now),
victims AS MATERIALIZED (
  SELECT past.id, past.tags, past.created_at, past.attempt
  FROM (VALUES ('SUCCEEDED', $1::double precision), ('CANCELLED', $1), ('DEAD', $2::double precision)) AS kept (state, ms)
  CROSS JOIN LATERAL (
    SELECT j.id, j.tags, j.created_at, j.attempt
    FROM deadman.jobs AS j
    WHERE
      j.state = kept.state
      AND j.finished_at IS NOT NULL
      AND j.finished_at <= (SELECT now FROM clock) - kept.ms * interval '1 ms'
      AND NOT EXISTS (SELECT FROM deadman.idempotency_keys AS k WHERE k.key = j.idempotency_key AND k.job_id = j.id)
      AND NOT EXISTS (SELECT FROM deadman.outbox AS o WHERE o.kind = 'dead' AND o.job_id = j.id)
    ORDER BY j.finished_at
    LIMIT $3::integer
    FOR UPDATE SKIP LOCKED
  ) AS past
  LIMIT $3::integer
),
tags AS (
  DELETE FROM deadman.job_tags AS t
  USING victims AS v
  WHERE t.tag = ANY (v.tags) AND t.created_at = v.created_at AND t.job_id = v.id
),
history AS (DELETE FROM deadman.attempts AS a USING victims AS v WHERE a.job_id = v.id),
effects AS (DELETE FROM deadman.effects AS e USING victims AS v WHERE e.job_id = v.id),
steps AS (DELETE FROM deadman.steps AS s USING victims AS v WHERE s.job_id = v.id),
progress AS (DELETE FROM deadman.progress AS p USING victims AS v WHERE p.job_id = v.id),
letters AS (DELETE FROM deadman.dead_letters AS l USING victims AS v WHERE l.job_id = v.id),
gone AS (DELETE FROM deadman.jobs AS j USING victims AS v WHERE j.id = v.id RETURNING j.id)
SELECT count(*)::integer AS jobs
FROM gone;
