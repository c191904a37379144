"""What other programs' writers wrote is read back: an independent opinion on every cell."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import openpyxl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl.utils.exceptions import IllegalCharacterError

from fairimport.sheets.cells import Cell, Formula, Moment, Number, is_blank
from tests.sheetfiles import survey

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
MOMENTS = st.datetimes(datetime(1900, 3, 1), datetime(9999, 1, 1))  # noqa: DTZ001
VALUES = st.one_of(
    st.none(),
    TEXTS,
    st.booleans(),
    st.integers(-(10**14), 10**14),
    st.floats(-1e8, 1e8, allow_subnormal=False).map(lambda number: round(number, 6)),
    st.dates(date(1900, 3, 1), date(9999, 12, 31)),
    MOMENTS.map(lambda moment: moment.replace(microsecond=0)),
    st.times().map(lambda t: t.replace(microsecond=0)),
    st.integers(0, 10**6).map(lambda seconds: timedelta(seconds=seconds)),
)


def as_read(value: object) -> Cell:
    """The cell that a value becomes in a workbook."""
    match value:
        case str() if value.startswith("=") and len(value) > 1:
            return Formula(value)
        case datetime():
            return Moment("datetime", value.isoformat(), "")
        case date():
            return Moment("date", f"{value.isoformat()}T00:00:00", "")
        case time():
            return Moment("time", value.isoformat(), "")
        case timedelta():
            hours, rest = divmod(int(value.total_seconds()), 3600)
            return Moment("duration", f"{hours:02d}:{rest // 60:02d}:{rest % 60:02d}", "")
        case float() if value.is_integer():
            return int(value)
    return value or None if isinstance(value, str) else value


def without_raw(cell: Cell) -> Cell:
    """The cell without the number that stands in the file, and whole floats as integers."""
    match cell:
        case Moment():
            return Moment(cell.kind, cell.iso, "")
        case float() if cell.is_integer():
            return int(cell)
        case Number():
            return int(float(cell.raw))
    return cell


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.lists(VALUES, min_size=3, max_size=3), min_size=1, max_size=6))
def test_what_openpyxl_wrote_is_read_back(tmp_path, table):
    """Texts, numbers, booleans, dates, times and durations, in its own XML."""
    book = openpyxl.Workbook()
    try:
        for line in [["Code", "Name", "Qty"], ["x", "y", 1], *table]:
            book.active.append(line)
    except IllegalCharacterError:
        return
    path = tmp_path / "book.xlsx"
    book.save(path)
    _, rows = survey(path)
    wanted = {n: [as_read(v) for v in line] for n, line in enumerate(table, 3)}
    wanted = {n: line for n, line in wanted.items() if not is_blank(line)}
    found = {row.number: [without_raw(row.cell(p)) for p in (1, 2, 3)] for row in rows}
    assert found.pop(2) == ["x", "y", 1]
    assert found == wanted
