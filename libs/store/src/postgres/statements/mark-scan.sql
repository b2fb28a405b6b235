-- mark-scan: notes that a reaper scans now, and tells for how long scans have come without a gap (protocol §9).
--
-- $1 gap in ms that counts as a break, $2 whether this reaper saw an error.
--
-- Index: none, the table has one row.
--
-- Concurrency: scans of several reapers take the row in turn. One that waited may be a little older than the row says,
-- and never moves it back.
WITH clock AS MATERIALIZED (SELECT deadman.clock() AS now)
UPDATE deadman.reaper_watch AS w
SET
  unbroken_since = CASE
    WHEN $2::boolean OR clock.now - w.last_scan_at > $1::double precision * interval '1 ms' THEN clock.now
    ELSE w.unbroken_since
  END,
  last_scan_at = greatest(w.last_scan_at, clock.now)
FROM clock
RETURNING greatest(0, extract(epoch FROM clock.now - w.unbroken_since)::double precision * 1000) AS unbroken_ms;
