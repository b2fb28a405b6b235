-- outbox-age: the age of the oldest row in ms; no row when there is none.
--
-- Index: outbox_pkey, whose ids rise with time. Concurrency: reads one snapshot.
SELECT greatest(0, extract(epoch FROM deadman.clock() - o.created_at)::double precision * 1000) AS age_ms
FROM deadman.outbox AS o
ORDER BY o.id
LIMIT 1;
