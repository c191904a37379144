"""`make demo` from the outside: it says where, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.background import runs, until
from tests.fairworkers import descendants

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90.0


class Demo:
    """The launcher as a process, with what it has said so far."""

    def __init__(self, folder: Path, log: Path, port: int, **env: str) -> None:
        self.folder = folder
        self.port = port
        self.log = log
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("FAIRIMPORT", "DJANGO"))}
        with self.log.open("wb") as log:
            self.popen = subprocess.Popen(
                [sys.executable, "manage.py", "demo"],
                cwd=ROOT,
                env={**clean, "DEMO_DIR": str(folder), "PORT": str(port), "WORKERS": "2", **env},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    @property
    def said(self) -> str:
        return self.log.read_text()

    def wait_until_ready(self) -> None:
        """Return once it has said `Ready:`; fail with what it said instead."""
        deadline = time.monotonic() + START_SECONDS
        while "Ready:" not in self.said:
            assert self.popen.poll() is None, self.said
            assert time.monotonic() < deadline, self.said
            time.sleep(0.1)

    def get(self, path: str) -> int:
        """The status of a page."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()


@pytest.fixture
def port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's folder, kept from test to test as it is from day to day."""
    return tmp_path_factory.mktemp("demo") / "folder"


@pytest.fixture
def demo(folder: Path, tmp_path: Path, port: int) -> Iterator[Callable[..., Demo]]:
    """Start the demo; whatever a test leaves running is killed."""
    started: list[Demo] = []

    def start(**env: str) -> Demo:
        started.append(Demo(folder, tmp_path / f"{len(started)}.log", port, **env))
        return started[-1]

    yield start
    for each in started:
        below = descendants(each.popen.pid)
        each.popen.kill()
        each.popen.wait(timeout=20)
        for pid in below:
            _kill(pid)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _all_gone(pids: list[int]) -> bool:
    return not any(map(runs, pids))


def test_the_demo_says_where_and_who_and_ends_when_told(demo: Callable[..., Demo]) -> None:
    """Ready, a site that answers, and after SIGTERM no process is left and the exit code is 0."""
    running = demo()
    running.wait_until_ready()
    assert f"Ready: http://127.0.0.1:{running.port}" in running.said
    assert "ada / " in running.said
    assert running.get("/sign-in/") == 200
    assert running.get("/static/admin/css/base.css") == 200
    below = descendants(running.popen.pid)
    assert len(below) >= 4
    running.popen.send_signal(signal.SIGTERM)
    assert running.popen.wait(timeout=40) == 0
    assert until(lambda: _all_gone(below), 2)
    assert running.said.endswith("Stopped.\n")


def test_nothing_outlives_a_demo_that_was_killed(demo: Callable[..., Demo]) -> None:
    """SIGKILL of the launcher ends site, workers and Redis within seconds."""
    running = demo()
    running.wait_until_ready()
    below = descendants(running.popen.pid)
    running.popen.kill()
    running.popen.wait(timeout=10)
    assert until(lambda: _all_gone(below), 15)


def test_a_program_that_was_killed_is_started_again(demo: Callable[..., Demo]) -> None:
    """The demo goes on when somebody kills its workers to see what happens."""
    running = demo()
    running.wait_until_ready()
    workers = [
        pid
        for pid in descendants(running.popen.pid)
        if b"fairworker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    os.kill(workers[0], signal.SIGKILL)
    deadline = time.monotonic() + 10
    while "The workers ended; starting it again." not in running.said:
        assert time.monotonic() < deadline, running.said
        time.sleep(0.1)


def test_a_port_that_is_taken_is_one_clear_sentence(demo: Callable[..., Demo], port: int) -> None:
    """Nothing is started, and the sentence names another port."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        running = demo()
        assert running.popen.wait(timeout=30) == 1
    assert running.said.strip() == (
        f"CommandError: Port {port} is taken: end what listens there, or choose another one, "
        f"as in: make demo PORT={port + 1}"
    )


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"PORT": "web"}, "PORT is 'web': give a whole number from 1 to 65535."),
        ({"WORKERS": "0"}, "WORKERS is '0': give a whole number from 1 to 64."),
        ({"REDIS_URL": "redis://127.0.0.1:1/0"}, "Redis does not answer at REDIS_URL"),
        ({"DATABASE_URL": "postgres://127.0.0.1:1/none"}, "The set-up failed"),
    ],
)
def test_what_the_demo_cannot_use_is_said_in_words(
    demo: Callable[..., Demo], env: dict[str, str], words: str
) -> None:
    """A wrong variable ends in a sentence, not in a traceback."""
    running = demo(**env)
    assert running.popen.wait(timeout=60) == 1
    assert words in running.said
    assert "Traceback" not in running.said


def test_a_second_demo_in_the_same_folder_says_so(demo: Callable[..., Demo], port: int) -> None:
    """The private Redis of a folder has one owner."""
    first = demo()
    first.wait_until_ready()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        other = str(probe.getsockname()[1])
    second = demo(PORT=other)
    assert second.popen.wait(timeout=30) == 1
    assert "A demo already runs in" in second.said
