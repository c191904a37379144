#!lua flags=allow-oom
-- renew: move a lease's deadline on, and charge the time beyond the guess as it passes.
-- ARGV[2] lease id, [3] worker
-- ARGV[4] tenant, [5] job, [6] microseconds since the claim: believed only after Redis has lost the lease
-- RETURN  {"renewed"}; {"stop"}: renewed, but end soon, the tenant is paused; {"lost"}: not yours any more
-- COST    O(log leases)
local now = clock()
local id, worker, tenant, job, elapsed = ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])

call("ZADD", WORKERS, now, worker)
local lease = lease_of(id)
if not lease then
  if open(now) then return { "lost" } end
  -- Redis lost everything: who still works says what it holds, before anything is handed out again.
  local _, weight = ceiling(tenant)
  lease = { tenant = tenant, job = job, worker = worker, started = now - elapsed, guess = elapsed,
    weight = weight, term = settings.term, lapses = 0 }
  hold(id, lease, now + settings.term)
  place(tenant, stand(tenant))
  count_again(now, tenant)
end
local before = charged(lease, tonumber(call("ZSCORE", DEADLINES, id)))
local deadline = now + lease.term
local v, set = stand(lease.tenant)
call("ZADD", leases_of(lease.tenant), deadline, id)
call("ZADD", DEADLINES, deadline, id)
if set then call("ZADD", set, v + round((charged(lease, deadline) - before) / lease.weight), lease.tenant) end
return { ceiling(lease.tenant) == 0 and "stop" or "renewed" }
