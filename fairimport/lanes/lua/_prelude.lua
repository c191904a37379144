-- What every script knows: its keys, the time, the settings. KEYS and ARGV[1] are always the same:
-- KEYS[1] our prefix, [2] RQ's list of the queue, [3] RQ's started and [4] failed registry, [5] RQ's prefix
-- ARGV[1] the settings as JSON: cap, weight, guess, term (a lease), max_lapses, turns. Times are whole microseconds.
local call = redis.call
local OWN, INBOX, STARTED, FAILED, RQ = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local READY, PARKED, RESTING = OWN .. "ready", OWN .. "parked", OWN .. "resting"
local LANDING, LIMITS, CLOCK = OWN .. "landing", OWN .. "limits", OWN .. "clock"
local EPOCH, DEADLINES, WORKERS = OWN .. "epoch", OWN .. "deadlines", OWN .. "workers"
local PEAKS = OWN .. "peaks"
local settings = cjson.decode(ARGV[1])

local function clock()
  local time = call("TIME")
  return time[1] * 1000000 + time[2]
end

local function lane_of(tenant) return OWN .. "lane:" .. tenant end
local function leases_of(tenant) return OWN .. "leases:" .. tenant end
local function job_key(job) return RQ .. "job:" .. job end
local function round(number) return math.floor(number + 0.5) end

-- Nothing is handed out before the limits are loaded and running workers had time to say what they hold.
local function open(now)
  local epoch = tonumber(call("GET", EPOCH) or nil)
  return epoch ~= nil and epoch <= now
end

-- A tenant's ceiling (0 when paused) and weight: floors and bursts will come in here.
local function ceiling(tenant)
  local text = call("HGET", LIMITS, tenant)
  if not text then return settings.cap, settings.weight end
  local limit = cjson.decode(text)
  return limit.paused and 0 or limit.cap, limit.weight, limit
end
