#!lua flags=no-writes
-- waiting: how many jobs wait in the lanes of a stretch of tenants.
-- ARGV[2] "ready" or "parked", [3] first and [4] last place in that set
-- RETURN  {"waiting", {{tenant, jobs}, ...}}
-- COST    O(stretch)
local now = clock()

local lengths = {}
for index, tenant in ipairs(call("ZRANGE", OWN .. ARGV[2], ARGV[3], ARGV[4])) do
  lengths[index] = { tenant, call("LLEN", lane_of(tenant)) }
end
return { "waiting", lengths }
