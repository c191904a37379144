#!lua flags=allow-oom
-- remove: take a waiting job out of its lane, or out of RQ's list.
-- ARGV[2] job, [3] its tenant, for a job whose hash is gone already
-- RETURN  {"removed", how many places it was in}
-- COST    O(length of the tenant's lane + length of RQ's list)
local now = clock()
local job = ARGV[2]
local tenant = call("HGET", job_key(job), "tenant") or ARGV[3]

local removed = call("LREM", lane_of(tenant), 0, job)
if removed > 0 then place(tenant, stand(tenant)) end
removed = removed + call("LREM", LANDING, 0, job) + call("LREM", INBOX, 0, job)
return { "removed", removed }
