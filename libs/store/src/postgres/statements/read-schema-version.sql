-- read-schema-version: what the schema is, and the oldest code that can run on it.
--
-- Index: none, the table has one row. Concurrency: reads one snapshot.
SELECT s.version, s.oldest_compatible
FROM deadman.schema_version AS s;
