"""Workbooks as programs write them, and as they should not."""

from __future__ import annotations

import pytest

from fairimport.errors import FileRefused
from fairimport.sheets.cells import CellError, Formula, Moment, Number
from fairimport.sheets.limits import Limits
from tests.sheetfiles import MAIN, cells, rows_xml, sheet_xml, strings_xml, survey, xlsx

HEAD = ["Code", "Name", "Qty"]
ONE = [HEAD, ["A-1", "Lamp", 3]]


@pytest.fixture
def book(tmp_path):
    """Writes a workbook of one table."""

    def book(*table, **given):
        return xlsx(tmp_path / "book.xlsx", sheet_xml(rows_xml([HEAD, *table])), **given)

    return book


@pytest.mark.parametrize(
    ("xml", "cell"),
    [
        ("<c><v>423.0</v></c>", 423.0),
        ("<c><v> 7 </v></c>", 7),
        ("<c><v>9007199254740993</v></c>", Number("9007199254740993")),
        ('<c t="b"><v>1</v></c>', True),
        ('<c t="e"><v>#N/A</v></c>', CellError("#N/A")),
        ('<c t="str"><f>A1</f><v>x &amp; y</v></c>', "x & y"),
        ('<c t="str"><f>A1</f><v></v></c>', None),
        ("<c><f>5*5</f><v>25</v></c>", 25),
        ("<c><f>5*5</f></c>", Formula("=5*5")),
        ("<c><f>5*5</f><v/></c>", Formula("=5*5")),
        ('<c><f t="shared" si="0"/><v>4</v></c>', 4),
        ('<c t="d"><v>2024-02-29</v></c>', Moment("date", "2024-02-29T00:00:00", "2024-02-29")),
        ('<c s="1"><v>45351</v></c>', Moment("date", "2024-02-29T00:00:00", "45351")),
        ('<c s="2"><v>421</v></c>', Number("421", "00421")),
        ('<c s="3"><v>0.19</v></c>', 0.19),
        ('<c s="9"><v>5</v></c>', 5),
        ('<c t="s"><v>0</v></c>', "shared"),
        ('<c t="s"><v>1</v></c>', "東京"),
        ('<c t="s"><v>2</v></c>', "a\nb"),
        ('<c t="s"><v>3</v></c>', "📦 _x000D_ \ud83d"),
        ('<c t="s"><v>\n 0 </v></c>', "shared"),
        ('<c t="s"><v/></c>', None),
        ('<c t="s"/>', None),
        ('<c t="inlineStr"><is><t>a</t></is></c>', "a"),
        ('<c t="inlineStr"><is><r><t>a</t></r><r><rPr><b/></rPr><t> b</t></r></is></c>', "a b"),
        ('<c t="inlineStr"><is><t>a</t><rPh sb="0" eb="1"><t>x</t></rPh></is></c>', "a"),
        ('<c t="inlineStr"><is><t><![CDATA[<b>]]></t></is></c>', "<b>"),
        ('<c t="inlineStr"><is><t>&#x41;&lt;&#10;</t></is></c>', "A<\n"),
        ('<c s="11"/>', None),
        ("<c><v>abc</v></c>", "abc"),
    ],
)
def test_a_cell_is_what_its_xml_says(book, xml, cell):
    """Values, types, formats, escapes; nothing is blank that is not."""
    path = book(
        ["A-1", xml, 1],
        formats=["yyyy-mm-dd", "00000", "0.0%"],
        strings=[
            "shared",
            '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si>',
            "a_x000D__x000A_b",
            "_xD83D__xDCE6_ _x005F_x000D_ _xD83D_",
        ],
    )
    found = cells(path)[0][1]
    assert found == cell
    assert type(found) is type(cell)


def test_dates_count_from_1904_where_the_book_says_so(book):
    """The same number is another day."""
    path = book(["A-1", '<c s="1"><v>1</v></c>', 1], formats=[14], properties=' date1904="1"')
    assert cells(path)[0][1].iso == "1904-01-02T00:00:00"


@pytest.mark.parametrize(
    "rows",
    [
        "<row><c t='inlineStr'><is><t>Code</t></is></c></row><row><c><v>1</v></c></row>",
        "<row r='1'><c r='A1' t='inlineStr'><is><t>Code</t></is></c></row>"
        "<row r='2'><c><v>1</v></c></row>",
        "<!-- <row r='9'></row> --><row r='1'><c r='A1' t='inlineStr'><is><t>Code</t></is></c>"
        "</row>\n  <row r='2'>\n <c r='A2'>\n<v>1</v>\n</c>\n</row>\n",
    ],
)
def test_references_may_be_missing(tmp_path, rows):
    """Cells count from the left, rows from the top."""
    found, read = survey(xlsx(tmp_path / "b.xlsx", sheet_xml(rows)), headers=("Code",))
    assert [(row.number, row.cells) for row in read] == [(2, (1,))]
    assert found.header_row == 1


def test_prefixes_and_namespaces_do_not_matter(tmp_path):
    """Strict OOXML and prefixed elements are the same workbook."""
    rows = rows_xml(ONE).replace("<", "<x:").replace("<x:/", "</x:")
    strict = "http://purl.oclc.org/ooxml/spreadsheetml/main"
    xml = f'<x:worksheet xmlns:x="{strict}"><x:sheetData>{rows}</x:sheetData></x:worksheet>'
    assert cells(xlsx(tmp_path / "b.xlsx", xml)) == [("A-1", "Lamp", 3)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_parts_may_have_any_declared_encoding(tmp_path, encoding):
    """Expat reads what the XML declaration says."""
    xml = f'<?xml version="1.0" encoding="{encoding}"?>' + sheet_xml(
        rows_xml([HEAD, ["é", "b", 1]])
    )
    path = xlsx(tmp_path / "b.xlsx", "", parts={"xl/worksheets/sheet1.xml": xml.encode(encoding)})
    assert cells(path) == [("é", "b", 1)]


@pytest.mark.parametrize("reference", ["A1", "A1:XFD1048576", "rubbish", "A1:Z0"])
def test_a_dimension_is_not_believed(tmp_path, reference):
    """The rows themselves tell how many there are."""
    xml = sheet_xml(rows_xml(ONE), before=f'<dimension ref="{reference}"/>')
    found, read = survey(xlsx(tmp_path / "b.xlsx", xml))
    assert (len(read), len(found.columns)) == (1, 3)


def test_rows_out_of_order_are_sorted(tmp_path):
    """A later row with the same number adds to the earlier; its cells win."""
    lines = [rows_xml([["A-3", "c", 3]], 5), rows_xml(ONE), rows_xml([[None, "x", None]], 5)]
    found, read = survey(xlsx(tmp_path / "b.xlsx", sheet_xml("".join(lines))))
    assert [(r.number, r.cells) for r in read] == [(2, ("A-1", "Lamp", 3)), (5, ("A-3", "x", 3))]
    assert found.warnings == ("blank_rows:2",)


def test_cells_out_of_order_find_their_place(tmp_path):
    """The reference says where a cell stands; the last of two wins."""
    row = '<row r="2"><c r="C2"><v>3</v></c><c r="A2"><v>1</v></c><c r="A2"><v>2</v></c></row>'
    assert cells(xlsx(tmp_path / "b.xlsx", sheet_xml(rows_xml([HEAD]) + row))) == [(2, None, 3)]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ('<row r="2"><c r="XFE2"><v>1</v></c></row>', "too_many_columns"),
        ('<row r="2"><c r="AAAAAAA2"><v>1</v></c></row>', "too_many_columns"),
        ('<row r="1048577"><c r="A1048577"><v>1</v></c></row>', "too_many_rows"),
        ('<row r="x"><c r="A2"><v>1</v></c></row>', "damaged_file"),
        ('<row r="2"><c r="2A"><v>1</v></c></row>', "damaged_file"),
        ('<row r="2"><c r="A2" t="s"><v>7</v></c></row>', "damaged_file"),
        ('<row r="2"><c r="A2" t="s"><v>-1</v></c></row>', "damaged_file"),
        ('<row r="2"><c r="A2"><v>1</c></row>', "damaged_file"),
        ('<row r="2"><c r="A2"><v>&nope;</v></c></row>', "damaged_file"),
        ('<row r="2"><c r="A2" t="str"><v>\x01</v></c></row>', "damaged_file"),
    ],
)
def test_impossible_rows_are_refused(tmp_path, row, code):
    """Each by its own code, while streaming."""
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(rows_xml(ONE[:1]) + row), strings=["x"])
    with pytest.raises(FileRefused) as refused:
        survey(path)
    assert refused.value.code == code


def test_empty_styled_cells_are_nothing(tmp_path):
    """Neither a wide styled row nor a million styled rows make anything larger."""
    wide = "".join(f'<c r="{name}3" s="1"/>' for name in ("D", "ZZ", "XFD"))
    rows = f'<row r="3">{wide}</row><row r="1048576" s="1"><c r="A1048576" s="1"/></row>'
    found, read = survey(xlsx(tmp_path / "b.xlsx", sheet_xml(rows_xml(ONE) + rows)))
    assert (len(read), len(found.columns), found.warnings) == (1, 3, ())


def test_a_far_row_keeps_its_number(tmp_path):
    """The rows between are blank rows, not faults."""
    rows = rows_xml(ONE) + rows_xml([["A-2", "Desk", 4]], 1_048_576)
    found, read = survey(xlsx(tmp_path / "b.xlsx", sheet_xml(rows)))
    assert read[-1].number == 1_048_576
    assert found.warnings == (f"blank_rows:{1_048_576 - 3}",)


def test_leading_blank_rows_and_columns_keep_numbers_and_letters(tmp_path):
    """A table at C5 is at C5."""
    table = [[None, None, *line] for line in ONE]
    found, read = survey(xlsx(tmp_path / "b.xlsx", sheet_xml(rows_xml(table, 5))))
    assert (found.header_row, read[0].number) == (5, 6)
    assert [(c.letter, c.position) for c in found.columns] == [("C", 3), ("D", 4), ("E", 5)]
    assert found.warnings == ()


def test_hidden_rows_and_columns_are_told_or_left_out(tmp_path):
    """By default they are imported; with skip_hidden they do not exist."""
    rows = rows_xml([*ONE, ["A-2", "Desk", 4]]).replace('<row r="2"', '<row r="2" hidden="1"')
    cols = '<cols><col min="3" max="16384" hidden="1"/></cols>'
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(rows, before=cols))
    found, read = survey(path)
    assert found.warnings == ("hidden_rows:1", "hidden_columns:1")
    assert [c.hidden for c in found.columns] == [False, False, True]
    found, read = survey(path, skip_hidden=True)
    assert [row.number for row in read] == [3]
    assert [c.header for c in found.columns] == ["Code", "Name"]


MERGED = "".join(f'<mergeCell ref="{box}"/>' for box in ("A1:C1", "A3:A5", "B3:C3"))
MERGED = f"<mergeCells>{MERGED}</mergeCells>"


def test_merged_cells_are_told(tmp_path):
    """Those above the header are a title and no matter."""
    table = [["Stock list"], HEAD, ["A-1", "x", None], [None, "y", 4], [None, None, None]]
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(rows_xml(table), after=MERGED))
    found, read = survey(path)
    assert found.warnings == ("merged_cells:A3:A5,B3:C3", "rows_above_header:1")
    assert [row.cells for row in read] == [("A-1", "x"), (None, "y", 4)]


def test_merged_cells_can_be_filled(tmp_path):
    """Each cell of a range has the value of its first; rows inside it exist."""
    table = [["Stock list"], HEAD, ["A-1", "x", None], [None, "y", 4]]
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(rows_xml(table), after=MERGED))
    _, read = survey(path, fill_merged=True)
    assert [(row.number, row.cells) for row in read] == [
        (3, ("A-1", "x", "x")),
        (4, ("A-1", "y", 4)),
        (5, ("A-1",)),
    ]


def test_a_merge_of_the_whole_sheet_ends_at_the_limits(tmp_path):
    """Filling it is bounded by rows and columns that may be."""
    after = '<mergeCells><mergeCell ref="A2:XFD1048576"/></mergeCells>'
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(rows_xml(ONE), after=after))
    with pytest.raises(FileRefused, match="too_many_rows"):
        survey(path, fill_merged=True, limits=Limits(max_rows=50, max_columns=8))


@pytest.mark.parametrize(
    "part", ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml", "xl/workbook.xml"]
)
def test_a_missing_or_broken_part_is_damage(book, part):
    """Reading on would look like success."""
    for broken in ("<worksheet", f'<worksheet xmlns="{MAIN}"><sheetData><row r="1">'):
        path = book(["A-1", "x", 1], strings=["x"], formats=[14], parts={part: broken})
        with pytest.raises(FileRefused, match="damaged_file"):
            survey(path)


def test_a_missing_sheet_or_table_of_strings_is_damage(book):
    """Also when only the relation is left."""
    shared = '<c t="s"><v>0</v></c>'
    for part in ("xl/sharedStrings.xml", "xl/worksheets/sheet1.xml", "xl/workbook.xml"):
        with pytest.raises(FileRefused, match="damaged_file"):
            survey(book(["A-1", shared, 1], strings=["x"], without=[part]))


def test_part_names_may_differ_in_capitals_and_slashes(book):
    """Programs write SharedStrings, and backslashes."""
    parts = {"xl\\SharedStrings.xml": strings_xml(["x"])}
    path = book(
        ["A-1", '<c t="s"><v>0</v></c>', 1],
        strings=[],
        parts=parts,
        without=["xl/sharedStrings.xml"],
    )
    assert cells(path) == [("A-1", "x", 1)]
