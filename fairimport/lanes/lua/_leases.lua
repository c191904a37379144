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

-- Take back up to `count` leases whose deadline has passed. A host's job that was lost too often fails for
-- good, in RQ's own registry; a ticket of ours never does, the database decides about its rows.
local function reap(now, count)
  local lapses = {}
  for _, id in ipairs(call("ZRANGEBYSCORE", DEADLINES, "-inf", now, "LIMIT", 0, count)) do
    local lease = lease_of(id)
    local job = job_key(lease.job)
    local status, ticket, ttl = unpack(call("HMGET", job, "status", "ticket", "failure_ttl"))
    local times = status and call("HINCRBY", job, "lapses", 1) or 0
    local given_up = status == "started" and not ticket and times >= settings.max_lapses
    if given_up then
      call("HSET", job, "status", "failed", "given_up", 1, "exc_info",
        "Given up: its worker died or was cut off " .. times .. " times while this job ran.")
      call("HDEL", job, "lapses")  -- requeued by hand it has all its chances again
      call("SADD", OWN .. "owed", lease.job)  -- what follows is done even when nobody hears of this
      ttl = tonumber(ttl or 31536000)
      call("ZADD", FAILED, ttl < 0 and -1 or math.floor(now / 1000000) + ttl, lease.job)
    end
    finish(id, lease, now, not given_up and "front" or nil)
    count_lapse(now)
    table.insert(lapses, { lease.job, lease.tenant, given_up and "given_up" or "back" })
  end
  return lapses
end
