# ruff: noqa: T201  (it prints what it finds)
"""Give wrong files to one reader after the other, and say every end that is not a clear one.

A finding is a reader that hangs or dies, a reply outside of the vocabulary, an error that nobody
foresaw, or a spool that does not hold the rows that were counted. `--seed N --files 1` repeats one.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fairimport.sheets import parent, rows
from fairimport.sheets.limits import Limits
from tests.fuzz.mutations import Mutator
from tests.fuzz.seeds import seeds

CASES = Path(os.environ.get("FAIRIMPORT_CASES") or Path(__file__).parent.parent / "cases")
LIMITS = Limits(max_rows=5000, max_unpacked_mib=64, reader_cpu_s=10)
PATIENCE = 20.0
EXPLAINED = {
    "zip",
    "names",
    "overlap",
    "part_missing",
    "part_broken",
    "xml",
    "depth",
    "doctype",
} | {
    *("no_sheets", "row", "reference", "shared_string", "record", "xls", "encoding", "cut_off"),
    *("memory", "time", "disk"),
}


class Reader:
    """A child that reads one file after the other; a new one when it died."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any] | str:
        """Return the reply, or what happened instead."""
        child = self._running()
        assert child.stdin
        assert child.stdout
        child.stdin.write(json.dumps(request).encode() + b"\n")
        child.stdin.flush()
        ready, _, _ = select.select([child.stdout], [], [], PATIENCE)
        line = child.stdout.readline() if ready else b""
        if not line:
            self.end()
            return "died" if ready else "hung"
        return json.loads(line)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            arguments, environment = parent.command()
            self._child = subprocess.Popen(
                arguments, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        return self._child

    def end(self) -> None:
        """Stop the child, if there is one."""
        if self._child is not None:
            self._child.kill()
            for stream in (self._child.stdin, self._child.stdout):
                if stream:
                    stream.close()
            self._child.wait()
            self._child = None


def judge(reply: dict[str, Any] | str, spool: Path, codes: set[str]) -> tuple[str, str]:
    """Return how the file ended, and what is wrong with that (empty when nothing is)."""
    if isinstance(reply, str):
        return reply, reply
    if "survey" not in reply:
        code, reason = reply["refused"], reply["facts"].get("reason", "")
        if code not in codes:
            return code, f"no such code: {code}"
        unexplained = reason not in EXPLAINED and reason != ""
        return code, f"unexplained {reason}" if unexplained else ""
    survey = reply["survey"]
    if survey["needs"]:
        return "asked", ""
    read = sum(1 for _ in rows(spool))
    wrong = read != survey["row_count"]
    return "read", f"{read} rows spooled, {survey['row_count']} counted" if wrong else ""


class Campaign:
    """Files of many seeds, given to one reader; keeps how they ended."""

    def __init__(self, keep: Path | None) -> None:
        vocabulary = json.loads((CASES / "manifest.json").read_text("utf-8"))["vocabulary"]
        self._codes = set(vocabulary["file_error"])
        self._mutator = Mutator(seeds(CASES))
        self._keep = keep
        self.reader = Reader()
        self.ends: Counter[str] = Counter()
        self.findings: list[int] = []
        self.slowest = (0.0, 0)

    def run(self, numbers: Iterable[int], until: float) -> None:
        """Read the file of each seed, until a moment of the monotonic clock."""
        with tempfile.TemporaryDirectory(prefix="fairimport-fuzz-") as folder:
            for seed in numbers:
                if time.monotonic() > until:
                    break
                self._one(seed, Path(folder) / "file", Path(folder) / "spool")
        self.reader.end()

    def _one(self, seed: int, path: Path, spool: Path) -> None:
        name, content = self._mutator.file(seed)
        path.write_bytes(content)
        request = {"path": str(path), "filename": name, "spool": str(spool), "options": OPTIONS}
        begun = time.monotonic()
        reply = self.reader.ask({**request, "limits": LIMITS.to_json()})
        self.slowest = max(self.slowest, (time.monotonic() - begun, seed))
        end, wrong = judge(reply, spool, self._codes)
        self.ends[end] += 1
        if wrong:
            self.findings.append(seed)
            print(f"seed {seed} ({name}): {wrong}", flush=True)
            if self._keep:
                (self._keep / f"{seed}-{name}").write_bytes(content)


def main() -> int:
    """Fuzz for a number of files or seconds, whatever ends first; 1 when there were findings."""
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("--files", type=int, default=100_000)
    options.add_argument("--seconds", type=float, default=float("inf"))
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--keep", type=Path, help="folder for files that are findings")
    chosen = options.parse_args()
    campaign = Campaign(chosen.keep)
    started = time.monotonic()
    numbers = range(chosen.seed, chosen.seed + chosen.files)
    campaign.run(numbers, started + chosen.seconds)
    seconds = time.monotonic() - started
    count = campaign.ends.total()
    speed = f"{seconds:.0f} s ({count / max(seconds, 0.001):.0f} a second)"
    print(f"{count} files in {speed}, seeds from {chosen.seed}")
    print(f"slowest: {campaign.slowest[0]:.2f} s (seed {campaign.slowest[1]})")
    print("ends: " + ", ".join(f"{end} {n}" for end, n in campaign.ends.most_common()))
    print(f"findings: {len(campaign.findings)}")
    return 1 if campaign.findings else 0


OPTIONS = {"headers": ["Code", "Name", "Qty"], "fill_merged": True}


if __name__ == "__main__":
    sys.exit(main())
