"""Files are given back as downloads, and their content can do nothing."""

from __future__ import annotations

import csv
import io

import openpyxl
import pytest
from django.urls import reverse

from fairimport.states import State
from tests.integration.pages.conftest import GOOD, HEADER, MIXED, body

pytestmark = [pytest.mark.django_db]


def get(client, run, form: str):
    """The file of rejected rows."""
    return client.get(reverse("fairimport:rejected", args=[run.pk, form]))


@pytest.mark.parametrize("form", ["xlsx", "csv"])
def test_rejected_rows_are_an_attachment(acme, make_run, settings, form):
    """Never shown inline, never sniffed (whatever the host's middleware does), never cached."""
    settings.SECURE_CONTENT_TYPE_NOSNIFF = False
    answer = get(acme, make_run(MIXED), form)
    body(answer)
    assert answer.headers["Content-Disposition"].startswith("attachment;")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in answer.headers["Cache-Control"]
    assert f".{form}" in answer.headers["Content-Disposition"]


def test_the_workbook_has_the_customers_columns_and_reasons(acme, make_run):
    """Own columns in their order, then the row's number and why."""
    book = openpyxl.load_workbook(io.BytesIO(body(get(acme, make_run(MIXED), "xlsx"))))
    rows = [[cell.value for cell in row] for row in book.active]
    assert rows[0][:4] == HEADER.split(",")
    assert [row[4] for row in rows[1:]] == [4, 5]
    assert "Net amount: “twelve” is not a number." in rows[1][5]


def test_the_csv_has_the_same(acme, make_run):
    """For those who have no workbook program."""
    text = body(get(acme, make_run(MIXED), "csv")).decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0][:4] == HEADER.split(",")
    assert [row[4] for row in rows[1:]] == ["4", "5"]


def test_the_csv_keeps_the_files_delimiter(acme, make_run):
    """A file with semicolons comes back with semicolons."""
    run = make_run(MIXED.replace(",", ";"))
    assert b'"Invoice no";"Client"' in body(get(acme, run, "csv"))


@pytest.mark.parametrize("form", ["xlsx", "csv"])
def test_cells_cannot_calculate(acme, make_run, form):
    """A cell that looks like a formula comes back as text."""
    run = make_run(f'{HEADER}\nA-1,"=1+2"";=1+2",x,2026-01-05\n')
    content = body(get(acme, run, form))
    if form == "csv":
        assert b"\"'=1+2" in content
    else:
        cell = openpyxl.load_workbook(io.BytesIO(content)).active["B2"]
        assert (cell.data_type, cell.value) == ("s", '=1+2";=1+2')


def test_an_example_file_can_be_imported_as_it_is(acme, make_run):
    """Its headers are those that the importer looks for, and its row is a good one."""
    answer = acme.get("/imports/example/demo_site.InvoiceLines.csv")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="Invoice lines.csv"'
    run = make_run(answer.content, State.FINISHED)
    assert (run.state, run.total) == (State.FINISHED, 1)
    assert not run.rejected_rows.exists()


def test_there_is_no_example_of_nothing(acme, operator):
    """An importer that is not there, and somebody who may not import."""
    assert acme.get("/imports/example/demo_site.Nothing.csv").status_code == 404
    assert operator.get("/imports/example/demo_site.InvoiceLines.csv").status_code == 403


@pytest.mark.parametrize("form", ["xlsx", "csv"])
def test_no_rejected_rows_are_no_file(acme, make_run, form):
    """An old link to a file that is not there is a 404."""
    assert get(acme, make_run(GOOD), form).status_code == 404


def test_the_source_comes_back_as_it_was(acme, make_run):
    """Byte for byte, as a download of no particular kind."""
    run = make_run("<script>alert(1)</script>,b\n1,2\n", State.MAPPING, name="page.html")
    answer = acme.get(reverse("fairimport:source", args=[run.pk]))
    assert body(answer) == b"<script>alert(1)</script>,b\n1,2\n"
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="page.html"'


def test_a_source_that_is_gone_is_a_404(acme, make_run):
    """Purged, or lost by the storage."""
    run = make_run(GOOD, State.MAPPING)
    run.source = ""
    run.save(update_fields=["source"])
    assert acme.get(reverse("fairimport:source", args=[run.pk])).status_code == 404


@pytest.mark.parametrize(
    "name", ['a"b\\c.csv', "Größe – März.csv", "a\u202eb.csv", "semi;colon.csv"]
)
def test_any_name_makes_a_header(acme, make_run, name):
    """Quotes, accents and signs of other scripts neither break the header nor leave it."""
    answer = get(acme, make_run(MIXED, name=name), "csv")
    body(answer)
    assert answer.headers["Content-Disposition"].startswith("attachment; filename")
    assert "\u202e" not in answer.headers["Content-Disposition"]
