-- finish-step: keeps what a step came to (protocol §7).
--
-- $1 job id, $2 attempt, $3 token, $4 name, $5 value (JSON).
--
-- Indexes: jobs_pkey, steps_pkey. The fence is an opaque test, as in `apply`. No row: the fence does not hold.
--
-- Concurrency: as in `begin-step`. Repeating it writes the same row.
WITH held AS MATERIALIZED (
  SELECT j.id
  FROM deadman.jobs AS j
  WHERE j.id = $1::uuid AND (j.state = 'RUNNING' AND j.attempt = $2::integer AND j.claim_token = $3::uuid) IS TRUE
  FOR SHARE
)
INSERT INTO deadman.steps AS s (job_id, created_at, attempt, name, value)
SELECT h.id, deadman.clock(), $2::integer, $4::text, $5::text
FROM held AS h
ON CONFLICT (job_id, name) DO UPDATE SET attempt = excluded.attempt, value = excluded.value
RETURNING s.job_id;
