-- Why a tenant's waiting jobs wait.

-- Leases whose deadline has not passed: a claim takes the others back before it counts.
local function unlapsed(leases, now) return call("ZCOUNT", leases, now + 1, "+inf") end

-- How many workers gave a sign within two leases, and the last sign of any (nil: nobody knows of one).
local function alive(now)
  local sign, left = call("ZRANGE", WORKERS, -1, -1, "WITHSCORES")[2], call("GET", OWN .. "left")
  local last = math.max(tonumber(sign or 0), tonumber(left or 0))
  return call("ZCOUNT", WORKERS, now - math.max(2 * settings.term, 5000000), "+inf"), last > 0 and last or nil
end

-- Milliseconds until RQ's suspension of all workers ends, -1 when only a resume ends it; nil without one.
local function suspension()
  local left = call("PTTL", RQ .. "suspended")
  return left ~= -2 and left or nil
end

-- Why nobody at all is served, and the facts; or nil. After Redis lost everything no worker has given a sign
-- at first, and all may be well: only a sign that is too old, or its lack in open lanes, says that there is none.
local function standstill(now)
  local left, workers, last = suspension(), alive(now)
  local closed = not open(now)
  if left then return "suspended", { seconds_left = left ~= -1 and left / 1000 or nil } end
  if workers == 0 and (last or not closed) then return "no_worker", { last_seen = last and last / 1000000 } end
  return closed and "limits_not_loaded" or nil, {}
end

-- THE ORDER OF REASONS: why a tenant's waiting job waits, the first that is true; `still` is the standstill.
-- What only a person ends comes before what ends by itself, and what concerns one before what concerns all,
-- so that "goes on soon" is never said while something else would still be in the way.
local function reason_of(tenant, now, still)
  local cap = ceiling(tenant)
  if cap == 0 then return "paused" end
  if still then return still end
  return unlapsed(leases_of(tenant), now) >= cap and "at_cap" or "behind"
end

-- Eligible tenants before this one, as it stands or as it will enter.
local function ahead(tenant)
  local rank = call("ZRANK", READY, tenant)
  return rank or call("ZCOUNT", READY, "-inf", math.max(stand(tenant), system_time() + 1))
end

-- How many ids come before a job that is not routed yet; nil when it is in neither list.
local function unrouted(job)
  local landed = call("LPOS", LANDING, job)
  local place = landed or call("LPOS", INBOX, job)
  return place and place + (landed and 0 or call("LLEN", LANDING)) or nil
end

-- Those of the jobs, a JSON list or nil, that have not ended well, with RQ's word for each or "gone".
local function unfinished(jobs)
  local left = {}
  for _, id in ipairs(cjson.decode(jobs or "[]")) do
    local how = call("HGET", job_key(id), "status") or "gone"
    if how ~= "finished" then left[id] = how end
  end
  return left
end
