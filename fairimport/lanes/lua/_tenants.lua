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
