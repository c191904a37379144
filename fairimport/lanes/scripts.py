"""The one loader of the Lua scripts, and the one way to run them.

A script's text is what it needs of the shared files (`_*.lua`) and its own, without comments.
`EVALSHA` is tried first; a Redis that does not know the script is given the text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from redis.exceptions import NoScriptError

from fairimport.conf import settings
from fairimport.lanes.keys import Keys
from fairimport.lanes.values import MICRO

if TYPE_CHECKING:
    from redis import Redis
    from redis.client import Pipeline

__all__ = ["CLOCK_LINE", "Call", "Scripts"]

CLOCK_LINE = "local now = clock()"
SHARED = (
    "_prelude",
    "_stats",
    "_claims",
    "_window",
    "_tenants",
    "_charges",
    "_jobs",
    "_leases",
    "_lapses",
    "_running",
    "_reasons",
)

_MARGIN = re.compile(r"^(?=local )", re.MULTILINE)
_DEFINED = re.compile(r"local (?:function )?([\w, ]+)")
_WORD = re.compile(r"\w+")
_COMMENT = re.compile(r"--.*")


@dataclass(frozen=True, slots=True)
class Call:
    """One run of a script: its text, the text's SHA-1, and what goes in."""

    text: str
    sha: str
    keys: Sequence[str]
    args: Sequence[Any]

    def by_sha(self) -> tuple[Any, ...]:
        """As a command that is short, and fails on a Redis that forgot the script."""
        return ("EVALSHA", self.sha, len(self.keys), *self.keys, *self.args)

    def by_text(self) -> tuple[Any, ...]:
        """As a command that always works."""
        return ("EVAL", self.text, len(self.keys), *self.keys, *self.args)


@dataclass(frozen=True, slots=True)
class Scripts:
    """The scripts of one queue. `clock` replaces the line that asks Redis for the time."""

    keys: Keys
    clock: str = CLOCK_LINE

    def call(self, name: str, *args: Any) -> Call:
        """Prepare a run of `name`; the settings go before the arguments."""
        text, sha = _load(name, self.clock)
        return Call(text, sha, self.keys.for_scripts(), (_settings(), *args))

    def run(self, connection: Redis, name: str, *args: Any) -> Any:
        """Run one script: a round trip."""
        call = self.call(name, *args)
        try:
            return connection.execute_command(*call.by_sha())
        except NoScriptError:
            return connection.execute_command(*call.by_text())

    def run_all(self, connection: Redis, calls: Sequence[Call]) -> list[Any]:
        """Run several in their order, in one round trip; raises what the first of them raised."""
        replies = _send(connection, [call.by_sha() for call in calls])
        if any(isinstance(reply, NoScriptError) for reply in replies):
            replies = _send(connection, [call.by_text() for call in calls])
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies


def _send(connection: Redis, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
    pipeline: Pipeline = connection.pipeline(transaction=False)
    with pipeline:
        for command in commands:
            pipeline.execute_command(*command)
        return pipeline.execute(raise_on_error=False)


@cache
def _load(name: str, clock: str) -> tuple[str, str]:
    first, _, own = _source(name).partition("\n")
    lines = "\n".join([*_needed_by(own), own.replace(CLOCK_LINE, clock)]).splitlines()
    kept = [
        stripped for line in lines if (stripped := line.strip()) and not stripped.startswith("--")
    ]
    text = "\n".join([first, *kept])
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _needed_by(script: str) -> list[str]:
    """The shared definitions that a script uses, in their order.

    Lua makes every function anew in each run: those that a script does not use would cost a fifth
    of its time. A definition begins with `local` at the margin, and may use those before it.
    """
    used, needed = _words(script), []
    shared = "".join(_source(part) for part in SHARED)
    for definition in reversed(_MARGIN.split(shared)):
        names = _DEFINED.match(definition)
        if names and used & _words(names[1]):
            used |= _words(definition)
            needed.append(definition)
    return needed[::-1]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_COMMENT.sub("", text)))


@cache
def _source(name: str) -> str:
    return resources.files("fairimport.lanes").joinpath("lua", f"{name}.lua").read_text()


def _settings() -> str:
    now = settings
    by_turns = now.fairness == "turns"
    return _as_json(now.cap, now.weight, max(now.slice, 0.001), now.lease, now.max_lapses, by_turns)


@cache
def _as_json(
    cap: int, weight: float, turn: float, lease: float, max_lapses: int, by_turns: bool
) -> str:
    return json.dumps(
        {
            "cap": cap,
            "weight": weight,
            "guess": round(turn * MICRO),
            "term": round(lease * MICRO),
            "max_lapses": max_lapses,
            "turns": by_turns,
        }
    )
