-- Submitting by SQL: any program on this database hands in jobs inside its own transaction, and they are rolled back with
-- it. Nothing is published before the commit: relay and idle claim find what has committed (protocol §§3–5).

-- Why a payload that is valid JSON cannot be stored, or NULL. Brackets are counted first: few of them cannot be deep.
CREATE FUNCTION deadman.payload_fault(payload text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE
  AS $$
  DECLARE
    brackets text;
    deepest bigint;
  BEGIN
    IF octet_length(payload) > 262144 THEN
      RETURN 'payload has at most 262144 bytes of text';
    END IF;
    IF length(payload) - length(translate(payload, '[{', '')) > 100 THEN
      brackets := regexp_replace(regexp_replace(payload, '"(?:[^"\\]|\\.)*"', '', 'g'), '[^][{}]', '', 'g');
      SELECT max(level.depth) INTO deepest
      FROM (
        SELECT sum(CASE WHEN part.bracket IN ('[', '{') THEN 1 ELSE -1 END) OVER (ORDER BY part.place) AS depth
        FROM string_to_table(brackets, NULL) WITH ORDINALITY AS part (bracket, place)
      ) AS level;
      IF deepest > 100 THEN
        RETURN 'payload is nested at most 100 levels deep';
      END IF;
    END IF;
    RETURN NULL;
  END
  $$;

-- The same text for JSON that says the same thing, by the rules of the api (apps/api/src/json/canonical-json.ts): no
-- white space, members sorted by name as UTF-16, texts escaped as JavaScript escapes them, numbers as they were spelled.
-- Fails for a text that cannot be stored: a NUL, a lone surrogate. Recursive; the caller has limited the depth.
CREATE FUNCTION deadman.canonical_json(value json) RETURNS text
  LANGUAGE plpgsql IMMUTABLE STRICT
  AS $$
  BEGIN
    CASE json_typeof(value)
      WHEN 'object' THEN
        RETURN (
          SELECT '{' || coalesce(
            string_agg(
              to_json(member.key)::text || ':' || deadman.canonical_json(member.value), ','
              -- Code units of the surrogates of U+10000 and above come before those of U+E000 to U+FFFF.
              ORDER BY regexp_replace(member.key, '([\uE000-\uFFFF])', E'\U0010FFFF\\1', 'g') COLLATE "C", member.place
            ),
            ''
          ) || '}'
          FROM json_each(value) WITH ORDINALITY AS member (key, value, place)
        );
      WHEN 'array' THEN
        RETURN (
          SELECT '[' || coalesce(string_agg(deadman.canonical_json(element.value), ',' ORDER BY element.place), '') || ']'
          FROM json_array_elements(value) WITH ORDINALITY AS element (value, place)
        );
      WHEN 'string' THEN
        RETURN to_json(value #>> '{}')::text;
      ELSE
        RETURN btrim(value::text, E' \t\n\r');
    END CASE;
  END
  $$;

-- Half of a SHA-256 in base64url, as the api keeps one for each member of a request with an idempotency key.
CREATE FUNCTION deadman.digest(canonical text) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT
  AS $$ SELECT left(translate(encode(sha256(convert_to(canonical, 'UTF8')), 'base64'), '+/', '-_'), 22) $$;

-- The policy that a retry in the api's form asks for, in the form in which jobs keep it; absent members take the
-- defaults. Fails for any other form.
CREATE FUNCTION deadman.retry_policy(retry jsonb) RETURNS jsonb
  LANGUAGE plpgsql IMMUTABLE
  AS $$
  DECLARE
    asked record;
    wanted text[];
  BEGIN
    IF retry IS NULL THEN
      retry := '{"kind":"exponential"}';
    END IF;
    wanted := CASE retry ->> 'kind'
      WHEN 'none' THEN ARRAY['kind']
      WHEN 'fixed' THEN ARRAY['kind', 'baseSeconds']
      WHEN 'exponential' THEN ARRAY['kind', 'baseSeconds', 'factor', 'maxSeconds', 'jitter']
    END;
    IF jsonb_typeof(retry) <> 'object' OR wanted IS NULL THEN
      RAISE EXCEPTION 'retry is an object of kind none, fixed or exponential' USING ERRCODE = '22023';
    END IF;
    IF retry - wanted <> '{}' THEN
      RAISE EXCEPTION 'retry has a member that its kind does not know' USING ERRCODE = '22023';
    END IF;
    SELECT * INTO asked
    FROM jsonb_to_record(retry) AS r (kind text, "baseSeconds" numeric, factor numeric, "maxSeconds" numeric, jitter text);
    asked."baseSeconds" := coalesce(asked."baseSeconds", 2);
    asked.factor := coalesce(asked.factor, 2);
    asked."maxSeconds" := coalesce(asked."maxSeconds", greatest(600, asked."baseSeconds"));
    asked.jitter := coalesce(asked.jitter, 'full');
    IF
      asked."baseSeconds" <> trunc(asked."baseSeconds") OR asked."baseSeconds" NOT BETWEEN 0 AND 31536000
      OR asked."maxSeconds" <> trunc(asked."maxSeconds") OR asked."maxSeconds" NOT BETWEEN asked."baseSeconds" AND 31536000
      OR asked.factor NOT BETWEEN 1 AND 1000
      OR asked.jitter NOT IN ('full', 'equal', 'none')
    THEN
      RAISE EXCEPTION 'retry has a member that is out of range' USING ERRCODE = '22023';
    END IF;
    RETURN CASE asked.kind
      WHEN 'none' THEN jsonb_build_object('kind', 'none')
      WHEN 'fixed' THEN jsonb_build_object('kind', 'fixed', 'baseMs', trunc(asked."baseSeconds") * 1000)
      ELSE jsonb_build_object(
        'kind', 'exponential', 'baseMs', trunc(asked."baseSeconds") * 1000, 'factor', asked.factor,
        'maxMs', trunc(asked."maxSeconds") * 1000, 'jitter', asked.jitter
      )
    END;
  END
  $$;

-- submit: hands in a job and returns its id, or that of the job that has the idempotency key.
--
-- The parameters are what `POST /jobs` takes, and NULL stands for an absent one. The payload is JSON text, json, jsonb, or
-- anything else that `to_json` turns into JSON; text and json are kept to the letter. A job is stored as the api would
-- store it. What only a running api knows is not checked: whether the queue is declared.
--
-- Fails with 22023 and all that is wrong in its message. A key that was used for another request is answered with its job
-- and a WARNING that names what differs, as the api does with a header.
--
-- Indexes: jobs_pkey, job_tags_pkey, outbox_pkey, idempotency_keys_pkey.
--
-- Concurrency: a key of an unfinished transaction is waited for, until that ends or the caller's statement_timeout does;
-- transactions that take several keys should take them in one order. Runs as the owner of the schema, so that a program
-- needs USAGE on the schema and no right on its tables.
CREATE FUNCTION deadman.submit(
  type text,
  payload anycompatible DEFAULT '{}'::text,
  queue text DEFAULT NULL,
  run_at timestamptz DEFAULT NULL,
  delay_seconds bigint DEFAULT NULL,
  max_attempts integer DEFAULT NULL,
  retry jsonb DEFAULT NULL,
  timeout_seconds integer DEFAULT NULL,
  tags text[] DEFAULT NULL,
  idempotency_key text DEFAULT NULL,
  traceparent text DEFAULT NULL
) RETURNS uuid
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  AS $$
  DECLARE
    name_form CONSTANT text := '^[a-z0-9]+([._-][a-z0-9]+)*$';
    ahead_max CONSTANT bigint := 3652 * 86400;
    job_key CONSTANT text := btrim(submit.idempotency_key, E' \t');
    moment CONSTANT timestamptz := deadman.clock();
    payload_text text;
    policy jsonb;
    faults text[];
    prints jsonb;
    new_id CONSTANT uuid := deadman.uuid_v7();
    due timestamptz;
    holder record;
  BEGIN
    payload_text := CASE
      WHEN submit.payload IS NULL THEN '{}'
      WHEN pg_typeof(submit.payload) IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype, 'jsonb'::regtype, 'json'::regtype)
        THEN btrim(submit.payload::text, E' \t\n\r')
      ELSE to_json(submit.payload)::text
    END;
    faults := array_remove(ARRAY[
      CASE WHEN (length(submit.type) <= 128 AND submit.type COLLATE "C" ~ name_form) IS NOT TRUE
        THEN 'type is at most 128 lower-case letters and digits, joined by ".", "_" or "-"' END,
      CASE WHEN NOT (length(submit.queue) <= 64 AND submit.queue COLLATE "C" ~ name_form)
        THEN 'queue is at most 64 lower-case letters and digits, joined by ".", "_" or "-"' END,
      deadman.payload_fault(payload_text),
      CASE WHEN num_nonnulls(submit.run_at, submit.delay_seconds) = 2
        THEN 'run_at and delay_seconds exclude each other' END,
      CASE WHEN submit.run_at > moment + ahead_max * interval '1 second'
        THEN 'run_at is at most 10 years ahead' END,
      CASE WHEN submit.delay_seconds NOT BETWEEN 0 AND ahead_max
        THEN 'delay_seconds is from 0 to 315532800' END,
      CASE WHEN submit.max_attempts NOT BETWEEN 1 AND 1000
        THEN 'max_attempts is from 1 to 1000' END,
      CASE WHEN submit.timeout_seconds NOT BETWEEN 1 AND 604800
        THEN 'timeout_seconds is from 1 to 604800' END,
      CASE WHEN cardinality(submit.tags) > 20 OR array_ndims(submit.tags) > 1 OR EXISTS (
          SELECT FROM unnest(submit.tags) AS t (tag) WHERE (length(t.tag) BETWEEN 1 AND 256) IS NOT TRUE
        )
        THEN 'tags are at most 20 texts of 1 to 256 characters' END,
      CASE WHEN NOT (length(job_key) BETWEEN 1 AND 255 AND job_key COLLATE "C" ~ '^[ -~]*$')
        THEN 'idempotency_key is 1 to 255 printable ASCII characters' END
    ], NULL);
    IF cardinality(faults) > 0 THEN
      RAISE EXCEPTION 'The job cannot be submitted: %', array_to_string(faults, '; ') USING ERRCODE = '22023';
    END IF;
    policy := deadman.retry_policy(submit.retry);
    -- The text has to be JSON; one with escapes may hold what cannot be stored once they are decoded.
    PERFORM payload_text::json;
    IF strpos(payload_text, '\u') > 0 THEN
      PERFORM deadman.canonical_json(payload_text::json);
    END IF;

    IF job_key IS NOT NULL THEN
      prints := jsonb_strip_nulls(jsonb_build_object(
        'type', deadman.digest(to_json(submit.type)::text),
        'payload', deadman.digest(deadman.canonical_json(payload_text::json)),
        'queue', deadman.digest(to_json(submit.queue)::text),
        'runAt', deadman.digest(to_json(
          to_char(submit.run_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        )::text),
        'delaySeconds', deadman.digest(submit.delay_seconds::text),
        'maxAttempts', deadman.digest(submit.max_attempts::text),
        'retry', deadman.digest(deadman.canonical_json(submit.retry::json)),
        'timeoutSeconds', deadman.digest(submit.timeout_seconds::text),
        'tags', deadman.digest(deadman.canonical_json(to_json(submit.tags)))
      ));
      LOOP
        INSERT INTO deadman.idempotency_keys AS k (key, job_id, fingerprint, in_use_at)
        VALUES (job_key, new_id, prints, moment)
        ON CONFLICT (key) DO NOTHING;
        EXIT WHEN FOUND;
        SELECT k.job_id, k.fingerprint INTO holder FROM deadman.idempotency_keys AS k WHERE k.key = job_key;
        -- A key that expired between the two statements is free: it is taken at the next turn.
        CONTINUE WHEN NOT FOUND;
        IF holder.fingerprint <> prints THEN
          RAISE WARNING 'The idempotency key was used for another request, which differs in: %', (
            SELECT string_agg(member.name, ', ' ORDER BY member.name)
            FROM jsonb_object_keys(holder.fingerprint || prints) AS member (name)
            WHERE holder.fingerprint -> member.name IS DISTINCT FROM prints -> member.name
          );
        END IF;
        RETURN holder.job_id;
      END LOOP;
    END IF;

    due := greatest(coalesce(submit.run_at, moment + coalesce(submit.delay_seconds, 0) * interval '1 second'), moment);
    INSERT INTO deadman.jobs (
      id, created_at, scheduled_for, timeout_ms, version, attempt, failures, lapses, lapses_in_row, crashes, snoozes,
      max_attempts, alone, state, type, queue, idempotency_key, traceparent, tags, retry, payload
    )
    VALUES (
      new_id, moment, due, coalesce(submit.timeout_seconds, 900) * 1000::bigint, 1, 0, 0, 0, 0, 0, 0,
      coalesce(submit.max_attempts, 5), false, CASE WHEN due > moment THEN 'SCHEDULED' ELSE 'PENDING' END, submit.type,
      coalesce(submit.queue, 'default'), job_key,
      CASE WHEN submit.traceparent ~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' THEN submit.traceparent END,
      coalesce(submit.tags, '{}'), policy, payload_text
    );
    INSERT INTO deadman.job_tags (tag, created_at, job_id)
    SELECT DISTINCT t.tag, moment, new_id FROM unnest(submit.tags) AS t (tag);
    IF due <= moment THEN
      INSERT INTO deadman.outbox (id, created_at, next_try_at, kind, queue, job_ids)
      VALUES (deadman.uuid_v7(), moment, moment, 'ready', coalesce(submit.queue, 'default'), ARRAY[new_id]);
    ELSIF due <= moment + interval '1 second' THEN
      PERFORM pg_notify('deadman_due', '');
    END IF;
    RETURN new_id;
  END
  $$;

UPDATE deadman.schema_version SET version = 5;
