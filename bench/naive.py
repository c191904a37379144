"""The claim that most systems write first, as it is written first: it scans and it gives up.

The 51 least recently served tenants are looked at in turn; the first that is below its cap and has
a job is served. Cost and answer depend on who stands in front: with 51 tenants at their cap, no
job is handed out though others wait.
"""

from __future__ import annotations

__all__ = ["CLAIM", "SCANNED"]

SCANNED = 51

# KEYS[1] a prefix; ARGV: the time, the new lease's id, its deadline, the cap of every tenant
CLAIM = """
local now, lease, deadline, cap = tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
for _, tenant in ipairs(redis.call("ZRANGE", KEYS[1] .. "served", 0, 50)) do
  local leases = KEYS[1] .. "leases:" .. tenant
  redis.call("ZREMRANGEBYSCORE", leases, "-inf", now)
  if redis.call("ZCARD", leases) < cap then
    local job = redis.call("LPOP", KEYS[1] .. "lane:" .. tenant)
    if job then
      redis.call("ZADD", leases, deadline, lease)
      redis.call("ZADD", KEYS[1] .. "served", now, tenant)
      return { tenant, job }
    end
    redis.call("ZREM", KEYS[1] .. "served", tenant)
  end
end
return false
"""
