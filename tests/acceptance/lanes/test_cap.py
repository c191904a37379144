"""A hundred processes that claim at once never hold more than the cap."""

from __future__ import annotations

import os
import random
import select
import time
from collections.abc import Callable

from redis import Redis

from demo_site.servers import RedisServer
from fairimport.lanes import Lanes, Limit
from fairimport.lanes.lanes import Claimed

CLAIMERS = 100
CAP = 3
LEASES = "fairimport:imports:leases:acme"


def _claim_until(url: str, end: int) -> None:
    """One claimer: take, hold for a moment, give back; sometimes die with the lease held.

    It ends when the other side of the pipe is closed.
    """
    connection = Redis.from_url(url)
    lanes = Lanes.of("imports", connection)
    chance = random.Random(os.getpid())
    while not select.select([end], [], [], 0)[0]:
        found = lanes.claim(f"claimer-{os.getpid()}")
        if isinstance(found, Claimed):
            if connection.zcard(LEASES) > CAP:
                connection.set("over", 1)
            time.sleep(chance.uniform(0, 0.03))
            if chance.random() < 0.02:
                os._exit(0)
            lanes.settle(found.lease_id, "yielded")
        else:
            time.sleep(chance.uniform(0.1, 0.4))
    os._exit(0)


def test_a_hundred_claimers_never_hold_a_fourth_lease(
    lanes: Lanes, redis: Redis, redis_server: RedisServer, eventually: Callable[..., float]
) -> None:
    """Watched in Redis itself, while claimers also die with what they hold."""
    lanes.set_limits({"acme": Limit(CAP)})
    for number in range(50):
        mapping = {"status": "queued", "tenant": "acme", "data": "x", "ticket": "1"}
        redis.hset(f"rq:job:{number}", mapping=mapping)
        redis.rpush("rq:queue:imports", number)
    end, ours = os.pipe()
    pids = []
    for _ in range(CLAIMERS):
        pid = os.fork()
        if pid == 0:
            os.close(ours)
            _claim_until(redis_server.url, end)
        pids.append(pid)
    most, looks = 0, 0
    until = time.monotonic() + 6
    while time.monotonic() < until:
        most = max(most, redis.zcard(LEASES))
        looks += 1
    os.close(ours)
    for pid in pids:
        os.waitpid(pid, 0)
    os.close(end)
    assert most == CAP
    assert looks > 50
    assert not redis.exists("over")
    stats = lanes.snapshot(["acme"])
    assert stats.tenants["acme"].jobs > 100
    eventually(lambda: lanes.reap() is not None and not lanes.leases("acme"))
    assert stats.lapses > 0
    assert lanes.snapshot(["acme"]).tenants["acme"].waiting == 50
