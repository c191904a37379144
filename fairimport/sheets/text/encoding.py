"""In which encoding a text file is: told by its first bytes, proved, guessed, or to be asked."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fairimport.errors import FileRefused
from fairimport.sheets.limits import MIB

__all__ = ["MARKED", "Encoding", "detect", "known_codec"]

MARKED = "fairimport.marked"
"""Error handler: a byte that is no character becomes a lone surrogate (U+DC80 to U+DCFF)."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _mark(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(chr(0xDC00 + b) if b >= 0x80 else "\ufffd" for b in wrong), error.end


codecs.register_error(MARKED, _mark)

_SAMPLE = 64 * 1024
_CONTEXT = 1024
"""Bytes before the first that is not UTF-8 that are looked at, too."""
_JUDGED = 4 * MIB
_OFFERED = ("cp1252", "cp1250", "cp1251", "gb18030", "cp932", "big5", "cp949", "iso8859-15")
_ALLOWED = re.compile(
    r"utf-(?:8|16|32)(?:-sig|-le|-be)?|cp\d+|iso8859-\d+|latin-?\d|shift_jis\w*|euc_\w+"
    r"|gb\w+|big5\w*|koi8-\w|mac-\w+|ascii|johab|hz|iso2022_\w+|tis-620|kz1048|ptcp154"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How to decode the file: by `codec`; `guessed` when the customer should be told,
    `ask` when only the customer can know. `choices` fit best first; `bad_line` is the first
    line that is not UTF-8."""

    codec: str
    guessed: bool = False
    ask: bool = False
    choices: tuple[str, ...] = ()
    bad_line: int | None = None


def known_codec(name: str) -> str | None:
    """Return Python's name of a text encoding that may be chosen, or None."""
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    return found if _ALLOWED.fullmatch(found) else None


def detect(path: Path, chosen: str | None) -> Encoding:
    """Find the encoding; `binary_content` when the bytes are no text at all."""
    with path.open("rb") as file:
        start = file.read(_SAMPLE)
    if chosen and (codec := known_codec(chosen)):
        return Encoding(codec=_with_mark(codec, start))
    for mark, codec in _BOMS:
        if start.startswith(mark):
            return Encoding(codec=codec)
    if wide := _utf16(start):
        return Encoding(codec=wide, guessed=True)
    _refuse_binary(start)
    bad = _first_bad_byte(path)
    return Encoding(codec="utf-8") if bad is None else _other(path, bad)


def _with_mark(codec: str, start: bytes) -> str:
    """Let a byte order mark be skipped when the choice agrees with it."""
    if codec == "utf-8" and start.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    for mark, marked in _BOMS[1:]:
        if start.startswith(mark) and codec.startswith(marked):
            return marked
    return codec


def _utf16(start: bytes) -> str:
    """Tell UTF-16 without a mark by its zero bytes, nearly all on one side of the pairs."""
    pairs = len(start) // 2
    if pairs < 2:
        return ""
    high, low = start[0::2].count(0), start[1::2].count(0)
    if low > 0.3 * pairs and high < 0.05 * pairs:
        return "utf-16-le"
    if high > 0.3 * pairs and low < 0.05 * pairs:
        return "utf-16-be"
    return ""


_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\x0b\x0c\x1a\x1b")) + b"\x7f"


def _refuse_binary(start: bytes) -> None:
    """A stray control byte is a row's fault; many make the file no text."""
    zeros = start.count(0)
    controls = len(start) - len(start.translate(None, _CONTROLS))
    if (zeros > 8 and zeros > len(start) // 100) or controls > 8 + len(start) // 20:
        raise FileRefused("binary_content")
    if controls and controls * 3 > len(start):
        raise FileRefused("binary_content")


def _first_bad_byte(path: Path) -> int | None:
    """Return the offset of the first byte that is not UTF-8; None when all is."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset = 0
    with path.open("rb") as file:
        while True:
            chunk = file.read(MIB)
            held = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return offset - held + error.start
            if not chunk:
                return None
            offset += len(chunk)


def _other(path: Path, bad: int) -> Encoding:
    """Guess at an older encoding around the first byte that is not UTF-8."""
    with path.open("rb") as file:
        before = _count_lines(file, bad)
        file.seek(max(bad - _CONTEXT, 0))
        around = file.read(_JUDGED)
    # Whole lines only, so that no character is cut in half.
    around = around[around.find(b"\n") + 1 if bad > _CONTEXT else 0 :]
    western = _looks_western(around)
    choices = _choices(around, western=western)
    return Encoding(
        codec="cp1252" if western else choices[0],
        guessed=western,
        ask=not western,
        choices=choices,
        bad_line=before,
    )


def _count_lines(file: IO[bytes], end: int) -> int:
    """Return the number of the line in which the byte at this offset stands."""
    lines, last = 1, b""
    while end > 0 and (chunk := file.read(min(end, MIB))):
        end -= len(chunk)
        lines += chunk.count(b"\n") + chunk.count(b"\r") - chunk.count(b"\r\n")
        lines -= last == b"\r" and chunk[:1] == b"\n"
        last = chunk[-1:]
    return lines


_LETTERS = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0152\u0153"
_WESTERN = re.compile(
    # a letter of a Western language that belongs to a word of letters, most of them ASCII
    rf"(?<=[A-Za-z])[{_LETTERS}]{{1,2}}(?=[A-Za-z]|\b|$)|\b[{_LETTERS}]{{1,2}}(?=[A-Za-z])"
    r"|\b[\u00e0\u00e9\u00e8\u00c0\u00c9\u00f3\u00fa](?=\b)"
    # quotes that stand where quotes stand; in older encodings these bytes are letters
    r"|\u2019|[\u2018\u201a\u201c\u201e](?=[\w\d])(?<![A-Za-z].)|[\u201c\u201d](?!\w)"
    # dashes, currency, degrees and other marks of everyday text
    r"|[\u20ac\u2013\u2014\u2026\u2022\u2122\u00a0\u00a3"
    r"\u00a5\u00a7\u00a9\u00ab\u00bb\u00ae\u00b0\u00b1\u00b2\u00b3\u00b4\u00b5\u00b7\u00ba\u00aa"
    r"\u00bc\u00bd\u00be\u00bf\u00a1\u00d7\u00f7]"
)
_HIGH = re.compile(r"[\u0080-\uffff]")
_PLAUSIBLE = 0.95


def _looks_western(sample: bytes) -> bool:
    """Tell whether every high byte is at home in Western text as Windows writes it."""
    if _valid_multibyte(sample):
        return False
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError:
        return False
    high = len(_HIGH.findall(text))
    at_home = sum(len(_HIGH.findall(found)) for found in _WESTERN.findall(text))
    return high > 0 and at_home >= _PLAUSIBLE * high


def _valid_multibyte(sample: bytes) -> bool:
    """Tell whether there is real UTF-8 between the bytes that are not: a mixed file."""
    return bool(
        re.search(rb"[\xc3-\xdf][\x80-\xbf](?![\x80-\xbf])|[\xe1-\xef][\x80-\xbf]{2}", sample)
    )


def _choices(sample: bytes, *, western: bool) -> tuple[str, ...]:
    """Return encodings that can decode the sample, the likeliest first."""
    from charset_normalizer import from_bytes  # slow to import, and needed for few files

    guesses = (known_codec(match.encoding) for match in from_bytes(sample[:_SAMPLE]))
    wider = {"gbk": "gb18030", "gb2312": "gb18030", "shift_jis": "cp932"}
    likely = [wider.get(codec, codec) for codec in guesses if codec and codec != "utf-8"]
    if western:
        likely.insert(0, "cp1252")
    fitting = [codec for codec in _OFFERED if _decodes(sample, codec)]
    return tuple(dict.fromkeys([*likely[:4], *fitting])) or ("cp1252",)


def _decodes(sample: bytes, codec: str) -> bool:
    try:
        codecs.getincrementaldecoder(codec)().decode(sample)
    except UnicodeDecodeError:
        return False
    return True
