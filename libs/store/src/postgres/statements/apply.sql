-- apply: writes decisions whose fence holds, with history and outbox rows (protocol §§2, 7, 9, 11).
--
-- One array element per transition: $1 id, $2 fence: version or NULL, $3 fence: attempt or NULL, $4 fence: token or
-- NULL, $5 effects seen (JSON array) or NULL; the decision: $6 state, $7 due in ms or NULL, $8 due at or NULL (neither:
-- keep), $9 failures, $10 lapses, $11 lapses in a row, $12 crashes, $13 snoozes, $14 result, $15 last error (JSON;
-- NULL: keep, JSON null: clear), $16 cancel request (keep, ask, clear), $17 outcome of the attempt that ends or NULL,
-- $18 its error (JSON), $19 its reason, $20 who reclaimed it, $21 ms from claim to start or NULL; other decisions, as
-- JSON objects with the names of the columns in `decided`, or NULL: $22 under a cancel request, $23 with an effect
-- missing, $24 both.
--
-- Indexes: jobs_pkey, effects_pkey; attempts and outbox are only added to. The fence is one opaque test, or statistics
-- that know of no running jobs would make the planner walk all of them.
--
-- Concurrency: rows are locked in id order, so that batches never deadlock; the fence, the cancel request and the
-- effects are judged on the locked row. A row whose fence fails takes part in nothing. Whether such a transition had
-- worked before is read by the caller in a statement of its own, since the snapshot of this one is older than its
-- locks.
WITH locked AS MATERIALIZED (
  SELECT
    t.place, t.effects, t.state, t.due_after_ms, t.due_at, t.failures, t.lapses, t.lapses_in_row, t.crashes, t.snoozes,
    t.result, t.last_error, t.cancel_request, t.outcome, t.error, t.reason, t.reclaimed_by, t.started_after_ms,
    t.under_cancel, t.without_effects, t.without_effects_under_cancel,
    j.id, j.claim_token, j.lease_holder, j.claimed_at, j.scheduled_for, j.cancel_requested_at
  FROM unnest(
    $1::uuid[], $2::integer[], $3::integer[], $4::uuid[], $5::text[], $6::text[], $7::double precision[],
    $8::timestamptz(3)[], $9::integer[], $10::integer[], $11::integer[], $12::integer[], $13::integer[], $14::text[],
    $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::double precision[], $22::text[],
    $23::text[], $24::text[]
  ) WITH ORDINALITY AS t (
    id, fence_version, fence_attempt, fence_token, effects, state, due_after_ms, due_at, failures, lapses,
    lapses_in_row, crashes, snoozes, result, last_error, cancel_request, outcome, error, reason, reclaimed_by,
    started_after_ms, under_cancel, without_effects, without_effects_under_cancel, place
  )
  JOIN deadman.jobs AS j ON j.id = t.id
  WHERE (
    j.version = t.fence_version
    OR (j.state = 'RUNNING' AND j.attempt = t.fence_attempt AND j.claim_token = t.fence_token)
  ) IS TRUE
  ORDER BY t.id
  FOR UPDATE OF j
),
clock AS MATERIALIZED (SELECT deadman.clock() AS now FROM (SELECT count(*) FROM locked) AS once_locked),
weighed AS MATERIALIZED (
  SELECT
    l.*,
    l.cancel_requested_at IS NOT NULL AS is_cancel_asked,
    l.effects IS NOT NULL AND EXISTS (
      SELECT FROM jsonb_array_elements_text(l.effects::jsonb) AS seen (effect_key)
      WHERE NOT EXISTS (
        SELECT FROM deadman.effects AS e WHERE e.job_id = l.id AND e.effect_key = seen.effect_key
      )
    ) AS is_effect_missing
  FROM locked AS l
),
chosen AS (
  SELECT
    w.*,
    CASE
      WHEN w.is_effect_missing AND w.is_cancel_asked THEN coalesce(w.without_effects_under_cancel, w.without_effects)
      WHEN w.is_effect_missing THEN w.without_effects
      WHEN w.is_cancel_asked THEN w.under_cancel
    END AS other,
    CASE
      WHEN w.is_effect_missing AND w.is_cancel_asked AND w.without_effects_under_cancel IS NOT NULL THEN 'cancel-request'
      WHEN w.is_effect_missing THEN 'effects-missing'
      WHEN w.is_cancel_asked AND w.under_cancel IS NOT NULL THEN 'cancel-request'
      ELSE 'decision'
    END AS decided_by
  FROM weighed AS w
),
decided AS MATERIALIZED (
  SELECT
    c.id, c.place, c.decided_by, c.claim_token, c.lease_holder, c.claimed_at, d.failures, d.lapses, d.lapses_in_row,
    d.crashes, d.snoozes, d.result, d.last_error, d.cancel_request, d.outcome, d.error, d.reason, d.reclaimed_by,
    d.started_after_ms, clock.now, due.due,
    CASE WHEN d.state = 'PENDING' AND due.due > clock.now THEN 'SCHEDULED' ELSE d.state END AS state
  FROM chosen AS c
  CROSS JOIN clock
  CROSS JOIN LATERAL (
    SELECT
      c.state, c.due_after_ms, c.due_at, c.failures, c.lapses, c.lapses_in_row, c.crashes, c.snoozes, c.result,
      c.last_error, c.cancel_request, c.outcome, c.error, c.reason, c.reclaimed_by, c.started_after_ms
    WHERE c.other IS NULL
    UNION ALL
    SELECT
      o.state, o.due_after_ms, o.due_at, o.failures, o.lapses, o.lapses_in_row, o.crashes, o.snoozes, o.result,
      o.last_error, o.cancel_request, o.outcome, o.error, o.reason, o.reclaimed_by, o.started_after_ms
    FROM jsonb_to_record(c.other::jsonb) AS o (
      state text, due_after_ms double precision, due_at timestamptz(3), failures integer, lapses integer,
      lapses_in_row integer, crashes integer, snoozes integer, result text, last_error text, cancel_request text,
      outcome text, error text, reason text, reclaimed_by text, started_after_ms double precision
    )
    WHERE c.other IS NOT NULL
  ) AS d
  CROSS JOIN LATERAL (
    SELECT
      CASE
        WHEN d.due_at IS NOT NULL THEN greatest(d.due_at, clock.now)
        WHEN d.due_after_ms IS NOT NULL THEN clock.now + d.due_after_ms * interval '1 ms'
        ELSE c.scheduled_for
      END AS due
  ) AS due
),
written AS (
  UPDATE deadman.jobs AS j
  SET
    state = d.state,
    version = j.version + 1,
    failures = d.failures,
    lapses = d.lapses,
    lapses_in_row = d.lapses_in_row,
    crashes = d.crashes,
    snoozes = d.snoozes,
    result = d.result,
    scheduled_for = d.due,
    finished_at = CASE WHEN d.state IN ('SUCCEEDED', 'DEAD', 'CANCELLED') THEN d.now END,
    -- Asking again does not move the first request: its grace runs.
    cancel_requested_at = CASE d.cancel_request
      WHEN 'ask' THEN coalesce(j.cancel_requested_at, d.now)
      WHEN 'keep' THEN j.cancel_requested_at
    END,
    last_error = CASE
      WHEN d.last_error IS NULL THEN j.last_error
      WHEN d.last_error <> 'null' THEN d.last_error::jsonb || jsonb_build_object('attempt', j.attempt, 'at', d.now)
    END,
    claim_token = CASE WHEN d.state = 'RUNNING' THEN j.claim_token END,
    lease_holder = CASE WHEN d.state = 'RUNNING' THEN j.lease_holder END,
    alone = j.alone AND d.state = 'RUNNING'
  FROM decided AS d
  WHERE j.id = d.id
  RETURNING
    d.place, d.decided_by, d.now, d.claim_token, d.lease_holder, d.claimed_at, d.cancel_request, d.outcome, d.error,
    d.reason, d.reclaimed_by, d.started_after_ms, j.id, j.queue, j.state, j.attempt, j.failures, j.lapses
),
history AS (
  INSERT INTO deadman.attempts (
    job_id, claim_token, worker_id, claimed_at, started_at, finished_at, attempt, outcome, reason, reclaimed_by, error
  )
  SELECT
    w.id, w.claim_token, w.lease_holder, w.claimed_at, w.claimed_at + w.started_after_ms * interval '1 ms', w.now,
    w.attempt, w.outcome, w.reason, w.reclaimed_by, w.error::jsonb
  FROM written AS w
  WHERE w.outcome IS NOT NULL
),
tickets AS (
  INSERT INTO deadman.outbox (id, created_at, next_try_at, kind, queue, job_ids)
  SELECT deadman.uuid_v7(), w.now, w.now, 'ready', w.queue, array_agg(w.id ORDER BY w.id)
  FROM written AS w
  WHERE w.state = 'PENDING'
  GROUP BY w.queue, w.now
  RETURNING id, queue, job_ids
),
deaths AS (
  INSERT INTO deadman.outbox (id, created_at, next_try_at, kind, job_id, attempt, failures, lapses)
  SELECT deadman.uuid_v7(), w.now, w.now, 'dead', w.id, w.attempt, w.failures, w.lapses
  FROM written AS w
  WHERE w.state = 'DEAD'
  RETURNING id, job_id, attempt
),
asked AS (
  SELECT w.id, w.claim_token, (row_number() OVER (ORDER BY w.id) - 1) / 100 AS chunk
  FROM written AS w
  WHERE w.state = 'RUNNING' AND w.cancel_request = 'ask'
),
-- A notice holds less than 8,000 bytes: 100 jobs with their claims, at 74.
notices AS (
  SELECT pg_notify('deadman_cancel', string_agg(a.id || ':' || a.claim_token, ','))
  FROM asked AS a
  GROUP BY a.chunk
)
SELECT 'job' AS kind, w.place, w.state, w.decided_by, NULL::uuid AS outbox_id, NULL AS queue, NULL::uuid[] AS job_ids,
  NULL::uuid AS job_id, NULL::integer AS attempt
FROM written AS w
UNION ALL
SELECT 'ticket', NULL, NULL, NULL, t.id, t.queue, t.job_ids, NULL, NULL
FROM tickets AS t
UNION ALL
SELECT 'death', NULL, NULL, NULL, d.id, NULL, NULL, d.job_id, d.attempt
FROM deaths AS d
UNION ALL
SELECT 'notice', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM notices;
