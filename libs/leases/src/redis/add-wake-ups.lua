-- add-wake-ups: adds jobs by the time they are due, or moves them (protocol.md §10).
-- KEYS  the wake-up set
-- ARGV  per job its id and the milliseconds until it is due
-- The time is Redis' own, so that reapers whose clocks differ agree.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 1, #ARGV, 2 do
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[i + 1]), ARGV[i])
end
return 0
