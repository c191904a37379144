-- Who works now, and who competes with them.

-- A row for each tenant that works, for the bound on waits: `account` is the virtual time without the part of
-- the guesses that nobody used up yet. Then the longest turn so far, and the longest time beyond a guess.
local function running(now)
  local rows, turn, over = {}, 0, 0
  local live = call("ZRANGE", DEADLINES, 0, -1, "WITHSCORES")
  for index = 1, #live, 2 do
    local lease = lease_of(live[index])
    local elapsed = math.max(now - lease.started, 0)
    local owed = settings.turns and 0 or math.max(charged(lease, tonumber(live[index + 1])) - elapsed, 0)
    local row = rows[lease.tenant]
    if not row then
      local v, set = stand(lease.tenant)
      local _, weight = ceiling(lease.tenant)
      row = { v = v, account = v, live = 0, weight = weight, ready = set == READY }
      rows[lease.tenant] = row
    end
    row.live, row.account = row.live + 1, row.account - owed / lease.weight
    turn, over = math.max(turn, elapsed), math.max(over, elapsed - lease.guess)
  end
  return rows, turn, over
end

-- Others that are ready to be served before a tenant at v, whose own claims may cost it more than was charged.
local function rivals(own, v, weight, over)
  return call("ZCOUNT", READY, "-inf", v + (own and own.live * over / weight or 0)) - 1
end
