-- pop-due: removes and returns the ids whose time has come, soonest first (protocol.md §10).
-- KEYS  the wake-up set
-- ARGV  how many at most
-- No two callers get the same id, since a script runs alone.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = redis.call('ZRANGE', KEYS[1], '-inf', now, 'BYSCORE', 'LIMIT', 0, ARGV[1])
for _, id in ipairs(due) do
  redis.call('ZREM', KEYS[1], id)
end
return due
