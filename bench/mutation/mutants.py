"""Which faults are planted: one a mutant, in one line of one script."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["LUA", "Mutant", "mutants", "text_with"]

LUA = Path(__file__).resolve().parents[2] / "fairimport" / "lanes" / "lua"
SWAPS = (
    ("<=", "<"),
    (">=", ">"),
    (" < ", " <= "),
    (" > ", " >= "),
    ("==", "~="),
    ("~=", "=="),
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " / "),
    (" / ", " * "),
    (" and ", " or "),
    (" or ", " and "),
    ("math.max", "math.min"),
    ("math.min", "math.max"),
    ("math.ceil", "math.floor"),
    ("math.floor", "math.ceil"),
    ("not ", ""),
    ("LPUSH", "RPUSH"),
    ("RPUSH", "LPUSH"),
    ("LPOP", "RPOP"),
    ('"front"', '"back"'),
    ('"back"', '"front"'),
    ('"-inf"', "0"),
    ('"+inf"', "now"),
    ("true", "false"),
    ("false", "true"),
    ("READY", "PARKED"),
    ("PARKED", "READY"),
    ("RESTING", "READY"),
    (", 0, 0,", ", -1, -1,"),
    (", -1, -1,", ", 0, 0,"),
    ("ipairs", "next, "),
)
SKIPPED = {"ipairs"}  # changes the language, not the meaning
WHOLE = re.compile(
    r"^\s*(call\(|table\.insert\(|place\(|advance\(|raise\(|add\(|hold\(|start\(|learn\(|forget\("
    r"|count_\w+\(|finish\(|charge\(|want\(|again\(|route\(|into\(|[\w.]+(, [\w.]+)* = )"
)
GUARDED = re.compile(r"^(\s*)if (.+?) then (.+) end$")
NUMBER = re.compile(r"(?<![\w.\"'%])\d+(?![\w.\"'])")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A line of a script, as it is and as the fault makes it."""

    script: str
    line: int
    before: str
    after: str
    what: str

    @property
    def id(self) -> str:
        """Stable while the line stays as it is, wherever it moves to."""
        text = f"{self.script}:{self.before.strip()}:{self.after.strip()}"
        return f"{self.script}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def mutants() -> list[Mutant]:
    """All of them, each once."""
    found = {each.id: each for path in sorted(LUA.glob("*.lua")) for each in _of_file(path)}
    return list(found.values())


def text_with(mutant: Mutant) -> str:
    """The script with its fault."""
    lines = list(_lines(mutant.script))
    lines[mutant.line] = mutant.after
    return "\n".join(lines)


@cache
def _lines(script: str) -> list[str]:
    return (LUA / f"{script}.lua").read_text().split("\n")


def _of_file(path: Path) -> Iterator[Mutant]:
    for number, line in enumerate(_lines(path.stem)):
        if not line.strip() or line.lstrip().startswith(("--", "#!")) or "clock()" in line:
            continue
        for after, what in _faults(line):
            if after != line:
                yield Mutant(path.stem, number, line, after, what)


def _faults(line: str) -> Iterator[tuple[str, str]]:
    if WHOLE.match(line) and _balanced(line):
        yield "", "dropped"
    guarded = GUARDED.match(line)
    if guarded:
        yield f"{guarded[1]}if {guarded[2]} then end", "body dropped"
    if re.match(r"^\s*(else)?if .+ then\b", line):
        yield re.sub(r"if (.+?) then\b", r"if not (\1) then", line, count=1), "negated"
    for old, new in SWAPS:
        for match in re.finditer(re.escape(old), line):
            if old.strip() not in SKIPPED and _whole(line, match):
                yield line[: match.start()] + new + line[match.end() :], f"{old} -> {new}"
    for match in NUMBER.finditer(line):
        if not _in_text(line, match.start()):
            yield line[: match.start()] + str(int(match[0]) + 1) + line[match.end() :], "number + 1"


def _whole(line: str, match: re.Match[str]) -> bool:
    """Not a part of a longer word or operator."""
    text, start, end = match[0], match.start(), match.end()
    if text[0].isalpha() and (start and (line[start - 1].isalnum() or line[start - 1] == "_")):
        return False
    if text[-1].isalpha() and end < len(line) and (line[end].isalnum() or line[end] == "_"):
        return False
    return not _in_text(line, start) or text.isupper() or text.startswith('"')


def _in_text(line: str, index: int) -> bool:
    return line[:index].count('"') % 2 == 1


def _balanced(line: str) -> bool:
    return all(line.count(a) == line.count(b) for a, b in ("()", "{}")) and not line.endswith(",")
