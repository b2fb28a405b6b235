-- begin-step: notes that an attempt begins a step, or finds what it left when it was done (protocol §7).
--
-- $1 job id, $2 attempt, $3 token, $4 name.
--
-- Indexes: jobs_pkey, steps_pkey. The fence is an opaque test, as in `apply`. No row: the fence does not hold.
--
-- The row keeps the attempt that began the step first: a later one that had to ask twice, because the first reply was
-- lost, would otherwise find its own name there and no word of the attempt before it.
--
-- Concurrency: the job's row is shared until the end of the statement, so that nobody takes the job away in between.
-- Earlier attempts wrote behind the same fence, before the claim of this one: the snapshot has all they left.
WITH held AS MATERIALIZED (
  SELECT j.id
  FROM deadman.jobs AS j
  WHERE j.id = $1::uuid AND (j.state = 'RUNNING' AND j.attempt = $2::integer AND j.claim_token = $3::uuid) IS TRUE
  FOR SHARE
),
known AS MATERIALIZED (
  SELECT s.attempt, s.value
  FROM held AS h
  JOIN deadman.steps AS s ON s.job_id = h.id AND s.name = $4::text
),
begun AS (
  INSERT INTO deadman.steps (job_id, created_at, attempt, name, value)
  SELECT h.id, deadman.clock(), $2::integer, $4::text, NULL
  FROM held AS h
  ON CONFLICT (job_id, name) DO NOTHING
)
SELECT k.attempt AS before, k.value
FROM held AS h
LEFT JOIN known AS k ON true;
