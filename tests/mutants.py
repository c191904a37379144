"""Plant faults in the Lua scripts, line by line, and see a test go red for each.

    python -m tests.mutants                  all scripts; prints the survivors, exit code 1 if unknown
    python -m tests.mutants claim _leases    these files
    python -m tests.mutants --list           what would be planted

A survivor is a fault that no test sees. Those that change nothing that anybody could see are in
`mutants.txt` beside this file, each with its reason.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path

HERE = Path(__file__).resolve().parent
KNOWN = HERE / "mutants.txt"
LONGEST = 90.0  # seconds; a fault that makes something wait for ever is seen by that
TESTS = ("tests/integration/lanes/test_laws.py", "tests/integration/lanes/test_scripts.py")

SWAPS = (
    (r"(?<![<>=~])<(?!=)", "<="),
    (r"<=", "<"),
    (r"(?<![<>=~])>(?!=)", ">="),
    (r">=", ">"),
    (r"==", "~="),
    (r"~=", "=="),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " / "),
    (r" / ", " * "),
    (r"\band\b", "or"),
    (r"\bor\b", "and"),
    (r"\bnot ", ""),
    (r"math\.max", "math.min"),
    (r"math\.min", "math.max"),
    (r'"LPUSH"', '"RPUSH"'),
    (r'"RPUSH"', '"LPUSH"'),
    (r'"front"', '"back"'),
    (r'"back"', '"front"'),
    (r'"queued"', '"started"'),
    (r'"started"', '"queued"'),
    (r"\bREADY\b", "PARKED"),
    (r"\bPARKED\b", "READY"),
    (r"\bRESTING\b", "PARKED"),
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"(?<![\w.])0(?![\w.])", "1"),
    (r"(?<![\w.])1(?![\w.])", "0"),
    (r"(?<![\w.])8(?![\w.])", "7"),
    (r"(?<![\w.])16(?![\w.])", "0"),
    (r"\bnil\b", "0"),
)
STATEMENT = re.compile(r"^\s*(call\(.*\)|[a-z_]+\(.*\)|[a-z_, ]+ = .*)$")


@dataclass(frozen=True)
class Mutant:
    """One fault in one line of one file."""

    file: str
    line: int
    before: str
    after: str

    @property
    def name(self) -> str:
        """How it is written in the list of known survivors; line numbers would not last."""
        return f"{self.file}: {self.before.strip()} => {self.after.strip() or '(nothing)'}"

    def apply(self, text: str) -> str:
        """The file's text with the fault in it."""
        lines = text.split("\n")
        lines[self.line] = self.after
        return "\n".join(lines)


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """Every fault that can be planted in a file, each line by itself."""
    for number, line in enumerate(text.split("\n")):
        if not line.strip() or line.lstrip().startswith(("--", "#!", "local function", "end")):
            continue
        if "local now = clock()" in line:
            continue
        plant = partial(Mutant, file, number, line)
        if STATEMENT.match(line):
            yield plant("")
        for pattern, instead in SWAPS:
            for match in re.finditer(pattern, line):
                yield plant(line[: match.start()] + instead + line[match.end() :])


def survives(mutant: Mutant, text: str) -> bool:
    """Run the tests in a fork that loads the faulty text; whether all of them passed."""
    Path(os.environ["FAIRIMPORT_TEST_DIR"]).mkdir(exist_ok=True)  # each session removes it
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os._exit(_tests_pass(mutant, text))
    from fairimport.lanes.children import wait_for

    if not wait_for(pid, LONGEST):
        os.killpg(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1] == 0


def _tests_pass(mutant: Mutant, text: str) -> int:
    import pytest

    from fairimport.lanes import scripts

    source = scripts._source
    faulty = mutant.apply(text)
    scripts._source = lambda name: faulty if name == mutant.file else source(name)  # type: ignore[assignment]
    scripts._load.cache_clear()
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    return int(pytest.main([*options, *TESTS]))


def known() -> set[str]:
    """Survivors that change nothing, by name; their reasons stand on the lines before them."""
    if not KNOWN.exists():
        return set()
    lines = KNOWN.read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def main() -> int:
    """Plant, test, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="scripts, without .lua (default: all)")
    parser.add_argument("--list", action="store_true", help="only list the faults")
    options = parser.parse_args()
    folder = resources.files("fairimport.lanes") / "lua"
    names = options.files or sorted(it.name.removesuffix(".lua") for it in folder.iterdir())
    texts = {name: (folder / f"{name}.lua").read_text() for name in names}
    planted = [mutant for name in names for mutant in mutants_of(name, texts[name])]
    if options.list:
        print("\n".join(mutant.name for mutant in planted))
        return 0
    return report(planted, texts)


def report(planted: list[Mutant], texts: dict[str, str]) -> int:
    """Try each; print those that nobody saw; 1 if one of them is not known."""
    import tests.integration.lanes.test_scripts  # noqa: F401 - imported once, not in each fork

    if not survives(Mutant("none", 0, "", ""), ""):
        print("the tests fail without any fault")
        return 2
    excused, began, killed, new = known(), time.monotonic(), 0, 0
    for number, mutant in enumerate(planted, 1):
        if mutant.name in excused or not survives(mutant, texts[mutant.file]):
            killed += mutant.name not in excused
            continue
        new += 1
        print(f"SURVIVED {mutant.name}", flush=True)
        print(f"{number} of {len(planted)}, {killed} killed", file=sys.stderr, flush=True)
    seconds = time.monotonic() - began
    print(f"{len(planted)} faults, {killed} killed, {new} unseen, {seconds:.0f} s")
    return 1 if new else 0


if __name__ == "__main__":
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()  # before anything of ours is imported
    sys.exit(main())
