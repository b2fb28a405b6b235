-- record-dead-letters: turns the outbox rows of deaths into dead letters (protocol §12).
--
-- $1 job ids, $2 attempts, one of each per death.
--
-- Indexes: outbox_one_row_per_death, outbox_pkey, attempts_pkey, jobs_pkey.
--
-- Concurrency: the outbox rows are locked in id order, and whoever finds one records it; who waited for it finds it
-- gone. The row and its letter change places in one statement, so that a death is always in exactly one of the two. A
-- job that somebody retries in this very moment may still be recorded as dead: it was.
WITH found AS MATERIALIZED (
  SELECT o.id, o.job_id, o.attempt, o.failures, o.lapses
  FROM unnest($1::uuid[], $2::integer[]) AS d (job_id, attempt)
  JOIN deadman.outbox AS o ON o.kind = 'dead' AND o.job_id = d.job_id AND o.attempt = d.attempt
  ORDER BY o.id
  FOR UPDATE OF o
),
taken AS (
  DELETE FROM deadman.outbox AS o
  USING found
  WHERE o.id = found.id
  RETURNING found.job_id, found.attempt, found.failures, found.lapses
)
INSERT INTO deadman.dead_letters (
  id, job_id, died_at, recorded_at, attempt, failures, lapses, superseded, type, queue, reason, error
)
SELECT
  deadman.uuid_v7(), t.job_id, a.finished_at, deadman.clock(), t.attempt, t.failures, t.lapses,
  j.state <> 'DEAD' OR j.attempt <> t.attempt, j.type, j.queue, coalesce(a.reason, a.outcome), a.error
FROM taken AS t
JOIN deadman.attempts AS a ON a.job_id = t.job_id AND a.attempt = t.attempt
JOIN deadman.jobs AS j ON j.id = t.job_id
RETURNING job_id, attempt, superseded, reason;
