#!lua flags=allow-oom
-- settle: end a lease, once, and replace the guess by the time used.
-- ARGV[2] lease id
-- ARGV[3] how: "done" or "failed" (RQ has the job), "yielded" (to its lane's back), "released" (to its front)
-- RETURN  {"settled", microseconds used} or {"gone"}: nothing was changed
-- COST    O(log leases + log tenants)
local now = clock()
local id, how = ARGV[2], ARGV[3]
local BACK = { yielded = "back", released = "front" }

local lease = lease_of(id)
if not lease then return { "gone" } end
if how ~= "released" and lease.lapses > 0 then call("HDEL", job_key(lease.job), "lapses") end
return { "settled", finish(id, lease, now, BACK[how], how ~= "released") }
