-- find-ends: the history rows of claims, for transitions whose fence failed.
--
-- $1 job ids, $2 attempts, $3 tokens, one of each per claim.
--
-- Index: attempts_pkey.
--
-- Concurrency: runs after the statement that found no row, with a newer snapshot, so that it sees whatever that one
-- waited for.
SELECT a.job_id, a.attempt, a.claim_token, a.outcome, a.reason, a.reclaimed_by
FROM unnest($1::uuid[], $2::integer[], $3::uuid[]) AS c (job_id, attempt, token)
JOIN deadman.attempts AS a ON a.job_id = c.job_id AND a.attempt = c.attempt AND a.claim_token = c.token;
