-- live-types: types that a worker seen lately has handlers for.
--
-- $1 within ms.
--
-- Index: none; there are as many rows as processes were started lately. Concurrency: reads one snapshot.
SELECT DISTINCT t.type
FROM deadman.workers AS w
CROSS JOIN unnest(w.types) AS t (type)
WHERE w.last_seen >= deadman.clock() - $1::double precision * interval '1 ms';
