-- lock-free-jobs: locks those of the named jobs that nobody else holds, and returns their ids. The first statement of a
-- reaper's transaction, whose second is `apply` for these ids.
--
-- $1 ids.
--
-- Index: jobs_pkey. Concurrency: never waits; what another holds is passed over.
SELECT j.id
FROM deadman.jobs AS j
WHERE j.id = ANY ($1::uuid[])
ORDER BY j.id
FOR UPDATE SKIP LOCKED;
