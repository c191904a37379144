"""The failed-rows file comes back into the same run."""

from __future__ import annotations

import io

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from fairimport.errors import FileRefused, IllegalMove
from fairimport.runs import correcting, intake
from fairimport.sheets import Survey, decode
from fairimport.sheets.writing import rejected_csv, rejected_xlsx
from fairimport.states import State
from tests.integration.runs.conftest import csv_of, moved, outcomes, work

pytestmark = pytest.mark.django_db
TEXT = "code,name,qty\na,,1\nb,,many\nc,,3\n,,4\na,,5\n"


def failed_rows(run) -> tuple[list[str], list]:
    rows = [(decode(bytes(r.cells)), ["why"]) for r in run.rejected_rows.order_by("number")]
    return [c.header for c in Survey.from_json(run.facts).columns], rows


def as_csv(run, *changes: tuple[str, str]) -> bytes:
    """The failed-rows file of a run with some texts replaced."""
    text = b"".join(rejected_csv(*failed_rows(run))).decode()
    for old, new in changes:
        text = text.replace(old, new)
    return text.encode()


def upload(content: bytes, name="failed.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def give_back(run, content: bytes, token="back", name="failed.csv"):
    """Upload a corrected file and do the job that reads it."""
    intake.receive_corrected(run, upload(content, name), token)
    correcting.correct(run.pk)
    return work(run)


def test_corrected_rows_continue_the_same_run(started):
    """Only rejected rows are tried; those that are right are written, the sum stays the total."""
    run = work(started(TEXT))
    assert outcomes(run) == {"created": 2, "rejected": 3}
    run = give_back(run, as_csv(run, ('"many"', '"2"'), ('"","","4"', '"d","","4"')))
    assert run.state == State.FINISHED
    assert outcomes(run) == {"created": 4, "rejected": 1}
    assert moved() == ["a", "b", "c", "d"]
    assert run.correction["rows"] == 3
    assert run.rejected_rows.get().reasons[0]["code"] == "duplicate_in_file"


def test_a_workbook_comes_back_too(started):
    """The xlsx form of the file, corrected in a spreadsheet program."""
    run = work(started(TEXT))
    book = io.BytesIO()
    rejected_xlsx(book, *failed_rows(run))
    opened = openpyxl.load_workbook(book)
    for row in opened.active.iter_rows():
        if row[2].value == "many":
            row[2].value = 2
    opened.save(book := io.BytesIO())
    run = give_back(run, book.getvalue(), name="failed.xlsx")
    assert outcomes(run) == {"created": 3, "rejected": 2}


def test_a_good_row_in_the_corrected_file_is_left_alone(started):
    """It is counted, and its record is not touched."""
    run = work(started(TEXT))
    content = as_csv(run) + b'"a","","99","2",""\r\n'
    run = give_back(run, content)
    assert run.correction["left_alone"] == 1
    assert outcomes(run) == {"created": 2, "rejected": 3}


def test_a_corrected_key_may_not_be_that_of_another_row(started):
    """A duplicate that is made while correcting is found, and names its twin."""
    run = work(started(TEXT))
    run = give_back(run, as_csv(run, ('"b","","many"', '"c","","2"')))
    codes = {r.number: r.reasons[0]["code"] for r in run.rejected_rows.all()}
    assert codes[3] == "duplicate_in_file"


def test_a_key_that_was_corrected_away_is_free(started):
    """The rejected row's old key does not make its twin a duplicate."""
    run = work(started("code,name,qty\na,,x\na,,2\n"))
    assert outcomes(run) == {"rejected": 2}
    run = give_back(run, as_csv(run, ('"a","","x"', '"b","","1"')))
    assert outcomes(run) == {"created": 2}
    assert moved() == ["a", "b"]


def test_the_same_corrected_file_sent_twice_counts_once(started):
    """The form's token makes a double click harmless."""
    run = work(started(TEXT))
    content = as_csv(run, ('"many"', '"2"'))
    run = give_back(run, content, token="once")
    before = outcomes(run)
    run = give_back(run, content, token="once")
    assert outcomes(run) == before


@pytest.mark.parametrize("content", [csv_of(3).encode(), b"a,b\n1,2\n", b"\x89PNG\r\n\x1a\n" * 9])
def test_another_file_is_refused_and_the_run_stays_finished(started, content):
    """The run says why, and nothing has changed."""
    run = work(started(TEXT))
    run = give_back(run, content)
    assert run.state == State.FINISHED
    assert run.correction["code"]
    assert outcomes(run) == {"created": 2, "rejected": 3}


def test_an_empty_corrected_file_changes_nothing(started):
    """It is refused at the door."""
    run = work(started(TEXT))
    with pytest.raises(FileRefused):
        intake.receive_corrected(run, upload(b""), "t")
    run.refresh_from_db()
    assert run.state == State.FINISHED


def test_a_running_run_takes_no_correction(started):
    """Only a finished run has its rejected rows complete."""
    run = started(TEXT)
    with pytest.raises(IllegalMove):
        intake.receive_corrected(run, upload(b"x"), "t")
