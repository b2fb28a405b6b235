-- purge-workers: deletes rows of workers that were last seen long ago. A missing row says the same as an old one.
--
-- $1 time kept in ms, $2 most rows.
--
-- Index: none; there are as many rows as processes were started lately. Concurrency: rows that are beating are skipped.
WITH gone AS MATERIALIZED (
  SELECT w.incarnation
  FROM deadman.workers AS w
  WHERE w.last_seen <= deadman.clock() - $1::double precision * interval '1 ms'
  LIMIT $2::integer
  FOR UPDATE SKIP LOCKED
),
deleted AS (
  DELETE FROM deadman.workers AS w USING gone WHERE w.incarnation = gone.incarnation RETURNING w.incarnation
)
SELECT count(*)::integer AS workers
FROM deleted;
