-- The fairness numbers, kept by the minute and dropped by their TTL: `stats:<minute>` for all tenants,
-- `slow:<minute>` with the fifty longest waits of tenants; `tenant:<t>` has "<minute>:<what>" of one, and its mean turn.
-- KEEP is in seconds, SHORT in microseconds; a window is so many whole minutes and the running one.
local KEEP, SHORT, WINDOW = 420, 60000000, 5

local function minute(now) return math.floor(now / 60000000) end
local function of_minute(name, number) return OWN .. name .. ":" .. string.format("%d", number) end
local function numbers_of(tenant) return OWN .. "tenant:" .. tenant end

-- A lease that Redis had lost is known again, and so is its tenant.
local function count_again(now, tenant)
  call("HSET", numbers_of(tenant), "tidy", minute(now))
  call("EXPIRE", numbers_of(tenant), KEEP)
end

-- Fields of a tenant whose minute no window will see again.
local function drop_passed(key, this)
  for _, field in ipairs(call("HKEYS", key)) do
    local at = tonumber(string.match(field, "^(%d+):") or this)
    if at < this - WINDOW then call("HDEL", key, field) end
  end
end

-- A turn of the tenant is over; one that was not cut off has its part in the mean turn. After a short one the
-- time to live that the claim gave is enough.
local function count_tenant(now, tenant, used, whole)
  local key, this = numbers_of(tenant), minute(now)
  local US, JOBS = string.format("%d:us", this), string.format("%d:jobs", this)
  local us, jobs, mean, tidy = unpack(call("HMGET", key, US, JOBS, "mean", "tidy"))
  if tidy and tonumber(tidy) < this - WINDOW then
    drop_passed(key, this)
    tidy = nil
  end
  local changed = { US, (us or 0) + used, JOBS, (jobs or 0) + 1, "tidy", tidy or this }
  if whole then changed[7], changed[8] = "mean", round((mean or used) + (used - (mean or used)) / 8) end
  call("HSET", key, unpack(changed))
  if used > SHORT then call("EXPIRE", key, KEEP) end
end

local function count_turn(now, tenant, used, guess, whole)
  local all = of_minute("stats", minute(now))
  local us, jobs, turn, over = unpack(call("HMGET", all, "us", "jobs", "turn", "over"))
  call("HSET", all, "us", (us or 0) + used, "jobs", (jobs or 0) + 1, "turn", math.max(turn or 0, used),
    "over", math.max(over or 0, used - guess))
  if not jobs then call("EXPIRE", all, KEEP) end
  count_tenant(now, tenant, used, whole)
end

-- A lease that was ended by its deadline: `count_turn` has made the bucket.
local function count_lapse(now) call("HINCRBY", of_minute("stats", minute(now)), "lapses", 1) end
