#!lua flags=allow-oom
-- sign: a worker shows that it is there for this queue, also while it works for another one; or that it goes.
-- ARGV[2] worker, [3] "here" or "gone"
-- RETURN  {"signed"}
-- COST    O(log workers)
local now = clock()
local worker, how = ARGV[2], ARGV[3]

if how == "here" then
  call("ZADD", WORKERS, now, worker)
else
  call("ZREM", WORKERS, worker)
  call("SET", OWN .. "left", now, "EX", 86400)
end
return { "signed" }
