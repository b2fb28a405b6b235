-- save-progress: stores progress of running jobs; one whose fence fails is passed over (protocol §7).
--
-- $1 job ids, all different; $2 attempts, $3 tokens, $4 values (JSON).
--
-- Indexes: jobs_pkey, progress_pkey. The fence is an opaque test, as in `apply`.
--
-- Concurrency: the job's row is shared in id order until the end of the statement, so that nobody settles it in
-- between.
WITH held AS MATERIALIZED (
  SELECT j.id, u.value
  FROM unnest($1::uuid[], $2::integer[], $3::uuid[], $4::text[]) AS u (job_id, attempt, token, value)
  JOIN deadman.jobs AS j ON j.id = u.job_id
  WHERE (j.state = 'RUNNING' AND j.attempt = u.attempt AND j.claim_token = u.token) IS TRUE
  ORDER BY j.id
  FOR SHARE OF j
)
INSERT INTO deadman.progress AS p (job_id, updated_at, sequence, value)
SELECT h.id, deadman.clock(), 1, h.value
FROM held AS h
ON CONFLICT (job_id) DO UPDATE
SET updated_at = excluded.updated_at, sequence = p.sequence + 1, value = excluded.value;
