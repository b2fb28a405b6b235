-- acquire: sets each lease that is absent or held by a lower attempt (protocol.md §5).
-- KEYS  one lease key per lease
-- ARGV  the TTL in milliseconds, then per lease its worker, attempt and token
-- One lease that is refused holds up no other. A script runs alone, so no other command comes between look and set.
local ttl = ARGV[1]
for i, key in ipairs(KEYS) do
  local worker, attempt, token = ARGV[3 * i - 1], ARGV[3 * i], ARGV[3 * i + 1]
  local held = redis.call('GET', key)
  local held_attempt = held and tonumber(string.match(held, '^[^|]*|(%d+)|'))
  if not held_attempt or held_attempt < tonumber(attempt) then
    redis.call('SET', key, worker .. '|' .. attempt .. '|' .. token, 'PX', ttl)
  end
end
return 0
