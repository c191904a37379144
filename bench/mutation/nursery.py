"""Runs tests against mutants, each in a fork: `python -m bench.mutation.nursery TEST...`.

Reads a line of JSON for each (`{"id", "script", "text", "seconds"}`) and answers with one
(`{"id", "verdict"}`): "killed", "timeout" (a single test took longer than `seconds`) or "survived".
Imports and collection are made once; a fork is at its first test at once. The forks share a Redis
server; one that a mutant left busy for ever is replaced before the next.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hypothesis import Phase
from hypothesis import settings as examples

PROFILE = "mutants"
REDIS_DIR = "REDIS_DIR"  # a setting of the tests only
OPTIONS = ("-x", "-q", "-s", "--no-header", "--tb=no", "-p", "no:cacheprovider")
QUIET = ("-o", "filterwarnings=default")  # pytest would warn that plugins were imported before
VERDICTS = {None: "timeout", 0: "survived", 1: "killed"}


class Nursery:
    """A pytest plugin that runs the collected tests once for each mutant it is sent."""

    def __init__(self, answers: int) -> None:
        self.answers = answers
        self._begun = mmap.mmap(-1, 1)  # shared with the fork, which counts the tests it begins

    def pytest_runtest_logstart(self) -> None:
        """In a fork: it is at its next test."""
        self._begun[0] = (self._begun[0] + 1) % 256

    def pytest_runtestloop(self, session: Any) -> bool:
        """Answer until the input ends, instead of running the tests."""
        from django.conf import settings

        from demo_site.servers import RedisServer

        assert session.testscollected
        server = RedisServer(Path(str(getattr(settings, REDIS_DIR)))).start()
        try:
            for line in sys.stdin:
                asked = json.loads(line)
                answer = {"id": asked["id"], "verdict": self._judge(asked, session)}
                os.write(self.answers, json.dumps(answer).encode() + b"\n")
                if not server.answers():
                    server.stop()
                    server.start(empty=True)
        finally:
            server.stop()
        return True

    def _judge(self, asked: dict[str, Any], session: Any) -> str:
        pid = os.fork()
        if not pid:
            os.setsid()
            _run(asked, session)
        code = self._end_of(pid, asked["seconds"])
        if code is None:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        return VERDICTS.get(code, f"broken: the tests ended with {code}")

    def _end_of(self, pid: int, seconds: float) -> int | None:
        """The exit code; None when a test does not end."""
        at, since = self._begun[0], time.monotonic()
        while time.monotonic() - since < seconds:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            if self._begun[0] != at:
                at, since = self._begun[0], time.monotonic()
            time.sleep(0.02)
        return None


def _run(asked: dict[str, Any], session: Any) -> None:
    """Plant the fault and run the tests; never returns."""
    from _pytest.main import Session, pytest_runtestloop

    from fairimport.lanes import scripts

    sound = scripts._source.__wrapped__
    texts = {asked["script"]: asked["text"]}
    vars(scripts)["_source"] = lambda name: texts.get(name) or sound(name)
    scripts._load.cache_clear()
    shutil.rmtree = lambda *_, **__: None  # type: ignore[assignment]  # the folder is shared
    code = 2
    try:
        pytest_runtestloop(session)
        code = 0
    except Session.Failed:
        code = 1
    finally:
        os._exit(code)


def main(tests: list[str]) -> None:
    """Collect once, then answer."""
    import pytest

    folder = tempfile.mkdtemp(prefix="fm-")
    os.environ |= {"FAIRIMPORT_TEST_DIR": folder, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    examples.register_profile(PROFILE, phases=(Phase.generate,))
    examples.load_profile(PROFILE)
    answers = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(os.environ.get("NURSERY_LOG", os.devnull), os.O_WRONLY | os.O_CREAT), 2)
    os.dup2(2, 1)  # what pytest prints is nobody's answer
    pytest.main([*OPTIONS, *QUIET, *tests], plugins=[Nursery(answers)])
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
