-- A tenant's virtual time is its score in the one set that it is in: `ready` (eligible), `parked` (has
-- waiting jobs or leases but cannot be claimed from) or `resting` (has neither, but is ahead of the clock).
-- In none of them it is forgotten, and comes back at the clock.
local function stand(tenant)
  for _, set in ipairs({ READY, PARKED, RESTING }) do
    local v = call("ZSCORE", set, tenant)
    if v then return tonumber(v), set end
  end
  return 0, nil
end

local function system_time() return tonumber(call("GET", CLOCK) or 0) end

-- Who becomes eligible starts at the clock at best, and moves it by one, so that arrivals keep their order.
local function enter(v)
  local time = system_time()
  if v > time then return v end
  call("SET", CLOCK, time + 1)
  return time + 1
end

-- Put a tenant into the set where it belongs, or forget it; `cap` and `live` need not be known.
local function place(tenant, v, from, cap, live)
  cap, live = cap or ceiling(tenant), live or call("ZCARD", leases_of(tenant))
  local waiting, to = call("LLEN", lane_of(tenant)), nil
  if waiting > 0 and live < cap then to = READY
  elseif waiting > 0 or live > 0 then to = PARKED
  elseif v > system_time() then to = RESTING
  end
  if to == READY and from ~= READY then v = enter(v) end
  if from and from ~= to then call("ZREM", from, tenant) end
  if to then call("ZADD", to, v, tenant) end
end

-- After a tenant was served from virtual time v at a charge: the clock is at least v, and moves on with the
-- mean of those who compete. Without the second rule a stream of new tenants, each entering at the clock,
-- would keep out one whose time is ahead of it. It leads the last of the ready set by one such step at most.
local function advance(v, price, competitors, last)
  local time = math.max(system_time(), v)
  if competitors > 1 then
    time = math.max(time, math.min(time, last) + math.ceil(price / competitors))
  end
  call("SET", CLOCK, time)
end

local function last_of(set) return tonumber(call("ZRANGE", set, -1, -1, "WITHSCORES")[2] or 0) end

-- A tenant of `ready` is served from virtual time v: it pays the seconds guessed. With turns it goes to the
-- very back instead, behind everybody who waits, which is least recently served.
local function charge(lease, v, competitors, cap, live)
  if settings.turns then
    call("SET", CLOCK, math.max(system_time(), last_of(READY)))
    return place(lease.tenant, enter(0), READY, cap, live)
  end
  local price = round(lease.guess / lease.weight)
  place(lease.tenant, v + price, READY, cap, live)
  advance(v, price, competitors, last_of(READY))
end

-- Correct what a tenant with a lease was charged; one slot is free again. Who is ready stays so.
local function correct(tenant, difference)
  if call("ZADD", READY, "XX", "INCR", difference, tenant) then return end
  local v, from = stand(tenant)
  place(tenant, v + difference, from)
end

-- Forget up to `count` resting tenants that the clock has passed.
local function forget(count)
  for _, tenant in ipairs(call("ZRANGEBYSCORE", RESTING, "-inf", system_time(), "LIMIT", 0, count)) do
    call("ZREM", RESTING, tenant)
  end
end

-- Nobody works or can be claimed from: whoever rests owes nobody anything, and the clock passes the last.
local function quiet() call("SET", CLOCK, math.max(system_time(), last_of(RESTING))) end
