-- purge-keys: deletes idempotency keys whose job ended long enough ago. Returns a row per key deleted, and one with
-- `expired` false per key that turned out to be needed longer.
--
-- $1 time a key is kept after the end of its job, in ms; $2 most keys.
--
-- Indexes: idempotency_keys_by_use, jobs_pkey, idempotency_keys_pkey.
--
-- Concurrency: keys that others hold are skipped. A key that is still needed is stamped with when it was, so that it is
-- not looked at again before it can have expired: however many there are, each pass moves on. Its job may end or be
-- retried meanwhile; the stamp errs towards keeping.
WITH clock AS MATERIALIZED (SELECT deadman.clock() AS now),
candidates AS MATERIALIZED (
  SELECT k.key, k.job_id
  FROM deadman.idempotency_keys AS k
  WHERE k.in_use_at <= (SELECT now FROM clock) - $1::double precision * interval '1 ms'
  ORDER BY k.in_use_at
  LIMIT $2::integer
  FOR UPDATE SKIP LOCKED
),
judged AS MATERIALIZED (
  SELECT
    c.key,
    CASE WHEN j.id IS NULL THEN '-infinity' ELSE coalesce(j.finished_at, clock.now) END AS in_use_at,
    clock.now - $1::double precision * interval '1 ms' AS limit_at
  FROM candidates AS c
  CROSS JOIN clock
  LEFT JOIN deadman.jobs AS j ON j.id = c.job_id
),
kept AS (
  UPDATE deadman.idempotency_keys AS k
  SET in_use_at = judged.in_use_at
  FROM judged
  WHERE k.key = judged.key AND judged.in_use_at > judged.limit_at
  RETURNING false AS expired
),
deleted AS (
  DELETE FROM deadman.idempotency_keys AS k
  USING judged
  WHERE k.key = judged.key AND judged.in_use_at <= judged.limit_at
  RETURNING true AS expired
)
TABLE kept
UNION ALL
TABLE deleted;
