-- delete-outbox: deletes tickets that were sent. A death stays until it is recorded (protocol §12).
--
-- $1 ids.
--
-- Index: outbox_pkey. Concurrency: locked in id order; a row that is gone is no error.
WITH sent AS MATERIALIZED (
  SELECT o.id
  FROM deadman.outbox AS o
  WHERE o.id = ANY ($1::uuid[]) AND o.kind = 'ready'
  ORDER BY o.id
  FOR UPDATE
)
DELETE FROM deadman.outbox AS o
USING sent
WHERE o.id = sent.id;
