"""Do the tests notice a fault in the Lua? Plants them one by one and runs the lanes' tests.

    python -m bench mutate [--json] [--sample N] [--seed N] [--only SCRIPT] [--jobs 2]

Every mutant is either killed, or stands in `bench/mutation/survivors.toml` with the reason why it
changes no behaviour that anybody can rely on.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import threading
import tomllib
from collections import Counter
from pathlib import Path
from queue import Empty, Queue
from typing import IO

from bench.mutation.mutants import LUA, Mutant, mutants, text_with
from bench.report import Report

ROOT = Path(__file__).resolve().parent.parent
KNOWN = Path(__file__).parent / "mutation" / "survivors.toml"
LANES = "tests/integration/lanes"
NAMES = ("mutants", "exact", "exact_numbers", "scripts", "laws")
QUICK = [f"{LANES}/test_{name}.py" for name in NAMES]
THOROUGH = [f"{LANES}/test_fairness.py", f"{LANES}/test_bounds.py"]
SECONDS = 150.0  # a mutant that makes the tests hang is killed, too


def main(arguments: list[str]) -> Report:
    """Plant, run, and compare with what is known to survive."""
    parser = argparse.ArgumentParser(prog="python -m bench mutate")
    parser.add_argument("--sample", type=int, help="only so many, chosen by the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="only faults of this script")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args(arguments)
    _check_sound()
    known = set(tomllib.loads(KNOWN.read_text()).get("survivors", {}))
    planted = [it for it in mutants() if chosen.only in (None, it.script)]
    if chosen.sample:
        planted = random.Random(chosen.seed).sample(planted, min(chosen.sample, len(planted)))
    report = Report("mutate", {**vars(chosen), "mutants": len(planted)})
    verdicts = _judged([it for it in planted if it.id not in known], chosen.jobs)
    for script in sorted({it.script for it in planted}):
        of_script = [it for it in planted if it.script == script]
        report.results[script] = _row(of_script, verdicts)
    survived = [it for it in planted if verdicts.get(it.id) == "survived"]
    for it in survived:
        sys.stderr.write(f"survived {it.id} line {it.line + 1}: {it.before.strip()}\n")
        sys.stderr.write(f"    ({it.what}) {it.after.strip()}\n")
    report.at_most("mutants that survive without a reason", len(survived), 0)
    stale = known - {it.id for it in mutants()}
    report.at_most("reasons for mutants that are no more", len(stale), 0, ", ".join(sorted(stale)))
    return report


def _check_sound() -> None:
    """Without a fault the tests pass; else every mutant would look killed."""
    text = (LUA / "claim.lua").read_text().split("\n")[0]
    sound = Mutant("claim", 0, text, text, "nothing")
    verdict = _run([sound], QUICK, jobs=1)[sound.id]
    if verdict != "survived":
        raise SystemExit(f"the tests fail without any fault: {verdict}")


def _row(planted: list[Mutant], verdicts: dict[str, str]) -> dict[str, int]:
    counts = Counter(verdicts.get(it.id, "known") for it in planted)
    return {
        "mutants": len(planted),
        "killed": counts["killed"] + counts["timeout"],
        "survive_for_a_reason": counts["known"],
        "survive": counts["survived"],
    }


def _judged(planted: list[Mutant], jobs: int) -> dict[str, str]:
    """Verdicts by id: quick tests for all, the thorough ones for what is left."""
    verdicts = _run(planted, QUICK, jobs)
    left = [it for it in planted if verdicts[it.id] == "survived"]
    return verdicts | _run(left, THOROUGH, jobs)


def _run(planted: list[Mutant], tests: list[str], jobs: int) -> dict[str, str]:
    waiting: Queue[Mutant] = Queue()
    for each in planted:
        waiting.put(each)
    verdicts: dict[str, str] = {}
    threads = [
        threading.Thread(target=_serve, args=(waiting, tests, verdicts)) for _ in range(jobs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return verdicts


def _serve(waiting: Queue[Mutant], tests: list[str], verdicts: dict[str, str]) -> None:
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
            verdicts[mutant.id] = _ask(mutant, nursery.stdin, nursery.stdout)
            sys.stderr.write(f"{len(verdicts)} {verdicts[mutant.id]} {mutant.id}\n")
        nursery.stdin.close()


def _ask(mutant: Mutant, to: IO[str], answers: IO[str]) -> str:
    asked = {"script": mutant.script, "text": text_with(mutant), "seconds": SECONDS}
    to.write(json.dumps({"id": mutant.id, **asked}) + "\n")
    to.flush()
    verdict: str = json.loads(answers.readline())["verdict"]
    return verdict
