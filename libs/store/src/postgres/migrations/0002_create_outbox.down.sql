UPDATE deadman.schema_version SET version = 1;
DROP TABLE deadman.dead_letters;
DROP TABLE deadman.outbox;
