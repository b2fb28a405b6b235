-- find-dead-letter: one dead letter.
--
-- $1 id.
--
-- Index: dead_letters_pkey. Concurrency: reads one snapshot.
SELECT
  l.id, l.job_id, l.attempt, l.type, l.queue, l.reason, l.error, l.failures, l.lapses, l.died_at, l.recorded_at,
  l.superseded
FROM deadman.dead_letters AS l
WHERE l.id = $1::uuid;
