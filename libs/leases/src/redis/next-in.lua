-- next-in: milliseconds until the next wake-up is due, negative when it is overdue; false when there is none.
-- KEYS  the wake-up set
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if #first == 0 then return false end
return tonumber(first[2]) - now
