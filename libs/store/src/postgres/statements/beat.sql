-- beat: writes a worker's row, and reads back what it is believed to run and whether quarantine waits (protocol §6).
--
-- $1 incarnation, $2 name, $3 types, $4 queues, $5 slots, $6 lapses in a row from which a job is in quarantine, $7 time
-- in quarantine, ready, that counts as waiting, in ms.
--
-- Indexes: workers_pkey, jobs_running, jobs_lapsed.
--
-- Concurrency: the row belongs to this worker alone. What it is believed to run is read in the statement's snapshot: a
-- claim that commits meanwhile is missing, which the worker must allow for.
WITH clock AS MATERIALIZED (SELECT deadman.clock() AS now),
seen AS (
  INSERT INTO deadman.workers AS w (incarnation, started_at, last_seen, slots, name, types, queues)
  SELECT $1::uuid, clock.now, clock.now, $5::integer, $2::text, $3::text[], $4::text[]
  FROM clock
  ON CONFLICT (incarnation) DO UPDATE
  SET
    last_seen = excluded.last_seen,
    slots = excluded.slots,
    name = excluded.name,
    types = excluded.types,
    queues = excluded.queues
),
waiting AS (
  SELECT EXISTS (
    SELECT FROM deadman.jobs AS j
    WHERE
      j.state = 'PENDING'
      AND j.lapses_in_row > 0
      AND j.lapses_in_row >= $6::integer
      AND j.scheduled_for < (SELECT now FROM clock) - $7::double precision * interval '1 ms'
      AND (j.queue = ANY ($4::text[]) AND j.type = ANY ($3::text[])) IS TRUE
  ) AS is_quarantine_waiting
)
SELECT
  waiting.is_quarantine_waiting, j.id, j.attempt, j.claim_token, j.cancel_requested_at IS NOT NULL AS is_cancel_asked
FROM waiting
LEFT JOIN deadman.jobs AS j ON j.state = 'RUNNING' AND j.lease_holder = $1::uuid;
