UPDATE deadman.schema_version SET version = 3;
DROP TABLE deadman.reaper_watch;
DROP TABLE deadman.workers;
