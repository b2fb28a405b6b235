-- The schema itself is made before the first migration: the record of migrations lives in it.

-- The one clock that decides what is due, old or gone. Whole milliseconds, so that an instant survives its way through a
-- JavaScript Date, and rounded down, so that what was stamped "now" is never in the future. Tests replace it.
CREATE FUNCTION deadman.clock() RETURNS timestamptz
  LANGUAGE sql VOLATILE PARALLEL SAFE
  AS $$ SELECT date_trunc('milliseconds', clock_timestamp()) $$;

-- RFC 9562, version 7: 48 bits of milliseconds, the rest drawn. Rows made one after another lie side by side in an index.
CREATE FUNCTION deadman.uuid_v7() RETURNS uuid
  LANGUAGE sql VOLATILE PARALLEL SAFE
  AS $$
    SELECT encode(
      set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING
        substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1),
      'hex')::uuid
  $$;

-- What the code must know before it touches the rest. Each migration that adds to the schema raises `version`; one that an
-- older release cannot live with also raises `oldest_compatible`.
CREATE TABLE deadman.schema_version (
  version integer NOT NULL,
  oldest_compatible integer NOT NULL,
  CONSTRAINT schema_version_is_ordered CHECK (oldest_compatible BETWEEN 1 AND version)
);
CREATE UNIQUE INDEX schema_version_has_one_row ON deadman.schema_version ((true));
INSERT INTO deadman.schema_version (version, oldest_compatible) VALUES (1, 1);

-- One row per job. Fixed-width columns come first, which spares padding. Why the state is a text and which index serves
-- what: docs/decisions/005-job-table-and-indexes.md.
CREATE TABLE deadman.jobs (
  id uuid NOT NULL,
  claim_token uuid,
  lease_holder uuid,
  created_at timestamptz(3) NOT NULL,
  scheduled_for timestamptz(3) NOT NULL,
  claimed_at timestamptz(3),
  finished_at timestamptz(3),
  cancel_requested_at timestamptz(3),
  timeout_ms bigint NOT NULL,
  version integer NOT NULL,
  attempt integer NOT NULL,
  failures integer NOT NULL,
  lapses integer NOT NULL,
  lapses_in_row integer NOT NULL,
  crashes integer NOT NULL,
  snoozes integer NOT NULL,
  max_attempts integer NOT NULL,
  alone boolean NOT NULL,
  state text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  queue text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C",
  traceparent text,
  tags text[] COLLATE "C" NOT NULL,
  retry jsonb NOT NULL,
  payload text NOT NULL,
  result text,
  last_error jsonb,
  CONSTRAINT jobs_pkey PRIMARY KEY (id),
  CONSTRAINT jobs_state_is_known CHECK (
    state IN ('PENDING', 'SCHEDULED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'DEAD', 'CANCELLED')
  ),
  CONSTRAINT jobs_claimed_exactly_while_running CHECK (
    (state = 'RUNNING') = (claim_token IS NOT NULL AND lease_holder IS NOT NULL AND claimed_at IS NOT NULL)
    AND (claim_token IS NULL) = (lease_holder IS NULL)
    AND (state = 'RUNNING' OR NOT alone)
  ),
  CONSTRAINT jobs_finished_exactly_when_ended CHECK (
    (state IN ('SUCCEEDED', 'DEAD', 'CANCELLED')) = (finished_at IS NOT NULL)
  ),
  CONSTRAINT jobs_counters_are_not_negative CHECK (
    attempt >= 0 AND failures >= 0 AND lapses >= 0 AND lapses_in_row >= 0 AND crashes >= 0 AND snoozes >= 0
  )
) WITH (
  -- Every move changes a page; statistics that lag behind a burst choose bad plans for the lists.
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 1
);

-- Claims without a ticket: what waits for the types and queues of one worker, and nothing else. Jobs of a type that nobody
-- runs may pile up in the same queue by the million. Queue and type are one expression, so that no other index looks as good.
CREATE INDEX jobs_ready ON deadman.jobs ((queue || '/' || type), created_at, id) WHERE state = 'PENDING';
-- Counts per queue, and lists by queue, by state, or by nothing.
CREATE INDEX jobs_by_queue ON deadman.jobs (queue, state, created_at, id);
-- Lists by type.
CREATE INDEX jobs_by_type ON deadman.jobs (type, state, created_at, id);
-- What a worker is believed to run, and what a reaper looks at.
CREATE INDEX jobs_running ON deadman.jobs (lease_holder) WHERE state = 'RUNNING';
-- What is due, and what soon will be.
CREATE INDEX jobs_waiting ON deadman.jobs (scheduled_for, id) WHERE state IN ('SCHEDULED', 'FAILED');
-- Quarantine: ready jobs that lapsed. Nearly always empty.
CREATE INDEX jobs_lapsed ON deadman.jobs (lapses_in_row) WHERE state = 'PENDING' AND lapses_in_row > 0;
-- What retention may delete.
CREATE INDEX jobs_ended ON deadman.jobs (state, finished_at) WHERE finished_at IS NOT NULL;

-- Lists by tag. A table of its own, because an array's index has no order, and because it is written once per tag.
CREATE TABLE deadman.job_tags (
  tag text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL,
  job_id uuid NOT NULL,
  CONSTRAINT job_tags_pkey PRIMARY KEY (tag, created_at, job_id)
);

-- History: one row per ended attempt. No foreign key, here or below: the writer holds the job's row, and retention deletes
-- a job with all that belongs to it in one statement.
CREATE TABLE deadman.attempts (
  job_id uuid NOT NULL,
  claim_token uuid NOT NULL,
  worker_id uuid NOT NULL,
  claimed_at timestamptz(3) NOT NULL,
  started_at timestamptz(3),
  finished_at timestamptz(3) NOT NULL,
  attempt integer NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  reason text,
  reclaimed_by text,
  error jsonb,
  CONSTRAINT attempts_pkey PRIMARY KEY (job_id, attempt),
  CONSTRAINT attempts_outcome_is_known CHECK (
    outcome IN ('succeeded', 'failed', 'snoozed', 'released', 'lapsed', 'cancelled')
  )
);

-- `in_use_at` is the last moment at which the key's job was known not to have ended. The key lives for a time after it.
CREATE TABLE deadman.idempotency_keys (
  key text COLLATE "C" NOT NULL,
  job_id uuid NOT NULL,
  in_use_at timestamptz(3) NOT NULL,
  fingerprint jsonb NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key)
);
-- Keys that may have expired.
CREATE INDEX idempotency_keys_by_use ON deadman.idempotency_keys (in_use_at);
