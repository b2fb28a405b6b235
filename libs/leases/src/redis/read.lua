-- read: whether leases are there, of any holder, and for how long Redis can be believed (protocol.md §9).
-- KEYS  the trust key, then one lease key per job
-- ARGV  the longest gap between two reads that does not start trust again, in milliseconds
-- Returns the age of trust in milliseconds, then 1 or 0 per job.
-- Trust stands in Redis itself, so every reaper shares it, and a flush or a restart from an older file starts it again:
-- the key is gone, or the run id is another one. A policy that may evict leases makes every absence meaningless, so there
-- is no trust under it. A clock that went back cannot tell how long the gap was.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local run_id = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local policy = string.match(redis.call('INFO', 'memory'), 'maxmemory_policy:([%w-]+)')

local known = redis.call('HMGET', KEYS[1], 'run_id', 'since', 'last')
local since, last = tonumber(known[2]), tonumber(known[3])
local broken = known[1] ~= run_id or not since or not last
broken = broken or now < last or now - last > tonumber(ARGV[1]) or policy ~= 'noeviction'
if broken then since = now end
redis.call('HSET', KEYS[1], 'run_id', run_id, 'since', string.format('%.0f', since), 'last', string.format('%.0f', now))

local answer = { now - since }
for i = 2, #KEYS do
  answer[i] = redis.call('EXISTS', KEYS[i])
end
return answer
