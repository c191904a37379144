"""The story's own servers and workers; everything ends with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis import Redis

from demo_site.programs import MANAGE, Program
from demo_site.servers import RedisServer

__all__ = ["play"]

WORKERS = {"fifo": ["rqworker", "one-list"], "lanes": ["fairworker"]}


def play(act: str, scene: dict[str, Any]) -> dict[str, Any]:
    """Play one act of a scene on servers of its own; return what was measured."""
    with tempfile.TemporaryDirectory(prefix="fairstory-") as name:
        folder = Path(name)
        server = RedisServer(folder / "redis").start()
        try:
            env = _environment(folder, server.url, scene)
            _run(env, MANAGE, "migrate", "--verbosity", "0")
            with _workers(act, scene["workers"], env, folder):
                _wait_for_workers(server.client(), scene["workers"])
                told = _run(env, "-m", "demo_site.story", json.dumps({"act": act, **scene}))
        finally:
            server.stop()
    played: dict[str, Any] = json.loads(told)
    return played


def _environment(folder: Path, redis_url: str, scene: dict[str, Any]) -> dict[str, str]:
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "demo_site.story.settings",
        "DEMO_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'story.sqlite3'}",
        "REDIS_URL": redis_url,
        "STORY_ROW_SECONDS": str(scene["row_seconds"]),
        "STORY_CAP": str(scene["cap"]),
    }


@contextmanager
def _workers(act: str, count: int, env: dict[str, str], folder: Path) -> Iterator[None]:
    programs = [
        Program(name=f"worker {n}", arguments=WORKERS[act], env=env, log=folder / f"worker-{n}.log")
        for n in range(count)
    ]
    try:
        for program in programs:
            program.start()
        yield
    finally:
        for program in programs:
            program.stop()


def _wait_for_workers(client: Redis, count: int) -> None:
    deadline = time.monotonic() + 60
    while int(client.scard("rq:workers")) < count:
        if time.monotonic() > deadline:
            raise RuntimeError("the workers did not start within a minute")
        time.sleep(0.1)


def _run(env: dict[str, str], *words: str) -> str:
    done = subprocess.run(  # noqa: S603  (our own commands)
        [sys.executable, *words], env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{words[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout
