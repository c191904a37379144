"""What `bench leak` sees: processes that go on without their lease, and no others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis

from bench.leaking import RUNNING, Turn, Watch
from bench.processes import can_write, children, parent, starved_s

LEASES = "fairimport:imports:leases:acme"


@pytest.fixture
def start() -> Iterator[Callable[[], int]]:
    """Start a process that does nothing; return its pid."""
    started: list[subprocess.Popen[bytes]] = []

    def one() -> int:
        started.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        return started[-1].pid

    yield one
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def watch(redis: Redis) -> Watch:
    """Of one tenant with a cap of 1."""
    return Watch(redis, ["acme"], 1)


def freeze(pid: int) -> None:
    """Stop it, and wait until it is stopped."""
    os.kill(pid, signal.SIGSTOP)
    os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)


def run_turns(redis: Redis, *pids: int, leased: int = 1) -> None:
    """Let these work for the tenant; only the first ones have their leases."""
    redis.sadd(RUNNING + "acme", *(f"{pid} lease-{pid}" for pid in pids))
    for pid in pids[:leased]:
        redis.zadd(LEASES, {f"lease-{pid}": 1})


def age(watch: Watch, seconds: float) -> None:
    """As if what goes on had begun so much earlier."""
    watch.excesses = {turn: replace(it, at=it.at - seconds) for turn, it in watch.excesses.items()}


def test_who_is_stopped_or_dead_cannot_write(start: Callable[[], int]) -> None:
    """Everybody else could."""
    pid = start()
    assert can_write(pid)
    assert (parent(pid), pid in children(os.getpid())) == (os.getpid(), True)
    freeze(pid)
    assert not can_write(pid)
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert not can_write(pid)


def test_nobody_who_is_gone_can_write() -> None:
    """No parent, no children, no waiting."""
    gone = int(Path("/proc/sys/kernel/pid_max").read_text()) + 1
    assert not can_write(gone)
    assert (parent(gone), children(gone), starved_s(gone)) == (0, [], 0)


def test_a_turn_that_goes_on_without_its_lease_beside_another_is_counted(
    redis: Redis, watch: Watch, start: Callable[[], int]
) -> None:
    """From its second second on, and it is that one, not the one that has the lease."""
    leased, lost = start(), start()
    run_turns(redis, leased, lost)
    watch.look()
    assert list(watch.excesses) == [Turn(lost, f"lease-{lost}".encode())]
    age(watch, 0.5)
    watch.look()
    assert watch.over_processes_s == 0
    age(watch, 3.0)
    watch.look()
    assert 2.0 < watch.over_processes_s < 20.0


@pytest.mark.parametrize("end", [freeze, lambda pid: os.kill(pid, signal.SIGKILL)])
def test_one_that_is_frozen_or_killed_is_no_excess(
    redis: Redis, watch: Watch, start: Callable[[], int], end: Callable[[int], None]
) -> None:
    """It cannot write; when it goes on it begins anew."""
    leased, lost = start(), start()
    run_turns(redis, leased, lost)
    watch.look()
    age(watch, 5.0)
    end(lost)
    watch.look()
    assert (watch.excesses, watch.over_processes_s) == ({}, 0)


def test_two_turns_in_a_row_are_not_one_long_excess(
    redis: Redis, watch: Watch, start: Callable[[], int]
) -> None:
    """However late the second look is."""
    leased, first, second = start(), start(), start()
    run_turns(redis, leased, first)
    watch.look()
    age(watch, 5.0)
    redis.srem(RUNNING + "acme", f"{first} lease-{first}")
    run_turns(redis, leased, second)
    watch.look()
    assert (watch.excesses_seen, watch.over_processes_s) == (2, 0)


def test_more_leases_than_the_cap_are_counted(redis: Redis, watch: Watch) -> None:
    """Whoever has them."""
    redis.zadd(LEASES, {"one": 1, "two": 2, "three": 3})
    watch.look()
    assert watch.over_leases == 2
