-- find-due-soon: what will be due within a time, soonest first, for the wake-up set.
--
-- $1 within ms, $2 most rows.
--
-- Index: jobs_waiting. Concurrency: reads one snapshot; a hint that nothing hangs on.
WITH clock AS MATERIALIZED (SELECT deadman.clock() AS now)
SELECT j.id, extract(epoch FROM j.scheduled_for - (SELECT now FROM clock))::double precision * 1000 AS in_ms
FROM deadman.jobs AS j
WHERE
  j.state IN ('SCHEDULED', 'FAILED')
  AND j.scheduled_for <= (SELECT now FROM clock) + $1::double precision * interval '1 ms'
ORDER BY j.scheduled_for, j.id
LIMIT $2::integer;
