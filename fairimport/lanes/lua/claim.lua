#!lua
-- claim: take the next job of the eligible tenant with the least virtual time, under a lease.
-- ARGV[2] request id: becomes the lease's id; asked again with it, the answer is the same claim
-- ARGV[3] worker's name
-- ARGV[4] the caller's time as RQ writes it
-- RETURN  {"claimed", tenant, job, microseconds since started, lapses, the job's hash}
--         {"idle", microseconds to the next deadline or -1, live leases, lapses}
--         {"closed"}: limits are not loaded; nothing is handed out
--         {"again", lapses}: so many dead ids that another call shall go on
-- COST    O(log tenants), whatever number of them is at its cap; plus up to 16 lapses and 1,000 dead ids
local now = clock()
local id, worker, stamp = ARGV[2], ARGV[3], ARGV[4]

local function answer(lease, lapses)
  return { "claimed", lease.tenant, lease.job, now - lease.started, lapses, call("HGETALL", job_key(lease.job)) }
end

local function take(lease, v, since, cap, live)
  local competitors = call("ZCARD", READY)
  lease.guess = tonumber(call("HGET", numbers_of(lease.tenant), "mean") or settings.guess)
  hold(id, lease, now + settings.term)
  start(lease.job, id, worker, stamp, now)
  charge(lease, v, competitors, cap, live)
  count_claim(now, lease.tenant, since and math.max(now - since, 0) or 0, competitors > 1)
  return lease
end

call("ZADD", WORKERS, now, worker)
local held = lease_of(id)
if held then return answer(held, {}) end
if not open(now) then return { "closed" } end
local lapses = reap(now, 16)
forget(16)
for _ = 1, 1000 do
  local tenant, v = unpack(call("ZRANGE", READY, 0, 0, "WITHSCORES"))
  if not tenant then
    local first = call("ZRANGE", DEADLINES, 0, 0, "WITHSCORES")[2]
    if not first then quiet() end
    return { "idle", first and first - now or -1, call("ZCARD", DEADLINES), lapses }
  end
  local cap, weight = ceiling(tenant)
  local live = call("ZCARD", leases_of(tenant))
  local job, since, times
  if live < cap then job, since, times = pop(tenant) end
  if job then
    local lease = { tenant = tenant, job = job, worker = worker, started = now, weight = weight,
      term = settings.term, lapses = times }
    return answer(take(lease, tonumber(v), since, cap, live + 1), lapses)
  end
  place(tenant, tonumber(v), READY)
end
return { "again", lapses }
