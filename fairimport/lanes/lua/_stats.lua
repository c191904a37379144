-- The fairness numbers, kept by the minute and dropped by their TTL: `stats:<minute>` for all tenants,
-- `stats:<minute>:<tenant>` for one, `slow:<minute>` with the fifty longest waits of tenants.
local KEEP = 420

local function minute(now) return string.format("%d", math.floor(now / 60000000)) end

local function add(key, ...)
  for index = 1, select("#", ...), 2 do
    call("HINCRBY", key, (select(index, ...)), (select(index + 1, ...)))
  end
  call("EXPIRE", key, KEEP)
end

-- Keep the largest value of a field.
local function raise(key, field, value)
  if value > tonumber(call("HGET", key, field) or 0) then call("HSET", key, field, value) end
end

-- Eight bins an octave of milliseconds: a quantile read from them is right within five per cent.
local function bin(microseconds)
  return "w" .. math.floor(8 * math.log(1 + microseconds / 1000) / math.log(2) + 0.5)
end

local function count_turn(now, tenant, used, guess)
  local key = OWN .. "stats:" .. minute(now)
  add(key, "us", used, "jobs", 1)
  raise(key, "turn", used)
  raise(key, "over", used - guess)
  add(key .. ":" .. tenant, "us", used, "jobs", 1)
end

local function count_lapse(now) add(OWN .. "stats:" .. minute(now), "lapses", 1) end

-- A claim: its wait, and how many in a row went to one tenant, in all and while others were eligible.
local function count_claim(now, tenant, wait, contended)
  local all, slow, run = OWN .. "stats:" .. minute(now), OWN .. "slow:" .. minute(now), OWN .. "run"
  add(all .. ":" .. tenant, bin(wait), 1)
  call("ZADD", slow, "GT", wait, tenant)
  call("ZREMRANGEBYRANK", slow, 0, -51)
  call("EXPIRE", slow, KEEP)
  local last, raw, against = unpack(call("HMGET", run, "tenant", "raw", "contended"))
  local same = last == tenant
  raw = same and raw + 1 or 1
  against = contended and (same and against + 1 or 1) or 0
  call("HSET", run, "tenant", tenant, "raw", raw, "contended", against)
  call("EXPIRE", run, KEEP)
  raise(all, "run", raw)
  raise(all, "contended", against)
  call("EXPIRE", all, KEEP)
end

-- The buckets of the last five minutes and the running one: sums, but of these the largest.
local LARGEST = { run = true, contended = true, turn = true, over = true }
local function window(now, suffix)
  local sums = {}
  for back = 0, 5 do
    local flat = call("HGETALL", OWN .. "stats:" .. minute(now - back * 60000000) .. suffix)
    for index = 1, #flat, 2 do
      local field, value = flat[index], tonumber(flat[index + 1])
      sums[field] = LARGEST[field] and math.max(sums[field] or 0, value) or (sums[field] or 0) + value
    end
  end
  return sums
end
