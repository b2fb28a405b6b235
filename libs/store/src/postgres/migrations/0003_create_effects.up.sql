-- What a handler leaves beside its own tables, so that a later attempt neither repeats nor forgets it (protocol §7).

CREATE TABLE deadman.effects (
  job_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  attempt integer NOT NULL,
  effect_key text COLLATE "C" NOT NULL,
  value text,
  CONSTRAINT effects_pkey PRIMARY KEY (job_id, effect_key)
);

CREATE TABLE deadman.steps (
  job_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  attempt integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  value text,
  CONSTRAINT steps_pkey PRIMARY KEY (job_id, name)
);

-- Rewritten about once a second while a job runs. Nothing that changes is indexed, and pages keep room for the next
-- version, so that an update touches no index.
CREATE TABLE deadman.progress (
  job_id uuid NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  sequence integer NOT NULL,
  value text NOT NULL,
  CONSTRAINT progress_pkey PRIMARY KEY (job_id)
) WITH (fillfactor = 50);

UPDATE deadman.schema_version SET version = 3;
