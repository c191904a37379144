"""All benchmarks of the scheduler, one after the other, each figure in a file.

    python -m bench suite [--json] [--short] [--only NAME ...] [--into FOLDER]

The short forms take two minutes each at most, for a build server; the long ones take an hour.
`FOLDER/NAME.json` is what a benchmark said, `FOLDER/suite.json` holds the goals of all of them.
One that breaks, or does not end, has missed its goal; the others run all the same.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from bench.part import Said, run
from bench.report import Goal, Report

ROOT = Path(__file__).resolve().parent.parent
LONG = {
    "simulate": [],
    "claim": [],
    "turn": [],
    "soak": ["--minutes", "10"],
    "leak": ["--rounds", "1000"],
    "mutate": [],
}
SHORT = {
    "simulate": ["--rows", "2000", "--tenants", "200"],
    "claim": ["--sizes", "10", "1000", "20000", "--copies", "5", "--batches", "12"],
    "turn": ["--rounds", "15"],
    "soak": ["--minutes", "0.5"],
    "leak": ["--rounds", "100"],
    "mutate": ["--sample", "2"],
}
PATIENCE = {"short": 10 * 60.0, "long": 3 * 3600.0}  # seconds until one counts as hung


def main(arguments: list[str]) -> Report:
    """Run them, write their JSON, and state all their goals."""
    parser = argparse.ArgumentParser(prog="python -m bench suite")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", nargs="*", default=list(LONG), choices=list(LONG))
    parser.add_argument("--into", type=Path, default=ROOT / ".measured")
    chosen = parser.parse_args(arguments)
    chosen.into.mkdir(parents=True, exist_ok=True)
    form = "short" if chosen.short else "long"
    report = Report("suite", {"form": form, "figures": str(chosen.into)})
    for name in chosen.only:
        options = (SHORT if chosen.short else LONG)[name]
        sys.stderr.write(f"\n{name} {' '.join(options)}\n")
        command = [sys.executable, "-X", "faulthandler", "-m", "bench", name, "--json", *options]
        said = run(command, cwd=ROOT, seconds=PATIENCE[form])
        (chosen.into / f"{name}.json").write_text(json.dumps(said.stated, indent=1) + "\n")
        _take_over(report, name, said)
    (chosen.into / "suite.json").write_text(json.dumps(report.stated(), indent=1) + "\n")
    return report


def _take_over(report: Report, name: str, said: Said) -> None:
    """Its goals become the suite's, and people see at once how it went."""
    of_it = [replace(goal, name=f"{name}: {goal.name}") for goal in said.goals]
    if said.broken:
        of_it.append(Goal(f"{name}: it ended well", None, "yes", met=False, reason=said.broken))
    missed = [goal for goal in of_it if not goal.met]
    report.goals += of_it
    report.results[name] = {
        "seconds": round(said.seconds),
        "goals": len(of_it),
        "missed": len(missed),
    }
    sys.stderr.write(f"{name}: {len(of_it) - len(missed)} of {len(of_it)} goals met\n")
    sys.stderr.writelines(f"{goal}\n" for goal in missed)
