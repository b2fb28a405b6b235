-- renew: extends what is mine, sets again what is absent, leaves another's alone (protocol.md §6).
-- KEYS  one lease key per lease
-- ARGV  the TTL in milliseconds, then per lease its value: worker|attempt|token
-- Returns per lease 1 when it is now mine, else 0. Setting again is what brings leases back after Redis lost its memory.
local ttl = ARGV[1]
local mine = {}
for i, key in ipairs(KEYS) do
  local value = ARGV[i + 1]
  local held = redis.call('GET', key)
  if held == false or held == value then
    redis.call('SET', key, value, 'PX', ttl)
    mine[i] = 1
  else
    mine[i] = 0
  end
end
return mine
