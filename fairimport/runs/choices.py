"""What a customer may choose about a file, as it is written on a command line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

__all__ = ["parse_choices"]

_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_FLAGS = ("fill_merged", "skip_hidden")
_ONE_OF = {"date_order": ("DMY", "MDY", "YMD"), "decimal": (".", ",")}
_NAMES = (*_FLAGS, *_ONE_OF, "sheet", "timezone", "encoding", "delimiter", "header_row")


def parse_choices(pairs: Iterable[str]) -> dict[str, Any]:
    """Options from `name=value` words; raises `ValueError` in words that say what is wrong."""
    return dict(_parsed(pair) for pair in pairs)


def _parsed(pair: str) -> tuple[str, Any]:
    name, equals, value = pair.partition("=")
    if not equals or name not in _NAMES:
        raise ValueError(f"{pair!r} is not NAME=VALUE; names are {', '.join(_NAMES)}")
    if name in _FLAGS:
        return name, _flag(name, value)
    if name in _ONE_OF and value not in _ONE_OF[name]:
        raise ValueError(f"{name} is one of {' '.join(_ONE_OF[name])}")
    if name == "header_row":
        return name, _row(value)
    if name == "timezone":
        return name, _zone(value)
    return name, value


def _flag(name: str, value: str) -> bool:
    try:
        return _WORDS[value.casefold()]
    except KeyError:
        raise ValueError(f"{name} is true or false") from None


def _row(value: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,6}", value):
        raise ValueError("header_row is a row's number")
    return int(value)


def _zone(value: str) -> str:
    try:
        return ZoneInfo(value).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"there is no time zone {value!r}") from None
