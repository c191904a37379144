#!lua flags=no-writes
-- snapshot: the tenants now, with the fairness numbers of the last five minutes.
-- ARGV[2] most tenants when none is named: those with leases or waiting jobs, then the longest waits
-- ARGV[3...] tenants
-- RETURN  JSON: {open, eligible, inbox, live, workers, seen, all = {...}, tenants = {name = {...}}}; times in
--         microseconds, but `suspended` in milliseconds (-1: without an end); `reason` is a code of explain
-- COST    O(tenants asked for * log tenants + live leases)
local now = clock()
local most, names, seen = tonumber(ARGV[2]), {}, {}

local function want(tenant)
  if seen[tenant] or #names >= most then return end
  seen[tenant] = true
  table.insert(names, tenant)
end

local all = window(now)
local working, turn, over = running(now)
local still = standstill(now)
local workers, last = alive(now)
all.turn, all.over = math.max(turn, all.turn or 0), settings.turns and 0 or math.max(over, all.over or 0)

local function state(tenant)
  local cap, weight, limit = ceiling(tenant)
  local v, set = stand(tenant)
  return {
    waiting = call("LLEN", lane_of(tenant)), in_flight = unlapsed(leases_of(tenant), now),
    cap = limit and limit.cap or cap, weight = weight, paused = limit and limit.paused or false,
    by = limit and limit.by or "", at = limit and type(limit.at) == "number" and limit.at or nil,
    ahead = set == READY and call("ZRANK", READY, tenant) or nil, v = v,
    rivals = set == READY and rivals(working[tenant], v, weight, all.over) or nil,
    reason = reason_of(tenant, now, still), stats = window_of(now, tenant),
  }
end

for index = 3, #ARGV do want(ARGV[index]) end
if #ARGV == 2 and most > 0 then
  for _, set in ipairs({ PARKED, READY }) do
    for _, tenant in ipairs(call("ZRANGE", set, 0, most - 1)) do want(tenant) end
  end
  for back = 0, WINDOW do
    for _, tenant in ipairs(call("ZREVRANGE", of_minute("slow", minute(now) - back), 0, most - 1)) do want(tenant) end
  end
end
local tenants = {}
for _, tenant in ipairs(names) do tenants[tenant] = state(tenant) end
return cjson.encode({
  open = open(now), eligible = call("ZCARD", READY), inbox = call("LLEN", INBOX) + call("LLEN", LANDING),
  live = unlapsed(DEADLINES, now), all = all, tenants = tenants, working = working, turns = settings.turns,
  first = call("ZRANGE", READY, 0, 0, "WITHSCORES")[2], clock = system_time(),
  cap = tonumber(call("HGET", PEAKS, "cap") or 0), weight = tonumber(call("HGET", PEAKS, "weight") or 0),
  seen = last and string.format("%.0f", last), workers = workers, suspended = suspension(),
})
