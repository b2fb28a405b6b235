-- Who is alive. Rewritten with every beat; as with progress, an update touches no index.
CREATE TABLE deadman.workers (
  incarnation uuid NOT NULL,
  started_at timestamptz(3) NOT NULL,
  last_seen timestamptz(3) NOT NULL,
  slots integer NOT NULL,
  name text NOT NULL,
  types text[] COLLATE "C" NOT NULL,
  queues text[] COLLATE "C" NOT NULL,
  CONSTRAINT workers_pkey PRIMARY KEY (incarnation)
) WITH (fillfactor = 50);

-- For how long the database has been watched without a gap: one row, which every scan of every reaper updates. In a
-- reaper's memory it would begin anew with each of them.
CREATE TABLE deadman.reaper_watch (
  unbroken_since timestamptz(3) NOT NULL,
  last_scan_at timestamptz(3) NOT NULL
) WITH (fillfactor = 10);
CREATE UNIQUE INDEX reaper_watch_has_one_row ON deadman.reaper_watch ((true));
INSERT INTO deadman.reaper_watch (unbroken_since, last_scan_at) VALUES (deadman.clock(), deadman.clock());

UPDATE deadman.schema_version SET version = 4;
