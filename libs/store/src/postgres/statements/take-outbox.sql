-- take-outbox: takes rows that nobody has sent, and stamps when they may be taken again (protocol §4). The stamp is
-- committed before anything is sent, so that no lock is held across a send.
--
-- $1 older than ms, $2 most rows, $3 first backoff in ms, $4 longest backoff in ms.
--
-- Indexes: outbox_by_next_try, outbox_pkey.
--
-- Concurrency: rows that another relay is taking, or a writer is deleting, are skipped.
WITH clock AS MATERIALIZED (SELECT deadman.clock() AS now),
due AS MATERIALIZED (
  SELECT o.id
  FROM deadman.outbox AS o
  WHERE
    o.next_try_at <= (SELECT now FROM clock)
    AND o.created_at <= (SELECT now FROM clock) - $1::double precision * interval '1 ms'
  ORDER BY o.next_try_at
  LIMIT $2::integer
  FOR UPDATE SKIP LOCKED
)
UPDATE deadman.outbox AS o
SET
  tries = o.tries + 1,
  next_try_at = clock.now + least($4::double precision, $3::double precision * 2 ^ least(o.tries, 40)) * interval '1 ms'
FROM due
CROSS JOIN clock
WHERE o.id = due.id
RETURNING o.id, o.kind, o.queue, o.job_ids, o.job_id, o.attempt;
