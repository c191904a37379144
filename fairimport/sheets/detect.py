"""What a file is, by its content; its name only tells whether the content was expected."""

from __future__ import annotations

import codecs
import re
from pathlib import Path, PurePath

from fairimport.errors import FileRefused
from fairimport.sheets.archive import Archive

__all__ = ["expected_names", "is_blank_text", "kind_of_file", "kind_of_zip"]

_START = 8192
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_OLD_EXCEL = (b"\x09\x08\x10\x00", b"\x09\x08\x08\x00", b"\x09\x04\x06\x00", b"\x09\x02\x06\x00")
_OLDEST_EXCEL = b"\x09\x00\x04\x00"
_FOREIGN = {
    b"%PDF": "pdf",
    b"\x89PNG": "png",
    b"\xff\xd8\xff": "jpeg",
    b"GIF8": "gif",
    b"{\\rtf": "rtf",
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"7z\xbc\xaf": "7z",
    b"Rar!": "rar",
    b"RIFF": "riff",
    b"OggS": "ogg",
    b"ID3": "mp3",
    b"\x7fELF": "program",
    b"MZ\x90": "program",
    b"SQLite format 3": "sqlite",
    b"II*\x00": "tiff",
    b"MM\x00*": "tiff",
}
_OTHER_TABLES = {b"PAR1": "parquet", b"ARROW1": "arrow"}
_SYLK = re.compile(rb"ID;P(?:WXL|SCALC|CALC|Gnumeric)")
_TEXTUAL = (b"%PDF", b"{\\rtf")
"""Beginnings that are text by themselves; any other is one only where bytes follow that are not."""
_HTML = re.compile(
    rb"(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|table|meta|div|style"
    rb"|script|title|center|p|br)\b",
    re.IGNORECASE | re.DOTALL,
)
_MHTML = re.compile(rb"(?:MIME-Version:|Content-Type:\s*multipart/related)", re.IGNORECASE)
_XML = re.compile(rb"<\?xml|<(?:\w+:)?Workbook\b|<[\w:]+ xmlns")


def kind_of_file(path: Path) -> str:
    """Return `zip`, `xls` or `text`; refuse by name what is neither."""
    with path.open("rb") as file:
        start = file.read(_START)
    if not start:
        raise FileRefused("empty_file")
    if start.startswith(b"PK"):
        return _zip(start, path)
    if start.startswith(_OLE):
        return _ole(path)
    if start.startswith((*_OLD_EXCEL, _OLDEST_EXCEL)):
        return "xls"
    _refuse_foreign(start)
    _refuse_markup(start)
    return "text"


def _refuse_foreign(start: bytes) -> None:
    """Name formats by their first bytes; a header such as `ID3` or `PAR1` is none."""
    if _SYLK.match(start):
        raise FileRefused("unsupported_format", content="sylk")
    if start.startswith(_TEXTUAL) or _CONTROL.search(start[:64]):
        for magic, name in _FOREIGN.items():
            if start.startswith(magic):
                raise FileRefused("not_a_spreadsheet", content=name)
        for magic, name in _OTHER_TABLES.items():
            if start.startswith(magic):
                raise FileRefused("unsupported_format", content=name)


_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f-\xff]")


def _zip(start: bytes, path: Path) -> str:
    if start.startswith(b"PK\x05\x06"):
        raise FileRefused("not_a_spreadsheet", content="zip")
    if start.startswith((b"PK\x03\x04", b"PK\x07\x08", b"PK00")):
        return "zip"
    return "text"


def _refuse_markup(start: bytes) -> None:
    """Web pages and other XML are no tables, whatever they are called."""
    text = _narrow(start).removeprefix(codecs.BOM_UTF8).lstrip()
    if _HTML.match(text) or _MHTML.match(text):
        raise FileRefused("web_page_not_spreadsheet")
    if text.startswith((b'{"', b'[{"', b"[{")):
        shortcut = b"docs.google.com" in text
        code = "unsupported_format" if shortcut else "not_a_spreadsheet"
        raise FileRefused(code, content="gsheet" if shortcut else "json")
    if _XML.match(text):
        if b"urn:schemas-microsoft-com:office:spreadsheet" in text:
            raise FileRefused("unsupported_format", content="xml")
        raise FileRefused("not_a_spreadsheet", content="xml")


def _narrow(start: bytes) -> bytes:
    """Return UTF-16 as if it were ASCII, so that one set of patterns serves both."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return start[2:].replace(b"\0", b"")
    return start


_ENTRY = 128


def _ole(path: Path) -> str:
    """Look at the names in the directory of an OLE container."""
    content = path.read_bytes()
    sector_size = 1 << min(int.from_bytes(content[30:32], "little"), 12)
    directory = sector_size * (int.from_bytes(content[48:52], "little") + 1)
    if directory + _ENTRY > len(content):
        raise FileRefused("damaged_file", reason="cut_off")
    names = set()
    for at in range(512, len(content) - _ENTRY + 1, _ENTRY):
        entry = content[at : at + _ENTRY]
        size = int.from_bytes(entry[64:66], "little")
        if entry[66] in (1, 2, 5) and 2 < size <= 64 and size % 2 == 0 and not entry[65]:
            names.add(entry[: size - 2].decode("utf-16-le", "replace"))
    if names & {"EncryptedPackage", "EncryptionInfo"}:
        raise FileRefused("password_protected")
    if names & {"Workbook", "Book", "WORKBOOK", "BOOK"}:
        return "xls"
    if names & {"WordDocument", "PowerPoint Document"}:
        raise FileRefused("not_a_spreadsheet", content="office")
    raise FileRefused("damaged_file" if not names else "not_a_spreadsheet", content="ole")


def kind_of_zip(archive: Archive, main: str) -> str:
    """Return `xlsx`, `xlsb` or `ods` for a zip whose workbook part is `main` (or empty)."""
    if main:
        return "xlsb" if main.endswith(".bin") else "xlsx"
    if "mimetype" in archive and "content.xml" in archive:
        mime = archive.read("mimetype", 4096)
        if b"opendocument.spreadsheet" in mime:
            return "ods"
        raise FileRefused("not_a_spreadsheet", content=mime[:60].decode("ascii", "replace"))
    names = archive.names()
    if any(name.startswith("index/") and name.endswith(".iwa") for name in names):
        raise FileRefused("unsupported_format", content="numbers")
    if "index.zip" in archive:
        raise FileRefused("unsupported_format", content="numbers")
    if any(name.startswith("xl/worksheets/") for name in names):
        raise FileRefused("damaged_file", reason="part_missing", part="xl/workbook.xml")
    raise FileRefused("not_a_spreadsheet", content="zip")


def is_blank_text(path: Path) -> bool:
    """Tell whether a file holds nothing but blanks (and perhaps a byte order mark)."""
    with path.open("rb") as file:
        blanks = b" \t\r\n\xef\xbb\xbf"
        if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            blanks = b" \t\r\n\0"
        else:
            file.seek(0)
        while chunk := file.read(_START):
            if chunk.strip(blanks):
                return False
    return True


_NAMES = {
    "xlsx": {".xlsx", ".xlsm", ".xltx", ".xltm"},
    "xls": {".xls", ".xlt", ".xla"},
    "xlsb": {".xlsb"},
    "ods": {".ods", ".ots"},
    "csv": {".csv", ".tsv", ".txt", ".tab", ".text", ".dat", ".prn", ""},
}


def expected_names(kind: str, filename: str) -> bool:
    """Tell whether a file of this format may bear this name."""
    ending = PurePath(filename).suffix.casefold()
    return ending in _NAMES.get(kind, _NAMES["csv"])
