-- record-effect: notes in the transaction of an effect that it was made (protocol §7).
--
-- $1 job id, $2 key, $3 attempt, $4 value (JSON).
--
-- Index: effects_pkey.
--
-- Concurrency: waits for an unfinished transaction with the same effect. If that commits, nothing is recorded and the
-- caller rolls back; if it rolls back, the effect is ours. Nothing is recorded either when the transaction is no longer
-- the one that was begun for the effect, since the change that was made in that one could not be undone with it.
WITH begun AS (SELECT current_setting('deadman.effect', true) IS NOT DISTINCT FROM 'open' AS is_open),
recorded AS (
  INSERT INTO deadman.effects (job_id, created_at, attempt, effect_key, value)
  SELECT $1::uuid, deadman.clock(), $3::integer, $2::text, $4::text
  FROM begun
  WHERE begun.is_open
  ON CONFLICT (job_id, effect_key) DO NOTHING
  RETURNING job_id
)
SELECT begun.is_open, EXISTS (SELECT FROM recorded) AS is_recorded
FROM begun;
