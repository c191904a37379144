-- What is read of the fairness numbers: the last five minutes and the running one.

-- All tenants' buckets: sums, but of some fields the largest.
local SUMS = { us = true, jobs = true, lapses = true }
local LARGEST = { run = true, contended = true, turn = true, over = true }
local function window(now)
  local found = {}
  for back = 0, WINDOW do
    local flat = call("HGETALL", of_minute("stats", minute(now) - back))
    for index = 1, #flat, 2 do
      local field, value = flat[index], flat[index + 1]
      if SUMS[field] then found[field] = (found[field] or 0) + value end
      if LARGEST[field] then found[field] = math.max(found[field] or 0, value) end
    end
  end
  return found
end

-- The same of one tenant.
local function window_of(now, tenant)
  local found, flat = {}, call("HGETALL", numbers_of(tenant))
  for index = 1, #flat, 2 do
    local at, field = string.match(flat[index], "^(%d+):(.*)$")
    if at and tonumber(at) >= minute(now) - WINDOW then found[field] = (found[field] or 0) + flat[index + 1] end
  end
  return found
end
