"""OpenDocument, binary and old workbooks."""

from __future__ import annotations

import struct
import warnings

import pytest

from fairimport.errors import FileRefused
from fairimport.sheets import read
from fairimport.sheets.cells import CellError, Formula, Moment, Number
from fairimport.sheets.limits import Limits
from tests.sheetfiles import (
    cells,
    ods,
    ods_rows,
    record,
    survey,
    wide,
    xlsb,
    xlsb_cell,
    xlsb_row,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # xlwt is old, and only writes what these tests read
    import xlwt
    from xlwt.Row import ErrorCell

HEAD = ["Code", "Name", "Qty"]


def typed(kind: str, shown: str = "", more: str = "") -> str:
    """A cell of an OpenDocument table with a value of this kind."""
    return f"<table:table-cell {more} {kind}><text:p>{shown}</text:p></table:table-cell>"


@pytest.mark.parametrize(
    ("xml", "cell"),
    [
        (typed('office:value-type="float" office:value="3"', "3"), 3),
        (typed('office:value-type="percentage" office:value="0.19"', "19 %"), 0.19),
        (typed('office:value-type="currency" office:value="12.5"', "12,50 €"), 12.5),
        (
            typed('office:value-type="float" office:value="9007199254740993"'),
            Number("9007199254740993"),
        ),
        (typed('office:value-type="boolean" office:boolean-value="true"', "WAHR"), True),
        (
            typed('office:value-type="date" office:date-value="2024-02-29"', "29/02/24"),
            Moment("date", "2024-02-29T00:00:00", "2024-02-29"),
        ),
        (
            typed('office:value-type="time" office:time-value="PT26H15M00S"', "26:15"),
            Moment("duration", "26:15:00", "PT26H15M00S"),
        ),
        (
            typed('office:value-type="string"', "a<text:s text:c='2'/>b<text:line-break/>c"),
            "a  b\nc",
        ),
        (typed('office:value-type="string"', "a</text:p><text:p>b"), "a\nb"),
        (typed('office:value-type="string"', "<text:span>a</text:span><text:a>b</text:a>"), "ab"),
        (
            typed('office:value-type="string"', "x").replace(
                "<text:p>", "<office:annotation><text:p>a note</text:p></office:annotation><text:p>"
            ),
            "x",
        ),
        (
            typed('office:value-type="string" calcext:value-type="error"', "#N/A"),
            CellError("#N/A"),
        ),
        (
            typed(
                'office:value-type="float" office:value="0"', "#DIV/0!", 'table:formula="of:=1/0"'
            ),
            CellError("#DIV/0!"),
        ),
        (
            typed('office:value-type="string"', "Err:502", 'table:formula="of:=X()"'),
            CellError("Err:502"),
        ),
        (typed('office:value-type="string"', "#N/A"), "#N/A"),
        ('<table:table-cell table:formula="of:=5*5"/>', Formula("=5*5")),
        (typed('office:value-type="float" office:value="25"', "25", 'table:formula="of:=5*5"'), 25),
        ("<table:table-cell/>", None),
    ],
)
def test_a_cell_of_ods_is_what_its_xml_says(tmp_path, xml, cell):
    """Typed values, paragraphs, notes, errors in every version's way."""
    found = cells(ods(tmp_path / "a.ods", ods_rows([HEAD, ["A-1", xml, 1]])))[0][1]
    assert found == cell
    assert type(found) is type(cell)


def test_ods_runs_of_rows_and_cells_are_rows_and_cells(tmp_path):
    """Content that is repeated is there; blanks that are repeated are not."""
    twice = '<table:table-cell table:number-columns-repeated="2" {}</table:table-cell>'
    value = 'office:value-type="string"><text:p>x</text:p>'
    row = '<table:table-row table:number-rows-repeated="2">{}</table:table-row>'
    blank = '<table:table-row table:number-rows-repeated="3"><table:table-cell/></table:table-row>'
    table = ods_rows([HEAD]) + blank + row.format(twice.format(value))
    found, rows = survey(ods(tmp_path / "a.ods", table + blank))
    assert [(r.number, r.cells) for r in rows] == [(5, ("x", "x")), (6, ("x", "x"))]
    assert found.warnings == ("blank_rows:3",)


def test_ods_hidden_things_are_told(tmp_path):
    """Filtered rows, collapsed columns, and sheets whose style hides them."""
    columns = '<table:table-column/><table:table-column table:visibility="collapse"/>'
    rows = ods_rows([HEAD, ["A-1", "x", 1], ["A-2", "y", 2]])
    rows = rows.replace("<table:table-row>", '<table:table-row table:visibility="filter">', 2)
    rows = rows.replace(' table:visibility="filter"', "", 1)
    path = ods(tmp_path / "a.ods", {"Old": ods_rows([HEAD, ["z", "z", 9]]), "Data": columns + rows},
               hidden=["Old"])  # fmt: skip
    found, read = survey(path)
    assert (found.sheet, found.warnings) == ("Data", ("hidden_rows:1", "hidden_columns:1"))
    assert [r.cells[0] for r in read] == ["A-1", "A-2"]
    assert [s.visible for s in found.sheets] == [False, True]


def test_ods_merged_cells_are_told_and_filled(tmp_path):
    """Spans are merged ranges."""
    span = 'table:number-rows-spanned="2" table:number-columns-spanned="1"'
    cell = typed('office:value-type="string"', "A-1", span)
    covered = "<table:covered-table-cell/>"
    path = ods(tmp_path / "a.ods", ods_rows([HEAD, [cell, "x", 1], [covered, "y", 2]]))
    found, read = survey(path)
    assert found.warnings == ("merged_cells:A2:A3",)
    assert read[1].cells == (None, "y", 2)
    assert survey(path, fill_merged=True)[1][1].cells == ("A-1", "y", 2)


def test_the_active_sheet_of_ods_is_shown_while_asking(tmp_path):
    """The settings part names it."""
    table = ods_rows([HEAD, ["A-1", "x", 1]])
    item = '<c:config-item xmlns:c="c" c:name="ActiveTable">Feb</c:config-item>'
    path = ods(tmp_path / "a.ods", {"Jan": table, "Feb": table}, parts={"settings.xml": item})
    found, _ = survey(path)
    assert (found.sheet, found.needs) == ("Feb", ("sheet",))


def test_a_table_in_a_cell_of_ods_is_no_sheet(tmp_path):
    """Nested tables are neither sheets nor rows."""
    inner = "<table:table table:name='x'><table:table-row/></table:table>"
    path = ods(
        tmp_path / "a.ods",
        ods_rows([HEAD, ["A-1", f"<table:table-cell>{inner}</table:table-cell>", 1]]),
    )
    found, rows = survey(path)
    assert [s.name for s in found.sheets] == ["Data"]
    assert rows[0].cells == ("A-1", None, 1)


def test_xlsb_cells_are_what_their_records_say(tmp_path):
    """Every kind of record that holds a value, with errors and formats."""
    head = xlsb_row(1) + b"".join(xlsb_cell(7, i, struct.pack("<I", i)) for i in range(3))
    rk = {0: (7 << 2) | 2, 1: (1234 << 2) | 3, 2: ((-5 & 0x3FFFFFFF) << 2) | 2}
    numbers = xlsb_row(2) + b"".join(xlsb_cell(2, i, struct.pack("<I", v)) for i, v in rk.items())
    reals = xlsb_row(3, hidden=True) + xlsb_cell(5, 0, struct.pack("<d", 45351), 1)
    reals += xlsb_cell(9, 1, struct.pack("<d", 421), 2) + xlsb_cell(5, 2, struct.pack("<d", 2.5))
    errors = (
        xlsb_row(4) + xlsb_cell(3, 0, b"\x2a") + xlsb_cell(11, 1, b"\x07") + xlsb_cell(4, 2, b"\1")
    )
    texts = xlsb_row(6) + xlsb_cell(6, 0, wide("a\r\nb")) + xlsb_cell(8, 1, wide("f"))
    texts += xlsb_cell(62, 2, b"\1" + wide("rich")) + xlsb_cell(1, 3)
    column = record(60, struct.pack("<IIIIH", 2, 2, 0, 0, 1))
    merged = record(176, struct.pack("<IIII", 5, 6, 0, 0))
    sheet = column + head + numbers + reals + errors + texts + merged
    found, rows = survey(xlsb(tmp_path / "a.xlsb", sheet, strings=HEAD))
    assert [(r.number, r.cells) for r in rows] == [
        (2, (7, 12.34, -5)),
        (3, (Moment("date", "2024-02-29T00:00:00", "45351"), Number("421", "00421"), 2.5)),
        (4, (CellError("#N/A"), CellError("#DIV/0!"), True)),
        (6, ("a\nb", "f", "rich")),
    ]
    warned = ("merged_cells:A6:A7", "hidden_rows:1", "hidden_columns:1", "blank_rows:1")
    assert (found.format, found.warnings) == ("xlsb", warned)


def test_xlsb_counts_from_1904_too(tmp_path):
    """The book's properties say so."""
    sheet = xlsb_row(1) + xlsb_cell(6, 0, wide("Day"))
    sheet += xlsb_row(2) + xlsb_cell(5, 0, struct.pack("<d", 1), 1)
    path = xlsb(tmp_path / "a.xlsb", sheet, date1904=True)
    assert cells(path, headers=("Day",))[0][0].iso == "1904-01-02T00:00:00"


@pytest.mark.parametrize(
    ("sheet", "code"),
    [
        (xlsb_row(1) + xlsb_cell(7, 0, struct.pack("<I", 99)), "damaged_file"),
        (xlsb_row(1) + b"\x06\xff\x7f", "damaged_file"),
        (xlsb_cell(6, 0, wide("x")), "damaged_file"),
        (xlsb_row(1) + xlsb_cell(6, 0, struct.pack("<I", 2**31)), "damaged_file"),
        (xlsb_row(1) + xlsb_cell(6, 16383, wide("x")), "too_many_columns"),
        (xlsb_row(2_000_000) + xlsb_cell(6, 0, wide("x")), "too_many_rows"),
        (record(0, b"\0"), "damaged_file"),
        (xlsb_row(1) + record(7, b"\0\0\0\0"), "damaged_file"),
        (record(176, b"\0"), "damaged_file"),
        (b"", "empty_file"),
    ],
)
def test_impossible_records_are_refused(tmp_path, sheet, code):
    """Nothing in the file is believed about sizes and places."""
    with pytest.raises(FileRefused) as refused:
        survey(xlsb(tmp_path / "a.xlsb", sheet))
    assert refused.value.code == code


@pytest.fixture
def old(tmp_path):
    """Writes an old workbook of tables by their names."""

    def old(tables, change=lambda book: None):
        book = xlwt.Workbook()
        for name, table in tables.items():
            sheet = book.add_sheet(name)
            for row, line in enumerate(table):
                for column, value in enumerate(line):
                    if value is None:
                        continue
                    value, *style = value if isinstance(value, tuple) else (value,)
                    sheet.write(row, column, value, *style)
        change(book)
        path = tmp_path / "a.xls"
        book.save(str(path))
        return path

    return old


def test_xls_cells_are_what_their_records_say(old):
    """Numbers, formats, booleans, and error cells that other readers give as blanks."""
    day = xlwt.easyxf(num_format_str="yyyy-mm-dd")
    zeros = xlwt.easyxf(num_format_str="00000")

    def change(book):
        sheet = book.get_sheet(0)
        sheet.row(2).insert_cell(1, ErrorCell(2, 1, 0, 42))

    table = [HEAD, ["A-1", (45351, day), (421, zeros)], ["A-2", None, 2.5], ["A-3", True, 9]]
    found, rows = survey(old({"Data": table}, change))
    assert found.format == "xls"
    assert [r.cells for r in rows] == [
        ("A-1", Moment("date", "2024-02-29T00:00:00", "45351"), Number("421", "00421")),
        ("A-2", CellError("#N/A"), 2.5),
        ("A-3", True, 9),
    ]


def test_xls_hidden_things_are_told(old):
    """Rows, columns and sheets."""

    def change(book):
        book.get_sheet(0).visibility = 1
        book.get_sheet(1).row(1).hidden = True
        book.get_sheet(1).col(2).hidden = True
        book.get_sheet(1).merge(1, 2, 0, 0)

    table = [HEAD, ["A-1", "x", 1], [None, "y", 2]]
    found, _ = survey(old({"Old": table, "Data": table}, change))
    assert found.sheet == "Data"
    assert found.warnings == ("merged_cells:A2:A3", "hidden_rows:1", "hidden_columns:1")


def test_a_cut_off_xls_is_damage(old):
    """Wherever it ends."""
    path = old({"Data": [HEAD, *[["A-1", "x" * 50, 1]] * 200]})
    content = path.read_bytes()
    for share in (0.2, 0.5, 0.9):
        path.write_bytes(content[: int(len(content) * share)])
        with pytest.raises(FileRefused, match="damaged_file"):
            read(path, filename="a.xls", limits=Limits())
