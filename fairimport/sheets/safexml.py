"""XML that nobody trusts: streamed through expat, without DOCTYPE, entities or deep nesting."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol
from xml.parsers import expat  # hardened below: every declaration is refused before it acts

from fairimport.errors import FileRefused

__all__ = ["Handler", "SafeParser", "parse"]

_DEEPEST = 200


class Handler(Protocol):
    """Receives elements by local name (prefixes and namespaces are dropped)."""

    def start(self, name: str, attrs: dict[str, str]) -> None:
        """An element begins. Attribute names are local too; those of LibreOffice's extension of
        the same names keep their prefix `calcext:`."""

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self, data: str) -> None:
        """Characters inside the element that was started last."""


class SafeParser:
    """An expat parser that refuses what a workbook never needs.

    A DOCTYPE is `unsafe_xml`; anything that is not well-formed is `damaged_file`.
    """

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._depth = 0
        self._names: dict[str, str] = {}
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.buffer_size = 64 * 1024
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = handler.text
        parser.StartDoctypeDeclHandler = _refuse
        parser.EntityDeclHandler = _refuse
        parser.ExternalEntityRefHandler = _refuse
        self._parser = parser

    @property
    def depth(self) -> int:
        """How many elements are open."""
        return self._depth

    def feed(self, data: bytes | str, *, last: bool = False) -> None:
        """Parse the next piece; `last` asserts that the document is complete."""
        try:
            self._parser.Parse(data, last)
        except (expat.ExpatError, LookupError, ValueError) as error:  # also unknown encodings
            raise FileRefused("damaged_file", reason="xml", detail=str(error)) from error

    def _local(self, name: str) -> str:
        local = self._names.get(name)
        if local is None:
            space, _, local = name.rpartition(" ")
            if space.endswith("calcext:1.0"):
                local = f"calcext:{local}"
            self._names[name] = local
        return local

    def _start(self, name: str, attrs: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise FileRefused("unsafe_xml", reason="depth")
        local = self._local
        self._handler.start(local(name), {local(key): value for key, value in attrs.items()})

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._handler.end(self._local(name))


def _refuse(*_: object) -> int:
    raise FileRefused("unsafe_xml", reason="doctype")


def parse(chunks: Iterable[bytes], handler: Handler) -> None:
    """Stream a whole document into the handler."""
    parser = SafeParser(handler)
    for chunk in chunks:
        parser.feed(chunk)
    parser.feed(b"", last=True)
