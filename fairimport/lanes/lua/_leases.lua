-- A lease: a hash that never changes while it is held (workers WATCH it), and its deadline in two sets.
local FIELDS = { "tenant", "job", "worker", "started", "guess", "weight", "term", "lapses" }

local function lease_of(id)
  local values = call("HMGET", OWN .. "lease:" .. id, unpack(FIELDS))
  if not values[1] then return nil end
  return {
    tenant = values[1], job = values[2], worker = values[3], started = tonumber(values[4]),
    guess = tonumber(values[5]), weight = tonumber(values[6]), term = tonumber(values[7]),
    lapses = tonumber(values[8]),
  }
end

local function hold(id, lease, deadline)
  call("HSET", OWN .. "lease:" .. id, "tenant", lease.tenant, "job", lease.job, "worker", lease.worker,
    "started", lease.started, "guess", lease.guess, "weight", lease.weight, "term", lease.term,
    "lapses", lease.lapses)
  call("ZADD", leases_of(lease.tenant), deadline, id)
  call("ZADD", DEADLINES, deadline, id)
end

-- Microseconds charged so far: the guess, or the time up to the last renewal once that is longer.
local function charged(lease, deadline)
  if settings.turns then return lease.guess end
  return math.max(lease.guess, deadline - lease.term - lease.started)
end

-- End a lease: its slot is free, its guess is replaced by the time used, RQ forgets the execution.
-- `back` puts the job to the lane again ("front" or "back"), if RQ still calls it queued or started; a turn that
-- was `whole` teaches what the next will cost.
local function finish(id, lease, now, back, whole)
  local member = lease.job .. ":" .. id
  local deadline = tonumber(call("ZSCORE", DEADLINES, id) or now)
  local used = math.max(now - lease.started, 0)
  call("ZREM", leases_of(lease.tenant), id)
  call("ZREM", DEADLINES, id)
  call("DEL", OWN .. "lease:" .. id, RQ .. "execution:" .. member)
  call("ZREM", STARTED, member)
  call("ZREM", RQ .. "executions:" .. lease.job, id)
  call("SREM", RQ .. "worker:" .. lease.worker .. ":executions", member)
  local status = back and call("HGET", job_key(lease.job), "status")
  if status == "started" or status == "queued" then
    call("HSET", job_key(lease.job), "status", "queued", "since", now)
    call(back == "front" and "LPUSH" or "RPUSH", lane_of(lease.tenant), lease.job)
  end
  correct(lease.tenant, settings.turns and 0 or round((used - charged(lease, deadline)) / lease.weight))
  count_turn(now, lease.tenant, used, lease.guess, whole)
  return used
end
