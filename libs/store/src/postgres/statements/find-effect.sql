-- find-effect: what a committed effect left.
--
-- $1 job id, $2 key.
--
-- Index: effects_pkey. Concurrency: reads one snapshot; a transaction under way is not seen.
SELECT e.value
FROM deadman.effects AS e
WHERE e.job_id = $1::uuid AND e.effect_key = $2::text;
