-- What turns cost their tenants, and how the clock moves with it.

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
