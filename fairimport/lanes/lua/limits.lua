#!lua
-- limits: set caps, weights and pauses; effective with the next claim.
-- ARGV[2] "set"; "stage" (kept aside for a load); "load" (the staged ones replace all, and claims open)
-- ARGV[3] microseconds that running workers are given to say what they hold, when claims were closed
-- ARGV[4...] tenant, limit as JSON, and so on
-- RETURN  {"set"}, {"staged"} or {"loaded", tenants placed anew}
-- COST    O(tenants given); a load also O(parked tenants)
local now = clock()
local what, wait, STAGED = ARGV[2], tonumber(ARGV[3]), OWN .. "staged"

-- Keep the largest value of a field.
local function raise(key, field, value)
  if value > tonumber(call("HGET", key, field) or 0) then call("HSET", key, field, value) end
end

local function again(tenant)
  local v, from = stand(tenant)
  if from == READY or from == PARKED then place(tenant, v, from) end
end

for index = 4, #ARGV, 2 do
  local limit = cjson.decode(ARGV[index + 1])
  local peaks = what == "set" and PEAKS or PEAKS .. ":staged"
  raise(peaks, "cap", limit.cap)
  raise(peaks, "weight", limit.weight)
  call("HSET", what == "set" and LIMITS or STAGED, ARGV[index], ARGV[index + 1])
  if what == "set" then again(ARGV[index]) end
end
if what == "set" then return { "set" } end
if what == "stage" then return { "staged" } end

-- A lowered cap of a ready tenant is seen by the claim that meets it.
call("DEL", LIMITS, PEAKS)
if call("EXISTS", STAGED) == 1 then
  call("RENAME", STAGED, LIMITS)
  call("RENAME", PEAKS .. ":staged", PEAKS)
end
local parked = call("ZRANGE", PARKED, 0, -1)
for _, tenant in ipairs(parked) do again(tenant) end
if not call("GET", EPOCH) then call("SET", EPOCH, now + wait) end
return { "loaded", #parked }
