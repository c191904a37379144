"""Which sheet of a workbook is read."""

from __future__ import annotations

import pytest

from fairimport.errors import FileRefused
from fairimport.sheets.limits import Limits
from tests.sheetfiles import OFFICE, PACKAGE, rows_xml, sheet_xml, survey, xlsx

DATA = sheet_xml(rows_xml([["Code", "Name", "Qty"], ["A-1", "Lamp", 3], ["A-2", "Desk", 4]]))
OTHER = sheet_xml(rows_xml([["Month", "Sum"], ["Jan", 1]]))
NOTE = sheet_xml(rows_xml([["Prepared in spring"]]))
EMPTY = sheet_xml("")


def test_the_only_sheet_with_rows_is_read(tmp_path):
    """Notes, empty sheets and the place of the active one do not matter."""
    sheets = {"Note": NOTE, "Empty": EMPTY, "Data": DATA}
    found, rows = survey(xlsx(tmp_path / "b.xlsx", sheets))
    assert (found.sheet, len(rows), found.needs) == ("Data", 2, ())


def test_several_sheets_with_rows_are_asked(tmp_path):
    """Each with its number of rows; nothing is spooled before the answer."""
    sheets = {"Jan": DATA, "Feb": DATA, "Empty": EMPTY}
    path = xlsx(tmp_path / "b.xlsx", sheets)
    found, rows = survey(path)
    assert (found.needs, found.header_row, rows) == (("sheet",), 1, [])
    assert [(s.name, s.rows) for s in found.sheets] == [("Jan", 2), ("Feb", 2), ("Empty", 0)]
    found, rows = survey(path, sheet="Feb")
    assert (found.sheet, found.needs, len(rows)) == ("Feb", (), 2)


def test_a_name_that_does_not_exist_is_asked_again(tmp_path):
    """A wrong answer is no answer."""
    found, _ = survey(xlsx(tmp_path / "b.xlsx", {"Jan": DATA, "Feb": DATA}), sheet="Mar")
    assert found.needs == ("sheet",)


@pytest.mark.parametrize(("active", "shown"), [(0, "Jan"), (1, "Feb"), (7, "Jan")])
def test_the_active_sheet_is_shown_while_asking(tmp_path, active, shown):
    """Of equals, the one that was open when the book was saved."""
    path = xlsx(tmp_path / "b.xlsx", {"Jan": DATA, "Feb": DATA}, view=f' activeTab="{active}"')
    assert survey(path)[0].sheet == shown


def test_the_sheet_that_the_importer_knows_is_shown(tmp_path):
    """Its header has the importer's names."""
    path = xlsx(tmp_path / "b.xlsx", {"Sums": OTHER, "Data": DATA})
    found, _ = survey(path)
    assert (found.sheet, found.needs, found.warnings) == ("Data", ("sheet",), ())


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_hidden_sheets_are_never_picked(tmp_path, state):
    """Neither when they come first nor when they are the only ones with rows."""
    path = xlsx(tmp_path / "a.xlsx", {"Old": DATA, "Data": DATA}, states={"Old": state})
    assert survey(path)[0].sheet == "Data"
    path = xlsx(tmp_path / "b.xlsx", {"Old": DATA, "Data": EMPTY}, states={"Old": state})
    found, rows = survey(path)
    assert (found.sheet, found.needs, rows) == (None, ("sheet",), [])
    assert survey(path, sheet="Old")[0].row_count == 2


def test_a_chart_sheet_has_no_cells(tmp_path):
    """It is named but never read."""
    relations = (
        f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{OFFICE}/chartsheet" Target="chartsheets/sheet1.xml"/>'
        f'<Relationship Id="r2" Type="{OFFICE}/worksheet" Target="worksheets/sheet2.xml"/>'
        "</Relationships>"
    )
    parts = {"xl/_rels/workbook.xml.rels": relations}
    found, _ = survey(xlsx(tmp_path / "b.xlsx", {"Chart": "", "Data": DATA}, parts=parts))
    assert [(s.name, s.kind) for s in found.sheets] == [
        ("Chart", "chartsheet"),
        ("Data", "worksheet"),
    ]
    assert found.sheet == "Data"


@pytest.mark.parametrize(("xml", "code"), [(EMPTY, "empty_file"), (NOTE, "no_rows")])
def test_a_book_without_rows_is_refused(tmp_path, xml, code):
    """An empty sheet and a lonely header are told apart."""
    with pytest.raises(FileRefused) as refused:
        survey(xlsx(tmp_path / "b.xlsx", xml))
    assert refused.value.code == code


def test_two_thousand_sheets_are_named_not_read(tmp_path):
    """The list is cut off, and only the first are looked into."""
    sheets = {f"S{n}": EMPTY for n in range(2000)} | {"Data": DATA}
    with pytest.raises(FileRefused, match="empty_file"):
        survey(xlsx(tmp_path / "b.xlsx", sheets))
    found, _ = survey(xlsx(tmp_path / "b.xlsx", sheets), sheet="Data")
    assert (found.row_count, len(found.sheets)) == (2, 1000)


def test_a_sheet_that_is_looked_at_twice_counts_once(tmp_path):
    """Looking, counting and reading go over the same bytes, within one limit."""
    table = [["Code", "Name", "Qty"], *[["A-1", f"Lamp {n}", n] for n in range(2400)]]
    many = sheet_xml(rows_xml(table))
    assert 400_000 < len(many) < 500_000
    path = xlsx(tmp_path / "b.xlsx", {"Jan": many, "Feb": many})
    found, _ = survey(path, limits=Limits(max_unpacked_mib=1), fill_merged=True)
    assert [sheet.rows for sheet in found.sheets] == [2400, 2400]
