-- The fairness numbers, kept by the minute and dropped by their TTL: `stats:<minute>` for all tenants,
-- `slow:<minute>` with the fifty longest waits of tenants; `tenant:<t>` has "<minute>:<what>" of one, and its mean turn.
local KEEP = 420  -- seconds
local SHORT = 60000000
local WINDOW = 5  -- whole minutes, and the running one

local function minute(now) return math.floor(now / 60000000) end
local function of_minute(name, number) return OWN .. name .. ":" .. string.format("%d", number) end
local function numbers_of(tenant) return OWN .. "tenant:" .. tenant end

-- Eight bins an octave of milliseconds: a quantile read from them is right within five per cent.
local function bin(microseconds)
  return "w" .. math.floor(8 * math.log(1 + microseconds / 1000) / math.log(2) + 0.5)
end

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

-- How many claims in a row went to one tenant, in all and while others were eligible; a run goes on from one
-- minute's bucket to the next.
local function count_run(now, tenant, contended)
  local all, back = of_minute("stats", minute(now)), 0
  local last, raw, against, run, most = unpack(call("HMGET", all, "last", "raw", "against", "run", "contended"))
  local first = not last
  while not last and back < WINDOW do
    back = back + 1
    last, raw, against = unpack(call("HMGET", of_minute("stats", minute(now) - back), "last", "raw", "against"))
  end
  local same = last == tenant
  raw = same and raw + 1 or 1
  against = contended and (same and against + 1 or 1) or 0
  call("HSET", all, "last", tenant, "raw", raw, "against", against, "run", math.max(run or 0, raw),
    "contended", math.max(most or 0, against))
  if first then call("EXPIRE", all, KEEP) end
end

local function count_claim(now, tenant, wait, contended)
  local key, slow = numbers_of(tenant), of_minute("slow", minute(now))
  call("HINCRBY", key, string.format("%d:", minute(now)) .. bin(wait), 1)
  call("EXPIRE", key, KEEP)
  call("ZADD", slow, "GT", wait, tenant)
  call("ZREMRANGEBYRANK", slow, 0, -51)
  call("EXPIRE", slow, KEEP)
  count_run(now, tenant, contended)
end

-- All tenants' buckets of the last five minutes and the running one: sums, but of some fields the largest.
local SUMS = { us = true, jobs = true, lapses = true }
local LARGEST = { run = true, contended = true, turn = true, over = true }
local function window(now)
  local found = {}
  for back = 0, WINDOW do
    local flat = call("HGETALL", of_minute("stats", minute(now) - back))
    for index = 1, #flat, 2 do
      local field, value = flat[index], flat[index + 1]
      if SUMS[field] then found[field] = (found[field] or 0) + value end
      if LARGEST[field] then found[field] = math.max(found[field] or 0, value) end
    end
  end
  return found
end

-- The same of one tenant.
local function window_of(now, tenant)
  local found, flat = {}, call("HGETALL", numbers_of(tenant))
  for index = 1, #flat, 2 do
    local at, field = string.match(flat[index], "^(%d+):(.*)$")
    if at and tonumber(at) >= minute(now) - WINDOW then found[field] = (found[field] or 0) + flat[index + 1] end
  end
  return found
end
