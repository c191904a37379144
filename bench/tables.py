"""The files that the reading benchmark reads: ten columns as an ordinary business exports them."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

__all__ = ["COLUMNS", "write_csv", "write_xlsx"]

COLUMNS = (
    *("Number", "Customer", "Quantity", "Amount", "Due", "State", "Express", "Note", "Weight"),
    "Country",
)
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill>'
    '<patternFill patternType="none"/></fill></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0"/>'
    '<xf numFmtId="14"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" '
    'builtinId="0"/></cellStyles></styleSheet>'
)
_LETTERS = "ABCDEFGHIJ"


def rows(count: int) -> Iterator[tuple[Any, ...]]:
    """Rows of mixed values; the fifth is the serial number of a day."""
    for n in range(count):
        yield (
            *(
                f"INV-{n:07d}",
                f"Customer {n * 7919 % 2000} & Sons",
                n % 997,
                (n * 37 % 99991) / 100,
            ),
            *(45000 + n % 700, ("open", "paid", "late")[n % 3], n % 2 == 0),
            *(f"Delivered with note number {n}", n * 31 % 100_000, ("DE", "FR", "US", "GB")[n % 4]),
        )


def write_csv(path: Path, count: int) -> None:
    """Write the table as csv."""
    with path.open("w", newline="", encoding="utf-8") as target:
        writer = csv.writer(target)
        writer.writerow(COLUMNS)
        writer.writerows(rows(count))


def write_xlsx(path: Path, count: int) -> None:
    """Write the table as Excel does: shared strings, styles, references."""
    strings: dict[str, int] = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as book:
        with book.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write(f'<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
            sheet.write(_row(1, COLUMNS, strings).encode())
            for number, row in enumerate(rows(count), 2):
                sheet.write(_row(number, row, strings).encode())
            sheet.write(b"</sheetData></worksheet>")
        with book.open("xl/sharedStrings.xml", "w", force_zip64=True) as shared:
            total = f'count="{len(strings)}" uniqueCount="{len(strings)}"'
            shared.write(f'<sst xmlns="{_MAIN}" {total}>'.encode())
            for text in strings:
                shared.write(f"<si><t>{escape(text)}</t></si>".encode())
            shared.write(b"</sst>")
        _write_frame(book)


def _row(number: int, values: tuple[Any, ...], strings: dict[str, int]) -> str:
    cells = []
    for position, (letter, value) in enumerate(zip(_LETTERS, values, strict=True)):
        head = f'<c r="{letter}{number}"'
        if isinstance(value, str):
            index = strings.setdefault(value, len(strings))
            cells.append(f'{head} t="s"><v>{index}</v></c>')
        elif isinstance(value, bool):
            cells.append(f'{head} t="b"><v>{int(value)}</v></c>')
        else:
            style = ' s="1"' if position == 4 else ""
            cells.append(f"{head}{style}><v>{value}</v></c>")
    return f'<row r="{number}" spans="1:10">{"".join(cells)}</row>'


def _write_frame(book: zipfile.ZipFile) -> None:
    def relation(key: str, kind: str, target: str) -> str:
        return f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{target}"/>'

    def relations(*inside: str) -> str:
        return f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(inside)}</Relationships>'

    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    overrides = "".join(
        f'<Override PartName="/xl/{part}.xml" ContentType="{types}.{kind}+xml"/>'
        for part, kind in (
            ("workbook", "sheet.main"),
            ("worksheets/sheet1", "worksheet"),
            ("sharedStrings", "sharedStrings"),
            ("styles", "styles"),
        )
    )
    rels = "application/vnd.openxmlformats-package.relationships+xml"
    book.writestr(
        "[Content_Types].xml",
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType="{rels}"/>'
        f"{overrides}</Types>",
    )
    book.writestr("_rels/.rels", relations(relation("r1", "officeDocument", "xl/workbook.xml")))
    book.writestr(
        "xl/workbook.xml",
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        '<sheet name="Data" sheetId="1" r:id="r1"/></sheets></workbook>',
    )
    book.writestr(
        "xl/_rels/workbook.xml.rels",
        relations(
            relation("r1", "worksheet", "worksheets/sheet1.xml"),
            relation("r2", "sharedStrings", "sharedStrings.xml"),
            relation("r3", "styles", "styles.xml"),
        ),
    )
    book.writestr("xl/styles.xml", _STYLES)
