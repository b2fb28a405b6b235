-- list-attempts: a job's attempts in order, the running one last.
--
-- $1 job id, $2 attempt after which the page begins, $3 most rows.
--
-- Indexes: attempts_pkey, jobs_pkey.
--
-- Concurrency: reads one snapshot, in which an attempt either runs or has ended.
SELECT
  a.job_id, a.attempt, a.outcome, a.claim_token, a.worker_id, a.claimed_at, a.started_at, a.finished_at, a.error,
  a.reclaimed_by, a.reason
FROM deadman.attempts AS a
WHERE a.job_id = $1::uuid AND a.attempt > $2::integer
UNION ALL
SELECT j.id, j.attempt, 'running', j.claim_token, j.lease_holder, j.claimed_at, NULL, NULL, NULL, NULL, NULL
FROM deadman.jobs AS j
WHERE j.id = $1::uuid AND (j.state = 'RUNNING' AND j.attempt > $2::integer) IS TRUE
ORDER BY attempt
LIMIT $3::integer;
