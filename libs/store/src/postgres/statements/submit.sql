-- submit: stores what is new of a batch, all or none.
--
-- $1 ids, $2 types, $3 queues, $4 payloads, $5 max attempts, $6 retry policies (JSON), $7 timeouts in ms, $8 tags
-- (array literals), $9 idempotency keys or NULL, $10 fingerprints (JSON) or NULL, $11 trace contexts or NULL, $12
-- delays in ms or NULL, $13 instants or NULL (neither: now), $14 notice for jobs due within this many ms.
--
-- Indexes: the primary keys of what it inserts.
--
-- Concurrency: keys are inserted in their order, so that two batches with the same keys never wait for each other in a
-- circle. An insert that meets a key of an unfinished transaction waits for it: if that commits, the row is passed over
-- here and the caller looks up who holds the key, in a statement of its own, since this one's snapshot cannot see it;
-- if it rolls back, the key is ours. A job whose id exists is a repeated request of ours and is passed over.
WITH clock AS MATERIALIZED (SELECT deadman.clock() AS now),
new_keys AS (
  INSERT INTO deadman.idempotency_keys (key, job_id, fingerprint, in_use_at)
  SELECT DISTINCT ON (i.key) i.key, i.id, i.fingerprint::jsonb, clock.now
  FROM unnest($9::text[], $1::uuid[], $10::text[]) WITH ORDINALITY AS i (key, id, fingerprint, place)
  CROSS JOIN clock
  WHERE i.key IS NOT NULL
  ORDER BY i.key, i.place
  ON CONFLICT (key) DO NOTHING
  RETURNING job_id
),
new_jobs AS (
  INSERT INTO deadman.jobs (
    id, created_at, scheduled_for, timeout_ms, version, attempt, failures, lapses, lapses_in_row, crashes, snoozes,
    max_attempts, alone, state, type, queue, idempotency_key, traceparent, tags, retry, payload
  )
  SELECT
    i.id, i.now, i.due, i.timeout_ms, 1, 0, 0, 0, 0, 0, 0,
    i.max_attempts, false, CASE WHEN i.due > i.now THEN 'SCHEDULED' ELSE 'PENDING' END, i.type, i.queue, i.key,
    i.traceparent, i.tags::text[], i.retry::jsonb, i.payload
  FROM (
    SELECT
      i.*,
      clock.now,
      CASE
        WHEN i.due_at IS NOT NULL THEN greatest(i.due_at, clock.now)
        ELSE clock.now + coalesce(i.due_after_ms, 0) * interval '1 ms'
      END AS due
    FROM unnest(
      $1::uuid[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::bigint[], $8::text[], $9::text[],
      $11::text[], $12::double precision[], $13::timestamptz(3)[]
    ) AS i (id, type, queue, payload, max_attempts, retry, timeout_ms, tags, key, traceparent, due_after_ms, due_at)
    CROSS JOIN clock
  ) AS i
  WHERE i.key IS NULL OR i.id IN (SELECT job_id FROM new_keys)
  ORDER BY i.id
  ON CONFLICT (id) DO NOTHING
  RETURNING id, created_at, scheduled_for, state, queue, tags
),
new_tags AS (
  INSERT INTO deadman.job_tags (tag, created_at, job_id)
  SELECT DISTINCT t.tag, j.created_at, j.id
  FROM new_jobs AS j
  CROSS JOIN unnest(j.tags) AS t (tag)
),
tickets AS (
  INSERT INTO deadman.outbox (id, created_at, next_try_at, kind, queue, job_ids)
  SELECT deadman.uuid_v7(), j.created_at, j.created_at, 'ready', j.queue, array_agg(j.id ORDER BY j.id)
  FROM new_jobs AS j
  WHERE j.state = 'PENDING'
  GROUP BY j.queue, j.created_at
  RETURNING id, queue
),
notices AS (
  SELECT pg_notify('deadman_due', '')
  FROM (
    SELECT FROM new_jobs AS j
    WHERE j.state = 'SCHEDULED' AND j.scheduled_for <= j.created_at + $14::double precision * interval '1 ms'
    LIMIT 1
  ) AS soon
)
SELECT 'job' AS kind, j.id, j.created_at, j.scheduled_for, j.state, NULL AS queue
FROM new_jobs AS j
UNION ALL
SELECT 'ticket', t.id, NULL, NULL, NULL, t.queue
FROM tickets AS t
UNION ALL
SELECT 'notice', NULL, NULL, NULL, NULL, NULL
FROM notices;
