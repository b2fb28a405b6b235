-- hold-claim: the fence of an effect's transaction, and its last statement before COMMIT (protocol §7).
--
-- $1 job id, $2 attempt, $3 token.
--
-- Index: jobs_pkey. The fence is an opaque test, as in `apply`.
--
-- Concurrency: the row is shared from here to the end, so that nobody takes the job away between the judgement and the
-- commit. It is not held before: whoever stands still in a handler's transaction holds up no reaper.
SELECT j.id
FROM deadman.jobs AS j
WHERE j.id = $1::uuid AND (j.state = 'RUNNING' AND j.attempt = $2::integer AND j.claim_token = $3::uuid) IS TRUE
FOR SHARE;
