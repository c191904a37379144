"""Files made wrong: bytes changed anywhere, or within one part of a package that stays whole."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable

__all__ = ["Mutator"]

TOKENS = [
    *(b"\0", b"\xff", b"\xfe\xff", b"\r", b"\n", b"\r\r\n", b'"', b'""', b",", b";", b"\t", b"|"),
    *(b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\x1a", b"sep=,\n"),
    *(b"<!DOCTYPE x>", b'<!ENTITY a "b">', b"&a;", b"&#0;", b"&#x110000;", b"<![CDATA[", b"]]>"),
    *(b"<!--", b"-->", b"<?xml version='1.0' encoding='utf-16'?>", b"</row>", b"<row>", b"<c>"),
    *(b"</sheetData>", b"<sheetData>", b"<sheetData/>", b'<row r="1048577">', b'<row r="0">'),
    *(
        b'r="XFD1048576"',
        b'r="A0"',
        b'r="AAAAAAAA1"',
        b't="s"',
        b't="e"',
        b't="d"',
        b't="inlineStr"',
    ),
    *(b's="99999999999"', b"<v>1e999</v>", b"<v>-1</v>", b"<v>99999999999999999999</v>", b"<v/>"),
    *(b"<f>1</f>", b'hidden="1"', b'<mergeCell ref="A1:XFD1048576"/>', b'<mergeCell ref="B:A"/>'),
    *(b'<col min="0" max="99999999999" hidden="1"/>', b"_x0000_", b"_xD800_", b"_xFFFF_"),
    *(b'table:number-rows-repeated="99999999999"', b'table:number-columns-repeated="-5"'),
    *(b"PT99999999999999H", b"9999-99-99", b"12/31/9999", b"31.12.0000", b"1.234,56", b"Infinity"),
    *(b"date1904='1'", b'activeTab="4294967295"', b'state="hidden"', b"\x80\x81\x82", b"\x8f\xfa"),
]
NUMBERS = [b"0", b"1", b"-1", b"255", b"65536", b"2147483648", b"4294967295", b"1e308", b"NaN", b""]

Change = Callable[[random.Random, bytearray], None]


def _place(chance: random.Random, data: bytearray) -> int:
    return chance.randrange(len(data) + 1)


def _flip(chance: random.Random, data: bytearray) -> None:
    for _ in range(chance.choice((1, 1, 2, 8))):
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _overwrite(chance: random.Random, data: bytearray) -> None:
    at = _place(chance, data)
    size = chance.choice((1, 2, 4, 16))
    data[at : at + size] = bytes(
        chance.choice((0, 0xFF, chance.randrange(256))) for _ in range(size)
    )


def _insert(chance: random.Random, data: bytearray) -> None:
    at = _place(chance, data)
    data[at:at] = chance.choice(TOKENS) * chance.choice((1, 1, 1, 2, 50))


def _delete(chance: random.Random, data: bytearray) -> None:
    at = _place(chance, data)
    del data[at : at + chance.choice((1, 2, 10, 100, 1000))]


def _repeat(chance: random.Random, data: bytearray) -> None:
    at = _place(chance, data)
    piece = bytes(data[at : at + chance.choice((1, 10, 100, 1000))])
    to = _place(chance, data)
    data[to:to] = piece * chance.choice((1, 2, 30))


def _cut_off(chance: random.Random, data: bytearray) -> None:
    del data[_place(chance, data) :]


def _number(chance: random.Random, data: bytearray) -> None:
    """Change one of the numbers that are written out."""
    places = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    if places:
        at = chance.choice(places)
        end = at
        while end < len(data) and 48 <= data[end] <= 57:
            end += 1
        data[at:end] = chance.choice(NUMBERS)


def _swap_tags(chance: random.Random, data: bytearray) -> None:
    """Drop, double or close an element too early."""
    start = data.find(b"<", _place(chance, data))
    end = data.find(b">", start)
    if 0 <= start < end:
        tag = bytes(data[start : end + 1])
        data[start : end + 1] = chance.choice((b"", tag * 2, tag[:-1] + b"/>", tag[:-1]))


CHANGES: list[Change] = [
    *(_flip, _overwrite, _insert, _insert, _delete, _repeat, _cut_off),
    *(_number, _number, _swap_tags, _swap_tags),
]


class Mutator:
    """Makes wrong files out of right ones; the same seed makes the same files."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._names = sorted(files)
        self._files = files

    def file(self, seed: int) -> tuple[str, bytes]:
        """Return a name and the wrong content of the file that the seed means."""
        chance = random.Random(seed)
        name = chance.choice(self._names)
        content = self._files[name]
        if content.startswith(b"PK") and chance.random() < 0.75:
            return name, self._inside(chance, content)
        data = bytearray(content)
        if chance.random() < 0.05:
            other = self._files[chance.choice(self._names)]
            data[_place(chance, data) :] = other[_place(chance, bytearray(other)) :]
        self._change(chance, data)
        return name, bytes(data)

    def _change(self, chance: random.Random, data: bytearray) -> None:
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            chance.choice(CHANGES)(chance, data)

    def _inside(self, chance: random.Random, content: bytes) -> bytes:
        """Change one part, and pack all of them again."""
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as source:
                parts = {name: source.read(name) for name in source.namelist()}
        except (zipfile.BadZipFile, RuntimeError, EOFError):
            return content
        likely = [n for n in parts if "sheet" in n.lower() or "workbook" in n or n == "content.xml"]
        chosen = chance.choice(likely if likely and chance.random() < 0.8 else sorted(parts))
        part = bytearray(parts[chosen])
        self._change(chance, part)
        parts[chosen] = bytes(part)
        if chance.random() < 0.03:
            del parts[chosen]
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as package:
            for name, data in parts.items():
                package.writestr(name, data)
        return target.getvalue()
