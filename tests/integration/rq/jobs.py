"""Functions that test jobs and callbacks call; they leave notes in their own Redis."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from typing import Any

from redis import Redis
from rq import get_current_job
from rq.job import Job, Retry

from fairimport.lanes import Yield, current_claim, lane

NOTES, GATE, RUNNING, MOST = "test:notes", "test:gate", "test:running", "test:most"
PATIENCE = 20.0  # seconds that a job waits for a test before it gives up


def add(one: int, other: int) -> int:
    """Return a sum."""
    return one + other


async def add_later(one: int, other: int) -> int:
    """Return a sum, a little later."""
    await asyncio.sleep(0.01)
    return one + other


def whose() -> str | None:
    """Return the tenant for whom this runs."""
    claim = current_claim()
    return claim.tenant if claim else None


def note(word: str = "ran") -> str:
    """Leave a word."""
    job = _job()
    job.connection.rpush(NOTES, word)
    return word


def fail(word: str = "failed") -> None:
    """Leave a word and raise."""
    note(word)
    raise ValueError("on purpose")


def fail_at_first(times: int) -> str:
    """Raise the first so many times."""
    note("tried")
    if _job().connection.llen(NOTES) <= times:
        raise ValueError("on purpose")
    return "done"


def ask_for_retry(most: int) -> Retry | str:
    """Return RQ's wish to be tried again, once."""
    note("tried")
    return Retry(max=most) if _job().connection.llen(NOTES) == 1 else "done"


def always_ask_for_retry() -> Retry:
    """Return RQ's wish to be tried again, every time."""
    note("tried")
    return Retry(max=1)


def wait_at_gate(word: str = "through") -> str:
    """Count itself in, wait until the test opens the gate, count itself out."""
    connection = _job().connection
    connection.sadd(RUNNING, _job().id)
    connection.rpush(MOST, connection.scard(RUNNING))
    until = time.monotonic() + PATIENCE
    while not connection.exists(GATE) and time.monotonic() < until:
        time.sleep(0.01)
    connection.srem(RUNNING, _job().id)
    return note(word)


def sleep(seconds: float) -> str:
    """Sleep."""
    time.sleep(seconds)
    return note("slept")


def rest(seconds: float) -> str:
    """Sleep, without a word to Redis."""
    time.sleep(seconds)
    return "rested"


def stop_when_asked(seconds: float = PATIENCE) -> str:
    """Work until the claim says that it shall stop."""
    claim, until = current_claim(), time.monotonic() + seconds
    note("began")
    while time.monotonic() < until:
        if claim is not None and claim.should_stop():
            return note("asked to stop")
        time.sleep(0.01)
    return note("never asked")


def break_redis(*commands: list[str]) -> str:
    """Leave a word, then make Redis refuse whatever is written."""
    note("ran")
    for command in commands:
        _job().connection.execute_command(*command)
    return "done"


def break_redis_and_fail(*commands: list[str]) -> None:
    """The same at the first time, and raise every time."""
    break_redis(*([] if _job().connection.llen(NOTES) else commands))
    raise ValueError("on purpose")


def break_redis_and_go_on(how: str, *commands: list[str]) -> Any:
    """The same at the first time, and ask to be run again; the second time be done."""
    if _job().connection.llen(NOTES):
        return note("done")
    break_redis(*commands)
    return Yield() if how == "yield" else Retry(max=2)


def be_deaf(seconds: float) -> None:
    """Sleep through every signal that can be blocked, as code in C would."""
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
    note("began")
    time.sleep(seconds)
    note("woke up")


def die() -> None:
    """Kill the process that runs the job."""
    note("died")
    os.kill(os.getpid(), signal.SIGKILL)


def start_child(word: str) -> str:
    """Enqueue another job from within this one, without saying whose it is."""
    lane_of_nobody().enqueue(note, word)
    return word


def who() -> dict[str, Any]:
    """Say what the running job knows about itself."""
    job, claim = _job(), current_claim()
    job.meta["seen"] = True
    job.save_meta()
    return {
        "id": job.id,
        "status": job.get_status(),
        "origin": job.origin,
        "tenant": claim.tenant if claim else None,
        "worker": job.worker_name,
    }


def on_success(job: Job, connection: Redis, result: Any) -> None:
    """Note a success."""
    connection.rpush(NOTES, f"success {result}")


async def on_success_later(job: Job, connection: Redis, result: Any) -> None:
    """Be a callback as RQ has none."""


def hang_in_callback(*args: Any) -> None:
    """Be a callback that takes too long."""
    time.sleep(PATIENCE)


def on_failure(job: Job, connection: Redis, kind: type, value: Exception, trace: Any) -> None:
    """Note a failure."""
    connection.rpush(NOTES, f"failure {kind.__name__}")


def on_stopped(job: Job, connection: Redis) -> None:
    """Note a stop."""
    connection.rpush(NOTES, "stopped")


def raise_in_callback(*args: Any) -> None:
    """Be a callback that fails."""
    raise LookupError("in the callback")


def handle_exception(job: Job, *error: Any) -> bool:
    """Be one of RQ's exception handlers."""
    job.connection.rpush(NOTES, f"handled {error[0].__name__}")
    return False


def horse_killed(job: Job, pid: int, status: int, usage: Any) -> None:
    """Be RQ's handler of horses that died."""
    job.connection.rpush(NOTES, f"horse {status}")


def delete_in_callback(job: Job, *args: Any) -> None:
    """Be a callback or a handler that deletes its job."""
    job.delete()


def lane_of_nobody() -> Any:
    """A queue that is bound to no tenant."""
    queue = lane("")
    queue.tenant = None
    return queue


class Tool:
    """Something with a static method."""

    @staticmethod
    def use(word: str) -> str:
        """Leave a word."""
        return note(word)


run = subprocess.run  # a name in an allowed module for a function that is not of it


def _job() -> Job:
    job = get_current_job()
    assert job is not None
    return job
