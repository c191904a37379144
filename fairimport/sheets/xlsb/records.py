"""Records of xlsb parts (BIFF12): a type, a size, a body."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from struct import Struct
from typing import TypeAlias

from fairimport.errors import FileRefused

__all__ = ["Record", "records", "rk_number", "well_formed", "wide_string"]

Record: TypeAlias = tuple[int, bytes]

_LARGEST = 64 * 1024 * 1024
_U32 = Struct("<I")
_F64 = Struct("<d")


@contextmanager
def well_formed() -> Iterator[None]:
    """Make it `damaged_file` when a body is shorter than its type says."""
    try:
        yield
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise FileRefused("damaged_file", reason="record") from error


def records(chunks: Iterable[bytes]) -> Iterator[Record]:
    """Yield (type, body) of a part; a record that is cut off is `damaged_file`."""
    held = bytearray()
    for chunk in chunks:
        held += chunk
        at = 0
        while (found := _head(held, at)) is not None:
            kind, size, start = found
            if size > _LARGEST:
                raise FileRefused("damaged_file", reason="record")
            if start + size > len(held):
                break
            yield kind, bytes(held[start : start + size])
            at = start + size
        del held[:at]
    if held:
        raise FileRefused("damaged_file", reason="record")


def _head(held: bytearray, at: int) -> tuple[int, int, int] | None:
    """Return type, size and where the body starts; None when more bytes are needed."""
    end = len(held)
    if at >= end:
        return None
    kind = held[at]
    at += 1
    if kind & 0x80:
        if at >= end:
            return None
        kind = (kind & 0x7F) | (held[at] & 0x7F) << 7
        at += 1
    size = 0
    for shift in (0, 7, 14, 21):
        if at >= end:
            return None
        byte = held[at]
        at += 1
        size |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return kind, size, at


def wide_string(body: bytes, at: int) -> tuple[str, int]:
    """Return the string at an offset (empty when it is null) and the offset behind it."""
    (count,) = _U32.unpack_from(body, at)
    at += 4
    if count == 0xFFFFFFFF:
        return "", at
    end = at + 2 * count
    if end > len(body):
        raise FileRefused("damaged_file", reason="record")
    text = body[at:end].decode("utf-16-le", "surrogatepass")
    return text.replace("\r\n", "\n").replace("\r", "\n"), end


def rk_number(value: int) -> float:
    """Return the number that an RK value packs into 30 bits."""
    if value & 2:
        number = float((value >> 2) - (1 << 30 if value & 0x80000000 else 0))
    else:
        (number,) = _F64.unpack(b"\0\0\0\0" + _U32.pack(value & 0xFFFFFFFC))
    return number / 100 if value & 1 else number
