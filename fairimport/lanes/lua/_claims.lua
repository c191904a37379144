-- What a claim adds to the fairness numbers.

-- Eight bins an octave of milliseconds: a quantile read from them is right within five per cent.
local function bin(microseconds)
  return "w" .. math.floor(8 * math.log(1 + microseconds / 1000) / math.log(2) + 0.5)
end

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
