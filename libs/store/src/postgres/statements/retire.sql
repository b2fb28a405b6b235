-- retire: deletes the row of a worker that has handed everything back.
--
-- $1 incarnation.
--
-- Index: workers_pkey. Concurrency: the row belongs to this worker alone; a row that is gone is no error.
DELETE FROM deadman.workers AS w
WHERE w.incarnation = $1::uuid;
