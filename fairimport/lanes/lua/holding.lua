#!lua flags=no-writes
-- holding: which of these jobs wait in RQ's list or in a lane, or are under a live lease.
-- ARGV[2...] job ids
-- RETURN  {"holding", {job ids}}
-- COST    O(jobs + length of the lists they may be in)
local now = clock()

local function holds(job)
  local status, tenant, lease = unpack(call("HMGET", job_key(job), "status", "tenant", "lease"))
  if status == "started" then return lease and call("EXISTS", OWN .. "lease:" .. lease) == 1 end
  if status ~= "queued" then return false end
  return call("LPOS", lane_of(tenant or ""), job) or call("LPOS", LANDING, job) or call("LPOS", INBOX, job)
end

local held = {}
for index = 2, #ARGV do
  if holds(ARGV[index]) then table.insert(held, ARGV[index]) end
end
return { "holding", held }
