"""Start everything the demo needs, keep it running, and stop all of it at the end.

Redis is stopped last. Should this process be killed, its programs are too: Linux kills them with
their parent (PR_SET_PDEATHSIG), and the guard of Redis sees its pipe close.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import FrameType

from redis import Redis
from redis.exceptions import RedisError

from demo_site.programs import MANAGE, Program
from demo_site.servers import AlreadyRunning, RedisServer
from demo_site.servers.guard import die_with_parent

__all__ = ["CannotStart", "Launcher"]

READY_SECONDS = 60.0


class CannotStart(RuntimeError):
    """The demo cannot start, or cannot go on; the message says why and what to do."""


class _StopAsked(BaseException):
    """Ctrl-C or a signal asked for the end."""


class Launcher:
    """The demo as a whole: `run()` returns when it was asked to end."""

    def __init__(
        self, *, folder: Path, port: int, workers: int, say: Callable[[str], object]
    ) -> None:
        self.folder = folder
        self.port = port
        self.workers = workers
        self.say = say
        self.url = f"http://127.0.0.1:{port}"
        self.env = {**os.environ, "DEMO_DIR": str(folder), "PYTHONUNBUFFERED": "1"}

    def run(self, *, greeting: str) -> None:
        """Set up, start, say `Ready:` and the greeting, and keep it so; raise CannotStart."""
        self._check_port()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _signals_raise(), suppress(_StopAsked), ExitStack() as stack:
            self._provide_redis(stack)
            self._set_up()
            programs = self._programs()
            stack.callback(_stop_all, programs)
            for program in programs:
                program.start()
            self._wait_for_site(programs)
            self.say(f"Ready: {self.url}\n{greeting}")
            self._keep(programs)
        self.say("Stopped.")

    def _check_port(self) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", self.port))
            except OSError:
                raise CannotStart(
                    f"Port {self.port} is taken: end what listens there, or choose another "
                    f"one, as in: make demo PORT={self.port + 1}"
                ) from None

    def _provide_redis(self, stack: ExitStack) -> None:
        given = os.environ.get("REDIS_URL")
        if given:
            _check_redis(given)
            return
        server = RedisServer(self.folder / "redis", durable=True)
        try:
            server.start()
        except AlreadyRunning:
            raise CannotStart(
                f"A demo already runs in {self.folder}: end it first, or set DEMO_DIR to "
                "another folder."
            ) from None
        stack.callback(server.stop)
        self.env["REDIS_URL"] = server.url

    def _set_up(self) -> None:
        self.say("Setting up the database and the sample files ...")
        done = subprocess.run(  # noqa: S603  (our own command)
            [sys.executable, MANAGE, "demo_setup"],
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            lines = (done.stdout + done.stderr).strip().splitlines()[-5:]
            raise CannotStart("The set-up failed:\n" + "\n".join(lines))

    def _programs(self) -> list[Program]:
        arguments = {
            "workers": ["fairworker", "--workers", str(self.workers)],
            "site": ["runserver", "--noreload", f"127.0.0.1:{self.port}"],
        }
        return [
            Program(name=name, arguments=words, env=self.env, log=self.folder / f"{name}.log")
            for name, words in arguments.items()
        ]

    def _wait_for_site(self, programs: list[Program]) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not self._site_answers():
            ended = next((program for program in programs if program.ended()), None)
            if ended or time.monotonic() > deadline:
                which = ended or programs[-1]
                raise CannotStart(f"The {which.name} did not start:\n{which.tail()}")
            time.sleep(0.1)

    def _site_answers(self) -> bool:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/sign-in/")
            status = connection.getresponse().status
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()
        if status >= 500:
            raise CannotStart(f"The site answers with {status}; see {self.folder}/site.log")
        return True

    def _keep(self, programs: list[Program]) -> None:
        while True:
            time.sleep(0.5)
            for program in programs:
                if program.ended():
                    self.say(f"The {program.name} ended; starting it again.")
                    program.start()


def _stop_all(programs: list[Program]) -> None:
    for program in reversed(programs):
        program.stop()


def _check_redis(url: str) -> None:
    try:
        with Redis.from_url(url, socket_timeout=5, socket_connect_timeout=5, retry=None) as client:
            client.ping()
    except (RedisError, OSError, ValueError) as error:
        raise CannotStart(
            f"Redis does not answer at REDIS_URL={url} ({error}): start it, or unset REDIS_URL "
            "for a private one."
        ) from None


@contextmanager
def _signals_raise() -> Iterator[None]:
    """Turn signals into `_StopAsked`, once; further ones wait until everything is stopped."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def ask(_number: int, _frame: FrameType | None) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise _StopAsked

    before = {number: signal.signal(number, ask) for number in numbers}
    if "MAKELEVEL" in os.environ:
        die_with_parent(signal.SIGTERM)  # make may be killed without a word to us
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
