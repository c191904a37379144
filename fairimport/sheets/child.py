"""The process that reads a file: `python -m fairimport.sheets.child`.

Each line on stdin is a request (JSON: path, filename, options, limits, spool); each gets one line
on stdout: `{"survey": ...}` or `{"refused": code, "facts": ...}`. Needs no Django. Whatever goes
wrong in a parser is the file's fault and becomes a code.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

from fairimport.errors import FileRefused
from fairimport.sheets.limits import MIB, Limits
from fairimport.sheets.reading import survey_file
from fairimport.sheets.survey import ReadOptions

__all__ = ["answer", "main"]

_FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn")
_PR_SET_PDEATHSIG = 1


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Read one file and return the reply; never raises."""
    limits = Limits(**request["limits"])
    options = ReadOptions.from_json(request["options"])
    path = Path(request["path"])
    try:
        with ExitStack() as stack:
            spool: BinaryIO | None = None
            if request.get("spool"):
                spool = stack.enter_context(open(request["spool"], "wb"))
            survey = survey_file(path, request["filename"], options, limits, spool)
        return {"survey": survey.to_json()}
    except FileRefused as refused:
        return {"refused": refused.code, "facts": refused.facts}
    except MemoryError:
        return {"refused": "file_too_large", "facts": {"reason": "memory"}}
    except OSError as error:
        if error.filename is not None:
            raise
        return {"refused": "unpacks_too_large", "facts": {"reason": "disk"}}
    except Exception as error:
        return {"refused": "damaged_file", "facts": {"reason": type(error).__name__}}


def confine(limits: Limits) -> None:
    """Bound what this process may use; forbid what reading a file never needs."""
    memory = limits.reader_memory_mib * MIB
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    largest = 4 * limits.max_unpacked_mib * MIB
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.addaudithook(_forbid)


def bound_cpu(seconds: int) -> None:
    """Let this process use so many CPU seconds more; then it is killed."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    end = int(used.ru_utime + used.ru_stime) + seconds
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (end, hard))


def _forbid(event: str, _: object) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"a reader of files may not use {event}")


def _die_with_parent() -> None:
    """Ask Linux to kill this process when its parent dies."""
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Answer requests until stdin ends."""
    _die_with_parent()
    confined = False
    for line in sys.stdin:
        request = json.loads(line)
        limits = Limits(**request["limits"])
        if not confined:
            confine(limits)
            confined = True
        bound_cpu(limits.reader_cpu_s)
        print(json.dumps(answer(request)), flush=True)  # noqa: T201  (this is the reply)


if __name__ == "__main__":
    main()
