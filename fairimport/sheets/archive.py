"""Zip files that nobody trusts: checked by their directory first, counted while unpacking."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from fairimport.errors import FileRefused
from fairimport.sheets.limits import MIB, Limits

__all__ = ["Archive"]

_MOST_MEMBERS = 10_000
_CHUNK = 256 * 1024
_ENCRYPTED = 0x1
_RATIO_FROM = 10 * MIB


class Archive:
    """The parts of a zip file by their normalised names; unpacks at most what the limits allow."""

    def __init__(self, path: Path, limits: Limits) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise FileRefused("damaged_file", reason="zip") from error
        self._limits = limits
        self._open: list[IO[bytes]] = []
        self._unpacked: dict[str, int] = {}
        self._parts: dict[str, zipfile.ZipInfo] = {}
        try:
            self._scan()
        except FileRefused:
            self.close()
            raise

    def close(self) -> None:
        """Close the file and the parts that nobody read to their ends."""
        for part in self._open:
            part.close()
        self._zip.close()

    def _scan(self) -> None:
        """Judge the directory without unpacking anything."""
        members = self._zip.infolist()
        if len(members) > _MOST_MEMBERS:
            raise FileRefused("unpacks_too_large", parts=len(members), limit=_MOST_MEMBERS)
        unpacked = sum(m.file_size for m in members)
        packed = sum(m.compress_size for m in members)
        self._judge_size(unpacked, packed)
        _refuse_overlaps(members)
        for member in members:
            name = member.filename.replace("\\", "/").lstrip("/").casefold()
            if ".." in name.split("/") or name in self._parts:
                raise FileRefused("damaged_file", reason="names")
            if member.flag_bits & _ENCRYPTED:
                raise FileRefused("password_protected")
            self._parts[name] = member

    def _judge_size(self, unpacked: int, packed: int) -> None:
        limit = self._limits.max_unpacked_mib
        ratio = unpacked / max(packed, 1)
        too_dense = unpacked > _RATIO_FROM and ratio > self._limits.max_unpack_ratio
        if unpacked > limit * MIB or too_dense:
            raise FileRefused("unpacks_too_large", mib=unpacked // MIB, limit=limit)

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._parts

    def names(self) -> list[str]:
        """Return the names of all parts, in lower case, with forward slashes."""
        return list(self._parts)

    def size(self, name: str) -> int:
        """Return the size that the directory claims for a part, in bytes."""
        return self._parts[name.casefold()].file_size

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield a part's content in pieces; `damaged_file` when it is missing or broken."""
        member = self._parts.get(name.casefold())
        if member is None:
            raise FileRefused("damaged_file", reason="part_missing", part=name)
        try:
            with self._zip.open(member) as part:
                self._open.append(part)
                unpacked = 0
                while chunk := part.read(_CHUNK):
                    unpacked += len(chunk)
                    self._count(member.filename, unpacked)
                    yield chunk
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
            raise FileRefused("damaged_file", reason="part_broken", part=name) from error

    def _count(self, name: str, unpacked: int) -> None:
        """Count the bytes of all parts; a part that is read again counts once."""
        self._unpacked[name] = max(unpacked, self._unpacked.get(name, 0))
        limit = self._limits.max_unpacked_mib
        if sum(self._unpacked.values()) > limit * MIB:
            raise FileRefused("unpacks_too_large", mib=limit + 1, limit=limit)

    def read(self, name: str, most: int = 64 * MIB) -> bytes:
        """Return a small part whole; `unpacks_too_large` when it is not small."""
        content = bytearray()
        for chunk in self.chunks(name):
            content += chunk
            if len(content) > most:
                raise FileRefused("unpacks_too_large", mib=len(content) // MIB, limit=most // MIB)
        return bytes(content)


def _refuse_overlaps(members: list[zipfile.ZipInfo]) -> None:
    """Members that share bytes are how a small file unpacks to anything (CVE-2024-0450)."""
    end = 0
    for member in sorted(members, key=lambda m: m.header_offset):
        if member.header_offset < end:
            raise FileRefused("damaged_file", reason="overlap")
        end = member.header_offset + member.compress_size
