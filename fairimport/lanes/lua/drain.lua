#!lua
-- drain: drop waiting jobs of one lane for good, as RQ's `empty` does with its list.
-- ARGV[2] tenant, [3] most jobs of this call
-- RETURN  {"drained", jobs dropped}
-- COST    O(jobs dropped)
local now = clock()
local tenant, most = ARGV[2], tonumber(ARGV[3])

local jobs = call("LPOP", lane_of(tenant), most) or {}
for _, job in ipairs(jobs) do
  call("DEL", job_key(job), job_key(job) .. ":dependents", RQ .. "results:" .. job)
end
if #jobs > 0 then place(tenant, stand(tenant)) end
return { "drained", #jobs }
