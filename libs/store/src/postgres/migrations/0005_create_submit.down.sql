UPDATE deadman.schema_version SET version = 4;
DROP FUNCTION deadman.submit;
DROP FUNCTION deadman.retry_policy;
DROP FUNCTION deadman.digest;
DROP FUNCTION deadman.canonical_json;
DROP FUNCTION deadman.payload_fault;
