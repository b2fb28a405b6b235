-- find-letters-of-deaths: the reasons of deaths that an earlier delivery recorded.
--
-- $1 job ids, $2 attempts, one of each per death.
--
-- Index: dead_letters_one_per_death.
--
-- Concurrency: runs after the statement that found no outbox row, with a newer snapshot, so that it sees what that one
-- waited for.
SELECT l.job_id, l.attempt, l.reason
FROM unnest($1::uuid[], $2::integer[]) AS d (job_id, attempt)
JOIN deadman.dead_letters AS l ON l.job_id = d.job_id AND l.attempt = d.attempt;
