-- What has to be said to others because the state changed: written with the change, deleted once it was said.
CREATE TABLE deadman.outbox (
  id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  next_try_at timestamptz(3) NOT NULL,
  job_id uuid,
  tries integer NOT NULL DEFAULT 0,
  attempt integer,
  -- The dead letter's counters: a person's retry clears those of the job.
  failures integer,
  lapses integer,
  kind text COLLATE "C" NOT NULL,
  queue text COLLATE "C",
  job_ids uuid[],
  CONSTRAINT outbox_pkey PRIMARY KEY (id),
  CONSTRAINT outbox_row_is_a_ticket_or_a_death CHECK (
    CASE kind
      WHEN 'ready' THEN queue IS NOT NULL AND job_ids IS NOT NULL AND num_nonnulls(job_id, attempt, failures, lapses) = 0
      WHEN 'dead' THEN num_nonnulls(job_id, attempt, failures, lapses) = 4 AND num_nonnulls(queue, job_ids) = 0
      ELSE false
    END
  )
) WITH (
  -- Rows live for milliseconds. Vacuumed by count, since the table is nearly empty and a share of it means nothing.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);
-- What the relay takes.
CREATE INDEX outbox_by_next_try ON deadman.outbox (next_try_at);
-- A death is told once per job and attempt.
CREATE UNIQUE INDEX outbox_one_row_per_death ON deadman.outbox (job_id, attempt) WHERE kind = 'dead';

CREATE TABLE deadman.dead_letters (
  id uuid NOT NULL,
  job_id uuid NOT NULL,
  died_at timestamptz(3) NOT NULL,
  recorded_at timestamptz(3) NOT NULL,
  attempt integer NOT NULL,
  failures integer NOT NULL,
  lapses integer NOT NULL,
  superseded boolean NOT NULL,
  type text COLLATE "C" NOT NULL,
  queue text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  error jsonb,
  CONSTRAINT dead_letters_pkey PRIMARY KEY (id),
  CONSTRAINT dead_letters_one_per_death UNIQUE (job_id, attempt)
);
-- Lists, with or without filters: there are few enough to pass over those that do not match.
CREATE INDEX dead_letters_by_time ON deadman.dead_letters (recorded_at, id);

UPDATE deadman.schema_version SET version = 2;
