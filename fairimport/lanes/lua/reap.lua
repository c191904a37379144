#!lua
-- reap: take back leases whose deadline has passed; each is handled once, whoever asks.
-- ARGV[2] most leases of this call
-- RETURN  {"reaped", {{job, tenant, "back" or "given_up"}, ...}}
-- COST    O(lapsed leases)
--         Workers that were not seen for a day are forgotten.
local now = clock()
local most = tonumber(ARGV[2])

forget(most)
call("ZREMRANGEBYSCORE", WORKERS, "-inf", now - 86400000000)
return { "reaped", reap(now, most) }
