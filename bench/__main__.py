"""Run one benchmark: `python -m bench NAME [--json] [its own options]`.

Each is a module of this package with `main(arguments) -> Report`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from bench import rig
from bench.report import Report

OWN = {"__init__", "__main__", "report"}


def names() -> list[str]:
    """The benchmarks there are."""
    here = Path(__file__).parent
    return sorted(
        path.stem
        for path in here.glob("*.py")
        if "def main(" in path.read_text("utf-8") and path.stem not in OWN
    )


def main(arguments: list[str]) -> int:
    """Run the named benchmark; return 0 when it met its goals, 1 when not, 2 for a wrong name."""
    if not arguments or arguments[0] not in names():
        sys.stderr.write(f"usage: python -m bench NAME [--json]\nNAME: {', '.join(names())}\n")
        return 2
    name, *rest = arguments
    rig.set_up()
    report: Report = import_module(f"bench.{name}").main([a for a in rest if a != "--json"])
    return report.show(as_json="--json" in rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
