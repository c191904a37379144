#!lua
-- route: bring waiting ids from RQ's list to the lanes of their tenants.
-- ARGV[2] most ids of this call
-- RETURN  {"routed", ids taken, ids left}
-- COST    O(ids taken); about 10 us each
local now = clock()
local most = tonumber(ARGV[2])

-- A tenant of its own, else that of the job it waited for, else the tenant "".
local function tenant_of(key, own, parent)
  if own then return own end
  local tenant = parent and call("HGET", job_key(parent), "tenant") or ""
  call("HSET", key, "tenant", tenant)
  return tenant
end

local function into(push, tenant, job)
  call(push, lane_of(tenant), job)
  local v, from = stand(tenant)
  if from ~= READY then place(tenant, v, from) end
end

-- Bring a job to its lane, or into `fronts` when it wants to be at the front there.
local function route(job, fronts)
  local key = job_key(job)
  local status, own, parent, front, always, retried, ended =
    unpack(call("HMGET", key, "status", "tenant", "dependency_id", "front", "enqueue_at_front",
      "enqueue_at_front_on_retry", "ended_at"))
  if status ~= "queued" then return end
  local tenant = tenant_of(key, own, parent)
  local first = front == "1" or always == "1" or (retried == "1" and ended and ended ~= "")
  if front then call("HDEL", key, "front") end
  if first then table.insert(fronts, { tenant, job }) else into("RPUSH", tenant, job) end
end

-- Ids leave their list only after they are in their lane: a script that is refused loses none. RQ's list has
-- those that were pushed to its front with the latest first: pushed last and in reverse, they stand so again.
local taken = 0
for _, list in ipairs({ LANDING, INBOX }) do
  local ids, fronts = taken < most and call("LRANGE", list, 0, most - taken - 1) or {}, {}
  for _, job in ipairs(ids) do route(job, fronts) end
  for index = #fronts, 1, -1 do into("LPUSH", unpack(fronts[index])) end
  if #ids > 0 then call("LTRIM", list, #ids, -1) end
  taken = taken + #ids
end
return { "routed", taken, call("LLEN", INBOX) + call("LLEN", LANDING) }
