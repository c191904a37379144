#!lua flags=no-writes
-- leases: what a tenant's workers hold, the earliest deadline first.
-- ARGV[2] tenant
-- RETURN  {"leases", {{id, job, worker, started, deadline}, ...}}; times as text
-- COST    O(the tenant's leases)
local now = clock()

local found = {}
local scored = call("ZRANGE", leases_of(ARGV[2]), 0, -1, "WITHSCORES")
for index = 1, #scored, 2 do
  local lease = lease_of(scored[index])
  table.insert(found, { scored[index], lease.job, lease.worker, string.format("%.0f", lease.started), scored[index + 1] })
end
return { "leases", found }
