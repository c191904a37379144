"""Tenants at their cap in front of one that waits: our claim beside the naive scan."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from bench import naive
from bench.crowd import Crowd

if TYPE_CHECKING:
    from redis import Redis

    from bench.report import Report

__all__ = ["capped_in_front"]

WAITING = 200
FAR = 10**15


def capped_in_front(report: Report, redis: Redis) -> None:
    """The first 51 tenants are at their cap, others wait: who hands out their jobs?"""
    served, cost = _naive(redis)
    report.results["51 tenants at their cap in front, naive scan"] = _row(served, cost)
    redis.flushall()
    served, cost = _ours(redis)
    report.results["51 tenants at their cap in front, lanes"] = _row(served, cost)
    report.at_least("jobs handed out past 51 tenants at their cap, of 200", served, WAITING)


def _row(served: int, cost: float) -> dict[str, Any]:
    return {"waiting": WAITING, "handed_out": served, "client_us": round(cost, 1)}


def _naive(redis: Redis) -> tuple[int, float]:
    claim = redis.register_script(naive.CLAIM)
    for number in range(naive.SCANNED + WAITING):
        redis.zadd("naive:served", {f"t{number}": number})
        redis.rpush(f"naive:lane:t{number}", *[f"j{number}-{job}" for job in range(2)])
    for number in range(naive.SCANNED):
        redis.zadd(f"naive:leases:t{number}", {f"held{number}": FAR})
    return _claims(lambda lease: bool(claim(keys=["naive:"], args=[FAR // 2, lease, FAR, 1])))


def _ours(redis: Redis) -> tuple[int, float]:
    crowd = Crowd(redis, naive.SCANNED + WAITING, live=1)
    crowd.cap = 1
    crowd.fill()
    crowd.hold(naive.SCANNED)
    return _claims(lambda lease: crowd.claim())


def _claims(claim: Any) -> tuple[int, float]:
    served, spent = 0, []
    for number in range(WAITING):
        begun = perf_counter()
        served += claim(f"l{number}")
        spent.append(perf_counter() - begun)
    return served, median(spent) * 1e6
