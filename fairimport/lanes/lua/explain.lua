#!lua flags=no-writes
-- explain: why a job is where it is, from the same state that decides; `reason_of` has the order of reasons.
-- ARGV[2] job
-- RETURN  {code, facts as JSON}; docs/reasons.md has the codes with their facts
-- COST    O(place of the job in its lane or in RQ's list + its tenant's leases + jobs that it depends on)
local now = clock()
local job = ARGV[2]
local status, own, lease, origin, worker, parent, parents = unpack(call("HMGET", job_key(job),
  "status", "tenant", "lease", "origin", "worker_name", "dependency_id", "dependency_ids"))
local tenant = own or parent and call("HGET", job_key(parent), "tenant") or ""
local queue = origin or string.sub(INBOX, #RQ + #"queue:" + 1)
local still, about = standstill(now)

local function told(code, facts)
  for name, fact in pairs(code == still and about or {}) do facts[name] = fact end
  facts.tenant, facts.status = tenant, status or nil
  return { code, cjson.encode(facts) }
end

local function started()
  local it = lease and lease_of(lease)
  if not it then return told("no_lease", { worker = worker or nil }) end
  local late = now - call("ZSCORE", DEADLINES, lease)
  if late >= 0 then return told(still or "lapsed", { worker = it.worker, seconds = late / 1000000 }) end
  return told("running", { worker = it.worker, seconds = (now - it.started) / 1000000 })
end

local function queued()
  local before = call("LPOS", lane_of(tenant), job)
  local inbox = not before and unrouted(job) or nil
  if not before and not inbox then return told("nowhere", {}) end
  local code, cap, _, limit = reason_of(tenant, now, still), ceiling(tenant)
  local facts = { before = before or nil, inbox = inbox, waiting = call("LLEN", lane_of(tenant)),
    cap = limit and limit.cap or cap }
  if code == "paused" and limit and limit.paused then
    facts.by, facts.at = limit.by, type(limit.at) == "number" and limit.at or nil
  elseif code == "at_cap" then
    facts.jobs = call("ZRANGEBYSCORE", leases_of(tenant), now + 1, "+inf")
    for index, id in ipairs(facts.jobs) do facts.jobs[index] = lease_of(id).job end
  elseif code == "behind" then
    facts.tenants = ahead(tenant)
    facts.claims = before and facts.tenants + before or nil
  end
  return told(code, facts)
end

if not status then return told("unknown", {}) end
if status == "deferred" then return told("deferred", { depends_on = unfinished(parents) }) end
if status == "scheduled" then
  return told("scheduled", { at = tonumber(call("ZSCORE", RQ .. "scheduled:" .. queue, job) or nil) })
end
if status ~= "queued" and status ~= "started" then return told(status == "canceled" and "cancelled" or status, {}) end
if INBOX ~= RQ .. "queue:" .. queue then return told("other_queue", { queue = queue }) end
return status == "started" and started() or queued()
