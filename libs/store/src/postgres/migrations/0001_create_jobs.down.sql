DROP TABLE deadman.idempotency_keys;
DROP TABLE deadman.attempts;
DROP TABLE deadman.job_tags;
DROP TABLE deadman.jobs;
DROP TABLE deadman.schema_version;
DROP FUNCTION deadman.uuid_v7();
DROP FUNCTION deadman.clock();
