"""One benchmark as a part of the suite: run it, and read what it said, whatever became of it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.report import Goal

__all__ = ["Said", "run"]

GRACE = 10.0  # seconds for a hung one to say where it hangs


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one benchmark printed, and what became of it; `broken` is empty when it ended well."""

    seconds: float
    stated: dict[str, Any]
    broken: str = ""

    @property
    def goals(self) -> list[Goal]:
        """Its goals, in its order."""
        return [Goal(**{"reason": "", **goal}) for goal in self.stated.get("goals", [])]


def run(command: list[str], *, cwd: Path, seconds: float) -> Said:
    """Run a benchmark with `--json`; what it writes to stderr, a traceback too, is seen at once."""
    began = time.monotonic()
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, text=True) as process:
        try:
            text, broken = process.communicate(timeout=seconds)[0], ""
        except subprocess.TimeoutExpired:
            text, broken = _abort(process), f"it did not end within {seconds:g} s"
        code = process.returncode
    stated = _object(text)
    said = Said(seconds=time.monotonic() - began, stated=stated)
    expected = 0 if all(goal.met for goal in said.goals) else 1
    if not broken and not said.goals:
        broken = f"it ended with exit code {code} and stated no goals"
    elif not broken and code != expected:
        broken = f"it ended with exit code {code} instead of {expected}"
    return Said(seconds=said.seconds, stated=stated, broken=broken)


def _abort(process: subprocess.Popen[str]) -> str:
    """End a hung one; `-X faulthandler` lets it say where it was."""
    process.send_signal(signal.SIGABRT)
    try:
        return process.communicate(timeout=GRACE)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0]


def _object(text: str) -> dict[str, Any]:
    """The JSON object that was printed; an empty one when it was something else."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
