"""Small workbooks made part by part, so that a test says exactly what is in its file."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from fairimport.sheets import ReadOptions, SheetRow, Survey, rows
from fairimport.sheets.cells import letter
from fairimport.sheets.limits import Limits
from fairimport.sheets.reading import survey_file

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEADER = ("Code", "Name", "Qty")


def survey(
    path: Path, name: str | None = None, limits: Limits | None = None, **options: Any
) -> tuple[Survey, list[SheetRow]]:
    """Read a file in this process: what was found out, and its rows."""
    spool = path.with_name(path.name + ".spool")
    options.setdefault("headers", HEADER)
    with spool.open("wb") as target:
        found = survey_file(
            path, name or path.name, ReadOptions(**options), limits or Limits(), target
        )
    return found, [row for _, row in rows(spool)]


def cells(path: Path, **options: Any) -> list[tuple[Any, ...]]:
    """The cells of all rows below the header."""
    return [row.cells for row in survey(path, **options)[1]]


def cell_xml(reference: str, value: Any) -> str:
    """One cell of a worksheet part."""
    match value:
        case None:
            return ""
        case bool():
            return f'<c r="{reference}" t="b"><v>{int(value)}</v></c>'
        case int() | float():
            return f'<c r="{reference}"><v>{value}</v></c>'
        case str() if value.startswith("<"):
            return value.replace("<c", f'<c r="{reference}"', 1)
    text = f'<t xml:space="preserve">{escape(str(value))}</t>'
    return f'<c r="{reference}" t="inlineStr"><is>{text}</is></c>'


def rows_xml(table: Iterable[Sequence[Any]], first: int = 1) -> str:
    """Rows of a worksheet part; a text that begins with `<c` is a cell in XML."""
    return "".join(
        f'<row r="{number}">'
        + "".join(cell_xml(f"{letter(i)}{number}", value) for i, value in enumerate(line, 1))
        + "</row>"
        for number, line in enumerate(table, first)
    )


def sheet_xml(inside: str, *, before: str = "", after: str = "") -> str:
    """A worksheet part around rows."""
    return f'<worksheet xmlns="{MAIN}">{before}<sheetData>{inside}</sheetData>{after}</worksheet>'


def strings_xml(strings: Iterable[str]) -> str:
    """A shared strings part; a text that begins with `<` is an item in XML."""
    items = (s if s.startswith("<") else f"<si><t>{escape(s)}</t></si>" for s in strings)
    return f'<sst xmlns="{MAIN}">{"".join(items)}</sst>'


def styles_xml(formats: Sequence[str | int]) -> str:
    """A styles part: style 0 is General, then one for each format code or built-in number."""
    codes = [(164 + i, f) for i, f in enumerate(formats) if isinstance(f, str)]
    numbers = [164 + i if isinstance(f, str) else f for i, f in enumerate(formats)]
    return (
        f'<styleSheet xmlns="{MAIN}"><numFmts>'
        + "".join(
            f'<numFmt numFmtId="{number}" formatCode="{escape(code, {chr(34): "&quot;"})}"/>'
            for number, code in codes
        )
        + '</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>'
        + "".join(f'<xf numFmtId="{number}"/>' for number in numbers)
        + "</cellXfs></styleSheet>"
    )


def xlsx(
    path: Path,
    sheets: Mapping[str, str] | str,
    *,
    strings: Iterable[str] | None = None,
    formats: Sequence[str | int] = (),
    states: Mapping[str, str] | None = None,
    properties: str = "",
    view: str = "",
    parts: Mapping[str, str | bytes] | None = None,
    without: Iterable[str] = (),
) -> Path:
    """Write a workbook of worksheet parts by their names; `parts` add to or replace others."""
    sheets = {"Data": sheets} if isinstance(sheets, str) else sheets
    states = states or {}
    listed, related, content = [], [], {}
    for number, (name, xml) in enumerate(sheets.items(), 1):
        state = f' state="{states[name]}"' if name in states else ""
        listed.append(f'<sheet name="{escape(name)}" sheetId="{number}"{state} r:id="r{number}"/>')
        related.append(_relation(f"r{number}", "worksheet", f"worksheets/sheet{number}.xml"))
        content[f"xl/worksheets/sheet{number}.xml"] = xml
    if strings is not None:
        related.append(_relation("rs", "sharedStrings", "sharedStrings.xml"))
        content["xl/sharedStrings.xml"] = strings_xml(strings)
    if formats:
        related.append(_relation("rf", "styles", "styles.xml"))
        content["xl/styles.xml"] = styles_xml(formats)
    content["xl/workbook.xml"] = (
        f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><workbookPr{properties}/><bookViews>'
        f"<workbookView{view}/></bookViews><sheets>{''.join(listed)}</sheets></workbook>"
    )
    content["xl/_rels/workbook.xml.rels"] = _relations(related)
    content["_rels/.rels"] = _relations([_relation("r1", "officeDocument", "xl/workbook.xml")])
    return pack(path, {**content, **(parts or {})}, without)


def _relation(key: str, kind: str, target: str) -> str:
    return f'<Relationship Id="{key}" Type="{OFFICE}/{kind}" Target="{target}"/>'


def _relations(related: Iterable[str]) -> str:
    return f'<Relationships xmlns="{PACKAGE}/relationships">{"".join(related)}</Relationships>'


def pack(path: Path, parts: Mapping[str, str | bytes], without: Iterable[str] = ()) -> Path:
    """Write parts into a zip file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        target.writestr("[Content_Types].xml", f'<Types xmlns="{PACKAGE}/content-types"/>')
        for name, content in parts.items():
            if name not in without:
                target.writestr(name, content)
    return path


ODS = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'
)


def ods_cell(value: Any) -> str:
    """One cell of an OpenDocument table; a text that begins with `<` is a cell in XML."""
    match value:
        case None:
            return "<table:table-cell/>"
        case int() | float():
            kind = f'office:value-type="float" office:value="{value}"'
            return f"<table:table-cell {kind}><text:p>{value}</text:p></table:table-cell>"
        case str() if value.startswith("<"):
            return value
    kind = 'office:value-type="string"'
    return f"<table:table-cell {kind}><text:p>{escape(str(value))}</text:p></table:table-cell>"


def ods_rows(table: Iterable[Sequence[Any]]) -> str:
    """Rows of an OpenDocument table."""
    return "".join(
        f"<table:table-row>{''.join(map(ods_cell, line))}</table:table-row>" for line in table
    )


def ods(
    path: Path,
    tables: Mapping[str, str] | str,
    *,
    styles: str = "",
    hidden: Iterable[str] = (),
    parts: Mapping[str, str | bytes] | None = None,
) -> Path:
    """Write an OpenDocument spreadsheet of tables by their names; `hidden` ones by a style."""
    tables = {"Data": tables} if isinstance(tables, str) else tables
    style = dict.fromkeys(hidden, ' table:style-name="off"')
    body = "".join(
        f'<table:table table:name="{escape(name)}"{style.get(name, "")}>{inside}</table:table>'
        for name, inside in tables.items()
    )
    off = '<style:style style:name="off"><style:table-properties table:display="false"/>'
    content = (
        f"<office:document-content {ODS}><office:automatic-styles>{off}</style:style>{styles}"
        f"</office:automatic-styles><office:body><office:spreadsheet>{body}</office:spreadsheet>"
        "</office:body></office:document-content>"
    )
    mime = "application/vnd.oasis.opendocument.spreadsheet"
    return pack(path, {"mimetype": mime, "content.xml": content, **(parts or {})})


def record(kind: int, body: bytes = b"") -> bytes:
    """One record of an xlsb part."""
    head = bytes([kind]) if kind < 128 else bytes([(kind & 0x7F) | 0x80, kind >> 7])
    size, rest = b"", len(body)
    while True:
        rest, low = rest >> 7, rest & 0x7F
        size += bytes([low | (0x80 if rest else 0)])
        if not rest:
            return head + size + body


def wide(text: str) -> bytes:
    """A string in an xlsb record."""
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def xlsb_cell(kind: int, column: int, body: bytes = b"", style: int = 0) -> bytes:
    """A cell record of an xlsb sheet; `column` counts from 0."""
    return record(kind, struct.pack("<I", column) + style.to_bytes(3, "little") + b"\0" + body)


def xlsb_row(number: int, *, hidden: bool = False) -> bytes:
    """A row record of an xlsb sheet; `number` counts from 1."""
    flags = 0x10 if hidden else 0
    return record(0, struct.pack("<IIHBBBI", number - 1, 0, 300, 0, flags, 0, 0))


def xlsb(path: Path, sheet: bytes, *, strings: Sequence[str] = (), date1904: bool = False) -> Path:
    """Write an xlsb file of one sheet; style 1 is a date, style 2 is 00000."""
    formats = record(44, struct.pack("<H", 164) + wide("yyyy-mm-dd"))
    formats += record(44, struct.pack("<H", 165) + wide("00000"))
    styles = b"".join(record(47, struct.pack("<HH", 0, n) + bytes(12)) for n in (0, 164, 165))
    related = [
        _relation("r1", "worksheet", "worksheets/sheet1.bin"),
        _relation("r2", "sharedStrings", "sharedStrings.bin"),
        _relation("r3", "styles", "styles.bin"),
    ]
    book = record(153, struct.pack("<II", int(date1904), 0) + wide(""))
    book += record(158, bytes(29))
    book += record(156, struct.pack("<II", 0, 1) + wide("r1") + wide("Data"))
    parts = {
        "_rels/.rels": _relations([_relation("r1", "officeDocument", "xl/workbook.bin")]),
        "xl/_rels/workbook.bin.rels": _relations(related),
        "xl/workbook.bin": book,
        "xl/styles.bin": formats + record(617) + styles + record(618),
        "xl/sharedStrings.bin": b"".join(record(19, b"\0" + wide(s)) for s in strings),
        "xl/worksheets/sheet1.bin": sheet,
    }
    return pack(path, parts)
