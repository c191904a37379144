"""Text in workbook XML: shared strings, inline strings, escapes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fairimport.errors import FileRefused
from fairimport.sheets.lifting import LiftingParser, Odd, characters, parse_lifting
from fairimport.sheets.limits import Limits

__all__ = ["RichText", "read_strings", "unescaped"]

_SPECIAL = re.compile("[&\r]|_x").search
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")


def unescaped(text: str) -> str:
    """Resolve `_x000D_` escapes (pairs of surrogates too) and make all line ends `\\n`."""
    if "_x" in text:
        text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


class RichText:
    """Collects the text of an `si` or `is` element: all runs, but no phonetic guides."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._in_text = False
        self._phonetic = 0

    def start(self, name: str) -> None:
        """Note an element inside the string."""
        if name == "rPh":
            self._phonetic += 1
        elif name == "t" and not self._phonetic:
            self._in_text = True

    def end(self, name: str) -> None:
        """Note the end of an element inside the string."""
        if name == "rPh":
            self._phonetic -= 1
        elif name == "t":
            self._in_text = False

    def text(self, data: str) -> None:
        """Keep characters that belong to the text itself."""
        if self._in_text:
            self._parts.append(data)

    def take(self) -> str:
        """Return the whole text and begin the next."""
        text = unescaped("".join(self._parts))
        self._parts.clear()
        self._in_text = False
        return text


class _SharedStrings:
    def __init__(self, limits: Limits) -> None:
        self.in_container = False
        self.strings: list[str] = []
        self._rich = RichText()
        self._longest = limits.max_field_chars
        self._length = 0

    def start(self, name: str, attrs: dict[str, str]) -> None:
        if name == "si":
            self._length = 0
        elif name == "sst":
            self.in_container = True
        self._rich.start(name)

    def end(self, name: str) -> None:
        self._rich.end(name)
        if name == "si":
            self.strings.append(self._rich.take())
        elif name == "sst":
            self.in_container = False

    def text(self, data: str) -> None:
        self._length += len(data)
        if self._length <= self._longest + len(data):
            self._rich.text(data)

    def lift(self, text: str, at: int) -> tuple[int, bool]:
        """Take a run of strings without runs or phonetic guides; see `lifting.Lift`."""
        run = _MANY.match(text, at)
        if run is None:
            return at, False
        found = _ONE.findall(run[0])
        try:
            self.strings.extend([unescaped(characters(t)) if _SPECIAL(t) else t for t in found])
        except Odd:
            return run.end(), False
        return run.end(), True


_START, _END = r'\s*<si><t(?: xml:space="preserve")?>', "</t></si>"
_ONE = re.compile(rf"{_START}([^<]*){_END}")
_MANY = re.compile(rf"(?:{_START}[^<]*{_END})+")


def read_strings(chunks: Iterable[bytes], limits: Limits) -> list[str]:
    """Return the table of shared strings; what is far over the longest cell is cut off."""
    handler = _SharedStrings(limits)
    parse_lifting(chunks, LiftingParser(handler, "sst", "si", handler.lift))
    return handler.strings


def shared(strings: list[str], index: str) -> str:
    """Return a shared string; `damaged_file` when the table has no such entry."""
    number = int(index) if index.isdecimal() and len(index) < 10 else len(strings)
    if number < len(strings):
        return strings[number]
    raise FileRefused("damaged_file", reason="shared_string", index=index[:20])
