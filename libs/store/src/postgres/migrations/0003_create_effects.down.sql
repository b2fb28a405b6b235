UPDATE deadman.schema_version SET version = 2;
DROP TABLE deadman.progress;
DROP TABLE deadman.steps;
DROP TABLE deadman.effects;
