"""The parent's side of reading: start the child, wait for it, word its end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import fairimport
from fairimport.errors import FileRefused
from fairimport.sheets.limits import Limits
from fairimport.sheets.survey import ReadOptions, Survey

__all__ = ["read"]

_ROOT = Path(fairimport.__file__).resolve().parent.parent


def read(
    path: Path | str,
    *,
    filename: str,
    options: ReadOptions | None = None,
    spool: Path | str | None = None,
    limits: Limits | None = None,
) -> Survey:
    """Read the file once in a child process; write its rows to `spool` if given.

    `filename` is the name that the customer gave; only its ending is looked at. `limits` are
    those of the settings unless given. Raises `FileRefused` with a code of the vocabulary,
    whatever the file does to its reader.
    """
    limits = limits or limits_from_settings()
    request = {
        "path": str(Path(path).resolve()),
        "filename": filename,
        "options": (options or ReadOptions()).to_json(),
        "limits": limits.to_json(),
        "spool": str(Path(spool).resolve()) if spool else None,
    }
    reply = _ask(request, limits.reader_wall_s)
    if "survey" in reply:
        return Survey.from_json(reply["survey"])
    raise FileRefused(reply["refused"], **reply["facts"])


def limits_from_settings() -> Limits:
    """Return the limits that the host has set."""
    from fairimport.conf import settings  # here, because the child has no Django settings

    return Limits(**{name: getattr(settings, name) for name in Limits.__slots__})


def command() -> tuple[list[str], dict[str, str]]:
    """Return the child's command line and its whole environment."""
    paths = [str(_ROOT), *(entry for entry in sys.path if entry.endswith("-packages"))]
    environment = {"PYTHONPATH": ":".join(paths), "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8"}
    return [sys.executable, "-s", "-P", "-m", "fairimport.sheets.child"], environment


def _ask(request: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Start a child for one request; its death in any form is a `FileRefused`."""
    arguments, environment = command()
    try:
        ended = subprocess.run(  # noqa: S603  (our own interpreter and module)
            arguments,
            input=json.dumps(request) + "\n",
            capture_output=True,
            text=True,
            timeout=seconds,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FileRefused("file_too_large", reason="time", limit=seconds) from None
    if (reply := _reply(ended.stdout)) is not None:
        return reply
    if "MemoryError" in ended.stderr:
        raise FileRefused("file_too_large", reason="memory")
    if ended.returncode in (-24, 152):  # SIGXCPU
        raise FileRefused("file_too_large", reason="time")
    raise FileRefused("damaged_file", reason="reader_died", status=ended.returncode)


def _reply(line: str) -> dict[str, Any] | None:
    """Return what the child said; None when it died before it had said it."""
    try:
        reply = json.loads(line)
    except ValueError:
        return None
    known = isinstance(reply, dict) and ("survey" in reply or {"refused", "facts"} <= set(reply))
    return reply if known else None
