"""Failed-rows files: nothing in them is executed, and they are known again."""

import csv
import io
import re
import zipfile

import openpyxl
import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from fairimport.sheets import ColumnFacts, SheetRow, Survey, normal_form
from fairimport.sheets.cells import CellError, Formula, Moment, Number, letter
from fairimport.sheets.own_files import escaped, own_columns, own_headers, unescaped
from fairimport.sheets.writing import rejected_csv, rejected_xlsx

HOSTILE = ["=1+1", "=cmd|'/c calc'!A0", "+49 30 1", "-5", "@SUM(A1)", "\t=1", "\n=1", "'x", "00420"]
HEADERS = ["Code", "", "=HYPERLINK(1)", "Code"]


def rows(*texts):
    """A row for each text, which stands in the second column."""
    return [(SheetRow(n, ("A", text, "x")), ["=1+1", "second"]) for n, text in enumerate(texts, 7)]


def book(headers, pairs):
    """The bytes of a workbook."""
    target = io.BytesIO()
    rejected_xlsx(target, headers, pairs)
    return target.getvalue()


def sheet(content):
    """The XML of its one sheet."""
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        return parts.read("xl/worksheets/sheet1.xml").decode()


def lines(headers, pairs, **given):
    """The records of a csv file."""
    content = b"".join(rejected_csv(headers, pairs, **given))
    assert content.startswith(b"\xef\xbb\xbf")
    delimiter = given.get("delimiter", ",")
    return list(
        csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter)
    )


def test_the_customers_columns_come_first_then_the_number_and_the_reasons():
    """In their order, equal and blank headers too."""
    found = openpyxl.load_workbook(io.BytesIO(book(HEADERS, rows("a"))))["Rows"]
    first, second = found.iter_rows(values_only=True)
    assert list(first) == ["Code", None, "=HYPERLINK(1)", "Code", *own_headers()]
    assert list(second) == ["A", "a", "x", None, 7, "=1+1\nsecond"]
    assert found.freeze_panes == "A2"
    records = lines(HEADERS, rows("a"))
    assert records[0] == ["Code", "", "'=HYPERLINK(1)", "Code", *own_headers()]
    assert records[1] == ["A", "a", "x", "", "7", "'=1+1\nsecond"]


def test_texts_of_a_workbook_are_typed_as_texts():
    """There is no formula in it, and every text has the format of a text."""
    content = book(HEADERS, rows(*HOSTILE))
    assert "<f>" not in sheet(content)
    found = openpyxl.load_workbook(io.BytesIO(content))["Rows"]
    cells = [row[1] for row in found.iter_rows(min_row=2)]
    assert [cell.value for cell in cells] == HOSTILE
    assert {cell.data_type for cell in cells} == {"s"}
    assert {cell.number_format for cell in cells} == {"@"}


def test_texts_of_a_csv_file_stand_behind_an_apostrophe_where_they_would_be_calculated():
    """Every field is quoted."""
    content = b"".join(rejected_csv(HEADERS, rows(*HOSTILE))).decode("utf-8-sig")
    for record in csv.reader(io.StringIO(content, newline="")):
        assert not any(field[:1] in tuple("=+-@\t\r\n") and field for field in record)
    assert content.startswith('"Code","",')
    assert '"=' not in content


def test_the_delimiter_is_the_customers():
    """As in the file that was uploaded."""
    assert lines(["a", "b"], rows("x"), delimiter=";")[1][:2] == ["A", "x"]


@given(st.text())
def test_what_is_escaped_comes_back(text):
    """And is not executed in between."""
    shown = escaped(text)
    assert not shown.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert unescaped(shown) == text


def test_error_values_are_told_from_texts_that_look_like_them():
    """In both kinds of file."""
    assert unescaped("#N/A") == CellError("#N/A")
    assert unescaped(escaped("#N/A")) == "#N/A"
    assert unescaped(5) == 5
    pairs = rows(CellError("#N/A"), "#N/A", Formula("=5*5"))
    assert [record[1] for record in lines(HEADERS, pairs)[1:]] == ["#N/A", "'#N/A", "#N/A"]
    assert re.findall(
        '<c r="B[2-4]"(?: s="[0-9]+")? t="([a-zA-Z]+)"', sheet(book(HEADERS, pairs))
    ) == [
        "e",
        "inlineStr",
        "e",
    ]


def test_numbers_and_moments_keep_their_types():
    """So that a person may calculate with them."""
    cells = (
        1,
        2.5,
        True,
        Number("421", "00421"),
        Number("9007199254740993"),
        Number("1E+999"),
        Moment("date", "2024-02-29T00:00:00", "45351"),
        Moment("datetime", "2024-02-29T08:30:00", "45351.354"),
        Moment("time", "08:30:00", "0.354"),
        Moment("duration", "-26:15:00", "-1.09375"),
        Moment("date", "1900-01-01T00:00:00", "1"),
        Moment("date", "", "60"),
        Moment("date", "1850-01-01T00:00:00", "1850-01-01"),
        Moment("date", "", "1899-31-31"),
    )
    content = book([f"c{n}" for n in range(len(cells))], [(SheetRow(2, cells), ["no"])])
    written = re.findall('<c r="[A-Z]+2"[^>]*?(?: t="([a-zA-Z]+)")?>(.*?)</c>', sheet(content))
    values = [(kind, re.sub("<.*?>", "", inner)) for kind, inner in written][: len(cells)]
    assert values == [
        ("n", "1"),
        ("n", "2.5"),
        ("b", "1"),
        ("inlineStr", "00421"),
        ("n", "9007199254740993"),
        ("inlineStr", "1E+999"),
        ("n", "45351"),
        ("n", "45351.35416666666"),
        ("n", "0.3541666666666667"),
        ("n", "-1.09375"),
        ("n", "1"),
        ("n", "60"),
        ("inlineStr", "1850-01-01"),
        ("inlineStr", "1899-31-31"),
    ]


def test_what_xml_cannot_hold_is_written_as_excel_does():
    """Control characters, lone surrogates, and texts that look like that writing."""
    content = sheet(book(["a", "b"], rows("a\x00b\ud800", "_x0041_")))
    assert "a_x0000_b_xD800_" in content
    assert "_x005F_x0041_" in content


def test_no_cell_is_longer_than_a_workbook_may_hold():
    """Otherwise no program would open the file."""
    content = sheet(book(["a", "b"], rows("x" * 40_000)))
    assert "x" * 32_767 in content
    assert "x" * 32_768 not in content


def test_a_csv_file_comes_in_parts():
    """However many rows there are."""
    parts = list(rejected_csv(["a", "b"], (rows("x")[0] for _ in range(1200))))
    assert len(parts) == 4
    assert sum(part.count(b"\n") for part in parts) == 1201 + 1200  # each has one in its reasons


def test_lone_surrogates_stay_damaged_in_csv():
    """UTF-8 cannot say them."""
    assert lines(["a", "b"], rows("a\ud800"))[1][1] == "a\ufffd"


def survey(headers, kind="xlsx"):
    """A survey of a file with these headers."""
    columns = [
        ColumnFacts(position=n, letter=letter(n), header=h, label=h, match=normal_form(h))
        for n, h in enumerate(headers, 1)
    ]
    return Survey(format=kind, columns=tuple(columns))


def test_our_own_files_are_known_in_any_language():
    """By the mark before their last two headers."""
    for language in ("en", "de"):
        with translation.override(language):
            ours = own_columns(survey(["a", "b", *own_headers()]))
        assert (ours.number, ours.reasons, ours.is_text) == (3, 4, False)
    assert own_columns(survey(["a", "b", *own_headers()], "csv")).is_text
    assert own_columns(survey(["a", own_headers()[0], "b"])) is None
    assert own_columns(survey(["a"])) is None


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        (7, 7),
        (7.0, 7),
        ("7", 7),
        (" 7 ", 7),
        ("7.0", 7),
        (Number("7", "007"), 7),
        (None, None),
        ("x", None),
        ("-7", None),
        ("\u0667", None),
        ("9" * 20, None),
    ],
)
def test_rows_keep_the_numbers_that_they_had_at_first(cell, number):
    """Unless somebody removed them."""
    ours = own_columns(survey(["a", *own_headers()]))
    assert ours.original_number(SheetRow(2, ("x", cell, "no"))) == number
    assert ours.restored(SheetRow(2, ("x", cell, "no"))).cells == ("x",)


def test_our_columns_are_not_written_twice():
    """A failed-rows file of a failed-rows file has the customer's columns and one pair of ours."""
    again = (*HEADERS, *own_headers())
    assert lines(again, rows("a")) == lines(HEADERS, rows("a"))
    assert sheet(book(again, rows("a"))) == sheet(book(HEADERS, rows("a")))


def test_without_the_runs_options_cells_are_written_as_they_are_shown():
    """When the importer is gone."""
    cells = (1.5, Moment("date", "2024-02-29T00:00:00", "45351"), True, None)
    record = lines(["a", "b", "c", "d"], [(SheetRow(2, cells), ["no"])])[1]
    assert record[:4] == ["1.5", "2024-02-29", "TRUE", ""]
