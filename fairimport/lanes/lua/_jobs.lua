-- RQ's side of a job: when it began to wait, and the marks of a started one.

-- Microseconds of a time as RQ writes it (2026-12-01T04:34:34.123456Z), or nil.
local function micros(text)
  local year, month, day, hour, minutes, seconds = string.match(text or "", "^(%d+)-(%d+)-(%d+)T(%d+):(%d+):([%d.]+)Z$")
  if not year then return nil end
  year, month = tonumber(year), tonumber(month)
  if month <= 2 then year, month = year - 1, month + 12 end
  local days = 365 * year + math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
    + math.floor((153 * (month - 3) + 2) / 5) + day - 719469
  return ((days * 24 + hour) * 60 + minutes) * 60000000 + round(seconds * 1000000)
end

-- Take ids off a tenant's lane until one is still to be run; at most 1,000 dead ones in one call.
local function pop(tenant)
  for _ = 1, 1000 do
    local job = call("LPOP", lane_of(tenant))
    if not job then return nil end
    local status, since, enqueued, lapses =
      unpack(call("HMGET", job_key(job), "status", "since", "enqueued_at", "lapses"))
    if status == "queued" then
      if since then call("HDEL", job_key(job), "since") end
      return job, tonumber(since or nil) or micros(enqueued), lapses or 0
    end
  end
end

-- Write what RQ's worker writes when it starts a job; the registry's score is +inf, because the lease alone
-- says when an execution is dead, and anybody's look at the registry would "clean" it by their own clock.
local function start(job, id, worker, stamp, now)
  local member, seconds = job .. ":" .. id, string.format("%.6f", now / 1000000)
  call("HSET", job_key(job), "status", "started", "worker_name", worker, "started_at", stamp,
    "last_heartbeat", stamp, "lease", id)
  call("PERSIST", job_key(job))
  call("HSET", RQ .. "execution:" .. member, "id", id, "job_id", job, "created_at", seconds,
    "last_heartbeat", seconds, "worker_name", worker)
  call("ZADD", RQ .. "executions:" .. job, "+inf", id)
  call("ZADD", STARTED, "+inf", member)
  call("SADD", RQ .. "worker:" .. worker .. ":executions", member)
  call("HSET", RQ .. "worker:" .. worker, "state", "busy")
end
