"""Reading long runs of usual XML elements by regular expression, everything else by expat.

Expat calls Python for each element, which is what reading a large sheet costs. Nearly all rows
are written in one of a few usual forms that one expression can match whole. Those are lifted out
of the stream while expat stands between two of them, in the container element; expat sees the
rest of the document and each element of another form. The result must be the same either way.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

from fairimport.sheets.safexml import Handler, SafeParser

__all__ = ["Lift", "LiftingParser", "Odd", "characters", "parse_lifting"]

Lift: TypeAlias = Callable[[str, int], tuple[int, bool]]
"""Looks at text from an offset: returns where the elements it knows end (the same offset: none),
and whether it took them; if not, expat gets them."""

_LONGEST_ITEM = 4 * 1024 * 1024
_DECLARED = re.compile(rb"<\?xml[^>]*encoding=[\"']([\w.-]+)[\"']")
_FORBIDDEN = bytes(set(range(32)) - set(b"\t\n\r"))
_TRIES = 200


class ContainerHandler(Handler, Protocol):
    """A handler that knows whether its container element is open."""

    in_container: bool


class Odd(Exception):
    """What matched the usual form is not usual inside; expat must judge it."""


class LiftingParser:
    """Streams a document of UTF-8 into the handler and, between items of the container, `lift`."""

    def __init__(self, handler: ContainerHandler, container: str, item: str, lift: Lift) -> None:
        self._handler = handler
        self._parser = SafeParser(handler)
        self._opening = re.compile(rf"<{container}(?:\s[^<>]*)?(?<!/)>")
        self._closing = f"</{container}"
        self._entered = False
        self._depth = 0
        self._item_end = f"</{item}>"
        self._lift = lift
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._held = ""
        self._lifting: bool | None = None
        self._missed = 0
        self._taken = 0

    def feed(self, chunk: bytes) -> None:
        """Parse the next piece of the document."""
        if self._lifting is None:
            self._lifting = _is_utf8(chunk)
        if self._lifting and (chunk.translate(None, _FORBIDDEN) != chunk or b"]]>" in chunk):
            self._give_up()
        if not self._lifting:
            self._parser.feed(chunk)
            return
        pending = self._decoder.getstate()[0]
        try:
            text = self._held + self._decoder.decode(chunk)
        except UnicodeDecodeError:
            self._decoder.reset()
            self._give_up()
            self._parser.feed(pending + chunk)
            return
        self._held = ""
        self._work(text)

    def close(self) -> None:
        """Assert that the document is complete."""
        self._give_up()
        self._parser.feed(b"", last=True)

    def _give_up(self) -> None:
        """Let expat have all that was held back, and everything from here on."""
        rest = self._held.encode() + self._decoder.getstate()[0]
        self._held = ""
        self._lifting = False
        self._parser.feed(rest)

    def _work(self, text: str) -> None:
        at = 0 if self._entered else self._enter(text)
        if not self._entered:
            return
        while at < len(text) and self._between_items():
            end, took = self._lift(text, at)
            if end > at:
                self._taken += 1
                if not took:
                    self._parser.feed(text[at:end])
            else:
                end = text.find(self._item_end, at) + len(self._item_end)
                if end < len(self._item_end):
                    break
                self._missed += 1
                self._parser.feed(text[at:end])
            at = end
        self._held = text[at:]
        rare = self._missed > _TRIES and self._missed > 2 * self._taken
        ended = not self._between_items() or self._closing in self._held
        if rare or ended or len(self._held) > _LONGEST_ITEM:
            self._give_up()

    def _enter(self, text: str) -> int:
        """Feed up to the container's start tag; return the offset behind it."""
        found = self._opening.search(text)
        if found is not None:
            self._parser.feed(text[: found.end()])
            self._entered = True
            self._depth = self._parser.depth
            return found.end()
        cut = text.rfind("<")
        cut = len(text) if cut < 0 or ">" in text[cut:] else cut
        self._held = text[cut:]
        self._parser.feed(text[:cut])
        if self._handler.in_container or len(self._held) > _LONGEST_ITEM:
            self._give_up()
        return 0

    def _between_items(self) -> bool:
        """Tell whether expat stands where an item may begin: all that it got was complete."""
        return self._handler.in_container and self._parser.depth == self._depth


def _is_utf8(start: bytes) -> bool:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in start[:4]:
        return False
    declared = _DECLARED.match(start.removeprefix(codecs.BOM_UTF8)[:4096])
    return declared is None or declared[1].lower() in (b"utf-8", b"utf8")


_REFERENCE = re.compile(r"&(?:#(\d{1,7})|#x([0-9A-Fa-f]{1,6})|(\w+));|&")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def characters(text: str) -> str:
    """Resolve references in text that was lifted; `Odd` when expat would not know one."""
    return _REFERENCE.sub(_resolved, text) if "&" in text else text


def _resolved(found: re.Match[str]) -> str:
    decimal, hexadecimal, name = found.groups()
    if name in _NAMED:
        return _NAMED[name]
    if not decimal and not hexadecimal:
        raise Odd
    code = int(decimal) if decimal else int(hexadecimal, 16)
    if code < 32 and code not in (9, 10, 13):
        raise Odd
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF or code in (0xFFFE, 0xFFFF):
        raise Odd
    return chr(code)


def parse_lifting(chunks: Iterable[bytes], parser: LiftingParser) -> None:
    """Stream a whole document."""
    for chunk in chunks:
        parser.feed(chunk)
    parser.close()
