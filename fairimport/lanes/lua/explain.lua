#!lua flags=no-writes
-- explain: why a job is where it is, from the same state that decides.
-- ARGV[2] job
-- RETURN  {code, facts as JSON}; codes: unknown, finished (with RQ's status), scheduled, running, inbox,
--         limits_not_loaded, paused, at_cap, behind; Python adds no_worker
-- COST    O(position of the job in its lane + its tenant's leases)
local now = clock()
local job = ARGV[2]
local status, owner, lease = unpack(call("HMGET", job_key(job), "status", "tenant", "lease"))
local tenant = owner or ""

local function reason(code, facts)
  facts.tenant, facts.status = tenant, status or nil
  return { code, cjson.encode(facts) }
end

if not status then return reason("unknown", {}) end
if status == "scheduled" or status == "deferred" then return reason("scheduled", {}) end
if status == "started" then
  local held = lease and lease_of(lease)
  if not held then return reason("unknown", {}) end
  return reason("running", { worker = held.worker, seconds = (now - held.started) / 1000000 })
end
if status ~= "queued" then return reason("finished", {}) end
if not open(now) then return reason("limits_not_loaded", {}) end
local before = call("LPOS", lane_of(tenant), job)
local cap, _, limit = ceiling(tenant)
local facts = { before = before or nil, cap = cap, waiting = call("LLEN", lane_of(tenant)) }
if cap == 0 then
  facts.by, facts.at = limit and limit.by or nil, limit and type(limit.at) == "number" and limit.at or nil
  return reason("paused", facts)
end
local live = call("ZRANGE", leases_of(tenant), 0, -1)
if #live >= cap then
  facts.jobs = {}
  for index, id in ipairs(live) do facts.jobs[index] = lease_of(id).job end
  return reason("at_cap", facts)
end
if not before then return reason("behind", { inbox = call("LLEN", INBOX) + call("LLEN", LANDING) }) end
facts.tenants = call("ZRANK", READY, tenant) or 0
return reason("behind", facts)
