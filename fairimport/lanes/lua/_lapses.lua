-- The leases of workers that died, were frozen or cut off.

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
