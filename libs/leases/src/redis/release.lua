-- release: deletes each lease that is still held by this very claim (protocol.md §7).
-- KEYS  one lease key per lease
-- ARGV  per lease its value: worker|attempt|token
-- Returns how many were deleted. Comparing and deleting in one script cannot delete the lease of a claim made meanwhile.
local deleted = 0
for i, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[i] then
    deleted = deleted + redis.call('DEL', key)
  end
end
return deleted
