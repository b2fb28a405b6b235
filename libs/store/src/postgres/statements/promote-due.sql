-- promote-due: moves jobs whose time has come to PENDING (protocol §10): the longest due, or those of the named that
-- are.
--
-- $1 most jobs, $2 ids or NULL.
--
-- Indexes: jobs_waiting; jobs_pkey for named ones, whose state is an opaque test. The branch that is not wanted is not
-- run.
--
-- Concurrency: rows that others hold are skipped; whoever holds one is promoting it, or is ending it.
WITH clock AS MATERIALIZED (SELECT deadman.clock() AS now),
longest AS MATERIALIZED (
  SELECT j.id
  FROM deadman.jobs AS j
  WHERE
    $2::uuid[] IS NULL
    AND j.state IN ('SCHEDULED', 'FAILED')
    AND j.scheduled_for <= (SELECT now FROM clock)
  ORDER BY j.scheduled_for, j.id
  LIMIT $1::integer
  FOR UPDATE SKIP LOCKED
),
named AS MATERIALIZED (
  SELECT j.id
  FROM deadman.jobs AS j
  WHERE
    j.id = ANY ($2::uuid[])
    AND (j.state IN ('SCHEDULED', 'FAILED') AND j.scheduled_for <= (SELECT now FROM clock)) IS TRUE
  ORDER BY j.id
  LIMIT $1::integer
  FOR UPDATE SKIP LOCKED
),
written AS (
  UPDATE deadman.jobs AS j
  SET state = 'PENDING', version = j.version + 1
  FROM (TABLE longest UNION ALL TABLE named) AS due
  WHERE j.id = due.id
  RETURNING j.id, j.queue, j.scheduled_for
),
tickets AS (
  INSERT INTO deadman.outbox (id, created_at, next_try_at, kind, queue, job_ids)
  SELECT deadman.uuid_v7(), clock.now, clock.now, 'ready', w.queue, array_agg(w.id ORDER BY w.id)
  FROM written AS w
  CROSS JOIN clock
  GROUP BY w.queue, clock.now
  RETURNING id, queue, job_ids
)
SELECT
  t.id, t.queue, t.job_ids, total.promoted,
  extract(epoch FROM (SELECT now FROM clock) - total.earliest)::double precision * 1000 AS max_delay_ms
FROM tickets AS t
CROSS JOIN (SELECT count(*)::integer AS promoted, min(w.scheduled_for) AS earliest FROM written AS w) AS total;
