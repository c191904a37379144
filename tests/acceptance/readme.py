"""Read the README as instructions: which file gets which text, and what is run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"
STEP = re.compile(
    r"<!-- (?P<verb>\w+)(?:: (?P<about>[^>]+?))? -->\n```\w+\n(?P<text>.*?)\n```", re.DOTALL
)


@dataclass(frozen=True)
class Step:
    """`append` or `write` a file, `run` or `start` commands."""

    verb: str
    about: str
    text: str

    @property
    def commands(self) -> list[list[str]]:
        """What stands behind the prompts."""
        return [line[2:].split() for line in self.text.splitlines() if line.startswith("$ ")]


def steps_of(section: str) -> list[Step]:
    """The steps of one section of the README, in their order."""
    body = README.read_text().split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    return [
        Step(found["verb"], found["about"] or "", found["text"]) for found in STEP.finditer(body)
    ]
