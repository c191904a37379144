"""Do the tests notice a fault in the Lua? Plants them one by one and runs the lanes' tests.

    python -m bench mutate [--json] [--sample N] [--seed N] [--only SCRIPT] [--jobs 2]

Every mutant is either killed, or stands in `bench/mutation/survivors.toml` with the reason why it
changes no behaviour that anybody can rely on. A sample has so many of each script, always the same
ones while their lines stay as they are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import threading
import tomllib
from collections import Counter
from functools import partial
from itertools import groupby
from pathlib import Path
from queue import Empty, Queue
from typing import IO

from bench.mutation.mutants import LUA, Mutant, mutants, text_with
from bench.report import Report

ROOT = Path(__file__).resolve().parent.parent
KNOWN = Path(__file__).parent / "mutation" / "survivors.toml"
LANES = "tests/integration/lanes"
NAMES = ("mutants", "exact", "exact_numbers", "explain", "scripts", "laws")
QUICK = [f"{LANES}/test_{name}.py" for name in NAMES]
THOROUGH = [f"{LANES}/test_fairness.py", f"{LANES}/test_bounds.py"]
SECONDS = 20.0  # of one test, five times the longest; a mutant that makes it hang is killed, too
PATIENCE = 120.0  # the same where it must not be a slow machine that decides
KILLED = ("killed", "timeout")


def main(arguments: list[str]) -> Report:
    """Plant, run, and compare with what is known to survive."""
    parser = argparse.ArgumentParser(prog="python -m bench mutate")
    parser.add_argument("--sample", type=int, help="only so many of each script")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--only", help="only faults of this script")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args(arguments)
    _check_sound()
    known = set(tomllib.loads(KNOWN.read_text()).get("survivors", {}))
    planted = [it for it in mutants() if chosen.only in (None, it.script)]
    if chosen.sample:
        planted = sample([it for it in planted if it.id not in known], chosen.sample, chosen.seed)
    report = Report("mutate", {**vars(chosen), "mutants": len(planted)})
    verdicts = _judged([it for it in planted if it.id not in known], chosen.jobs)
    for script in sorted({it.script for it in planted}):
        of_script = [it for it in planted if it.script == script]
        report.results[script] = _row(of_script, verdicts)
    _hold(report, planted, verdicts)
    stale = known - {it.id for it in mutants()}
    report.at_most("reasons for mutants that are no more", len(stale), 0, ", ".join(sorted(stale)))
    return report


def sample(planted: list[Mutant], each: int, seed: int) -> list[Mutant]:
    """So many of each script, chosen by their names: other lines may change, the choice stays."""

    def rank(mutant: Mutant) -> tuple[str, bytes]:
        return mutant.script, hashlib.sha256(f"{seed}:{mutant.id}".encode()).digest()

    groups = groupby(sorted(planted, key=rank), key=lambda it: it.script)
    return [it for _, group in groups for it in list(group)[:each]]


def _check_sound() -> None:
    """Without a fault the tests pass; else every mutant would look killed."""
    text = (LUA / "claim.lua").read_text().split("\n")[0]
    sound = Mutant("claim", 0, text, text, "nothing")
    verdict = _run([sound], QUICK, jobs=1, seconds=PATIENCE)[sound.id]
    if verdict != "survived":
        raise SystemExit(f"the tests fail without any fault: {verdict}")


def _hold(report: Report, planted: list[Mutant], verdicts: dict[str, str]) -> None:
    survived = [it for it in planted if verdicts.get(it.id) == "survived"]
    reason = "; ".join(map(_worded, survived))
    report.at_most("mutants that survive without a reason", len(survived), 0, reason)
    judged = {*KILLED, "survived"}
    unjudged = [f"{name} {verdict}" for name, verdict in verdicts.items() if verdict not in judged]
    report.at_most("mutants without a verdict", len(unjudged), 0, "; ".join(unjudged))


def _worded(it: Mutant) -> str:
    return f"{it.id}, line {it.line + 1}, {it.what}: {it.before.strip()} => {it.after.strip()}"


def _row(planted: list[Mutant], verdicts: dict[str, str]) -> dict[str, int]:
    counts = Counter(verdicts.get(it.id, "known") for it in planted)
    return {
        "mutants": len(planted),
        "killed": sum(counts[verdict] for verdict in KILLED),
        "survive_for_a_reason": counts["known"],
        "survive": counts["survived"],
    }


def _judged(planted: list[Mutant], jobs: int) -> dict[str, str]:
    """Verdicts by id: quick tests for all, the thorough ones for what is left."""
    verdicts = _run(planted, QUICK, jobs)
    left = [it for it in planted if verdicts[it.id] == "survived"]
    return verdicts | _run(left, THOROUGH, jobs)


def _run(
    planted: list[Mutant], tests: list[str], jobs: int, seconds: float = SECONDS
) -> dict[str, str]:
    """Verdicts by id."""
    waiting: Queue[Mutant] = Queue()
    for each in planted:
        waiting.put(each)
    verdicts: dict[str, str] = {}
    serve = partial(_serve, waiting, tests, verdicts, seconds)
    threads = [threading.Thread(target=serve) for _ in range(min(jobs, len(planted)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return verdicts


def _serve(
    waiting: Queue[Mutant], tests: list[str], verdicts: dict[str, str], seconds: float
) -> None:
    command = [sys.executable, "-m", "bench.mutation.nursery", *tests]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as nursery:
        assert nursery.stdin
        assert nursery.stdout
        while True:
            try:
                mutant = waiting.get_nowait()
            except Empty:
                break
            verdicts[mutant.id] = _ask(mutant, seconds, nursery.stdin, nursery.stdout)
            sys.stderr.write(f"{len(verdicts)} {verdicts[mutant.id]} {mutant.id}\n")
        nursery.stdin.close()


def _ask(mutant: Mutant, seconds: float, to: IO[str], answers: IO[str]) -> str:
    asked = {"script": mutant.script, "text": text_with(mutant), "seconds": seconds}
    to.write(json.dumps({"id": mutant.id, **asked}) + "\n")
    to.flush()
    verdict: str = json.loads(answers.readline())["verdict"]
    return verdict
