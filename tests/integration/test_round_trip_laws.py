"""Whatever cells a file held, its failed-rows file says the same: tried with random ones."""

import tempfile
from datetime import date, datetime, time, timedelta
from pathlib import Path

import pytest
from django import forms
from hypothesis import given, settings
from hypothesis import strategies as st

from fairimport.importers import Column, Importer
from fairimport.runs.binding import bind, guess
from fairimport.runs.preview import Trial
from fairimport.sheets import ColumnFacts, SheetRow, Survey, normal_form
from fairimport.sheets.cells import CellError, Formula, Moment, Number, letter
from tests.round_trip import come_back, headers_of, judge, write


class Everything(Importer):
    """A column of each kind, all of them optional."""

    text = Column(forms.CharField(required=False, strip=False))
    whole = Column(forms.IntegerField(required=False))
    amount = Column(forms.DecimalField(required=False, max_digits=12, decimal_places=2))
    exact = Column(forms.DecimalField(required=False))
    active = Column(forms.BooleanField(required=False))
    day = Column(forms.DateField(required=False))
    moment = Column(forms.DateTimeField(required=False))
    start = Column(forms.TimeField(required=False))
    worked = Column(forms.DurationField(required=False))


NAMES = list(Everything.columns)
SURVEY = Survey(
    format="xlsx",
    columns=tuple(
        ColumnFacts(position=n, letter=letter(n), header=name, label=name, match=normal_form(name))
        for n, name in enumerate(NAMES, 1)
    ),
)
MEANT = [
    "=1+1",
    "+49 30",
    "-5",
    "@x",
    "'x",
    "'=x",
    "00420",
    "#N/A",
    "_x000D_",
    "1E+5",
    "1,5",
    "1.5",
]
MEANT += [
    "2026-12-31",
    "31/12/2026",
    "08:30",
    "26:15:00",
    "yes",
    "NO",
    "12 %",
    "(3)",
    "4-",
    "»",
    "",
]
texts = st.one_of(
    st.sampled_from(MEANT),
    st.text(st.characters(blacklist_characters="\r"), max_size=12),
    st.text("0123456789.,-+E'%€/: ", max_size=9),
)
days = st.datetimes(datetime(1900, 1, 1), datetime(9999, 12, 31)).map(  # noqa: DTZ001
    lambda moment: moment.replace(microsecond=0)
)
moments = st.one_of(
    days.map(lambda m: Moment("date", m.replace(hour=0, minute=0, second=0).isoformat(), "1")),
    days.map(lambda m: Moment("datetime", m.isoformat(), "1.5")),
    st.times().map(lambda t: Moment("time", t.replace(microsecond=0).isoformat(), "0.5")),
    st.timedeltas(timedelta(), timedelta(days=900)).map(
        lambda d: Moment(
            "duration", f"{d // timedelta(hours=1):02}:{d.seconds // 60 % 60:02}:00", "1"
        )
    ),
    st.sampled_from(
        [Moment("date", "", "60"), Moment("date", "", "-1"), Moment("date", "", "3E6")]
    ),
)
numbers = st.one_of(
    st.integers(-(10**14), 10**14),
    st.floats(-1e14, 1e14, allow_nan=False),
    st.sampled_from([0.1 + 0.2, 2.675, 1e-7, 423.0, 45382, 45382.75, 0.5]),
    st.sampled_from([Number("9007199254740993"), Number("1E+20"), Number("421", "00421")]),
)
cells = st.one_of(
    st.none(),
    texts,
    numbers,
    moments,
    st.booleans(),
    st.sampled_from([CellError("#N/A"), CellError("#DIV/0!"), Formula("=5*5")]),
)
sheets = st.lists(st.lists(cells, min_size=len(NAMES), max_size=len(NAMES)), min_size=1, max_size=5)
options = st.fixed_dictionaries(
    {},
    optional={
        "decimal": st.sampled_from([".", ","]),
        "date_order": st.sampled_from(["DMY", "MDY"]),
    },
)


@pytest.mark.parametrize("form", ["xlsx", "csv"])
@settings(max_examples=100, deadline=None)
@given(rows=sheets, chosen=options)
def test_any_cells_come_back_as_they_were(form, rows, chosen):
    """Typed values are the same, and what was refused is refused again."""
    trial = Trial(options=chosen)
    importer = Everything()
    binding = bind(importer, SURVEY, guess(importer, SURVEY), chosen, trial)
    found = [SheetRow(number, tuple(row)) for number, row in enumerate(rows, 2)]
    first = judge(binding, found)
    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder) / f"again.{form}"
        write(form, again, headers_of(SURVEY), found, binding)
        assert judge(binding, come_back(again, binding, trial)) == first


def test_the_laws_meet_rows_of_both_sorts():
    """The importer of the laws takes what is right and refuses what is not."""
    importer = Everything()
    binding = bind(importer, SURVEY, guess(importer, SURVEY), {}, Trial())
    good = SheetRow(2, ("a", 1, 1.5, 0.3, True, "2026-12-31", "2026-12-31 08:30", "08:30", "26:15"))
    (row,) = binding.clean_all([good])
    assert row["day"] == date(2026, 12, 31)
    assert row["start"] == time(8, 30)
    assert row["worked"] == timedelta(hours=26, minutes=15)
    assert judge(binding, [SheetRow(3, ("", "x"))]) == {3: "refused"}
