"""The whole way of a customer, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import openpyxl
import pytest
from playwright.sync_api import Page, expect

from demo_site.models import InvoiceLine
from demo_site.samples import INVOICE_HEADER
from fairimport.models import ImportRun
from tests.browser.conftest import ADA, BEN, start, upload

pytestmark = pytest.mark.django_db(transaction=True)

MISTAKES = f"""{",".join(INVOICE_HEADER)}
M-1,Hollis,10.00,2026-01-05
M-2,Meier,11.00,2026-02-30
M-3,Olé,,2026-01-07
M-4,Nord,13.00,2026-01-08
M-1,Nord,14.00,2026-01-09
"""


@pytest.fixture
def mistakes(tmp_path) -> Path:
    """Two good rows, and three that are not."""
    path = tmp_path / "mistakes.csv"
    path.write_text(MISTAKES, encoding="utf-8")
    return path


def test_from_upload_over_mistakes_to_finished(open_as, workers, mistakes, tmp_path):
    """Upload, columns, check, import, mistakes as a workbook, corrected, all in: one import."""
    page = open_as(ADA)
    upload(page, mistakes)
    expect(page.get_by_role("heading", name="Which column is what?")).to_be_visible()
    expect(page.get_by_label("Due date")).to_have_value("4")
    page.get_by_role("button", name="Check all rows").click()
    expect(page.get_by_text("Nothing has been written yet.")).to_be_visible()
    expect(page.locator(".fi-verdict .is-good dd")).to_have_text("2")
    expect(page.locator(".fi-verdict .is-bad dd")).to_have_text("3")
    assert not InvoiceLine.objects.exists()
    page.get_by_role("button", name="Start: import 2 rows").click()
    expect(page.get_by_role("heading", name="Done: 2 rows are in, 3 were rejected")).to_be_visible()
    expect(page).to_have_title(re.compile("^Finished · mistakes.csv"))
    correct_and_send_back(page, tmp_path)
    expect(page.get_by_role("heading", name="All done: 5 rows are in")).to_be_visible()
    numbers = InvoiceLine.objects.filter(tenant="acme").values_list("number", flat=True)
    assert sorted(numbers) == ["M-1", "M-2", "M-3", "M-4", "M-5"]
    assert ImportRun.objects.count() == 1


def correct_and_send_back(page: Page, folder: Path) -> None:
    """Correct the workbook of rejected rows and upload it into the same import."""
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as Excel").click()
    path = folder / "corrected.xlsx"
    download.value.save_as(path)
    book = openpyxl.load_workbook(path)
    right = {"M-2": ("D", "2026-02-28"), "M-3": ("C", "12.00"), "M-1": ("A", "M-5")}
    for row in range(2, 5):
        column, value = right[book.active[f"A{row}"].value]
        book.active[f"{column}{row}"] = value
    book.save(path)
    page.get_by_text("Upload the corrected rows").click()
    page.get_by_label("Corrected file").set_input_files(path)
    page.get_by_role("button", name="Upload the corrected file").click()


def test_with_the_keyboard_only(open_as, workers, invoice_file):
    """Every step is reached and done with Tab, arrows, Space and Enter."""
    page = open_as(None)
    page.goto("/sign-in/")
    expect(page.get_by_label("User name")).to_be_focused()
    page.keyboard.type(ADA.username)
    page.keyboard.press("Tab")
    page.keyboard.type(ADA.password)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Hello Ada")).to_be_visible()
    press(page, "Imports")
    press(page, "Import a file")
    expect(page.get_by_role("heading", name="Import a file")).to_be_visible()
    tab_to(page, "input[type=radio]")
    choice = page.locator("input[value='demo_site.InvoiceLines']")
    page.keyboard.press("Space")
    for _ in range(page.locator("input[type=radio]").count()):
        if choice.is_checked():
            break
        page.keyboard.press("ArrowDown")
    expect(choice).to_be_checked()
    page.locator("#id_file").set_input_files(invoice_file(20))  # the system's own dialogue
    press(page, "Upload")
    expect(page.get_by_role("button", name="Check all rows")).to_be_visible()
    press(page, "Check all rows")
    expect(page.get_by_role("button", name="Start: import 20 rows")).to_be_visible()
    press(page, "Start: import 20 rows")
    expect(page.get_by_role("heading", name="All done: 20 rows are in")).to_be_visible()


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the focus is on something like this; it must be visible there."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
    raise AssertionError(f"{selector} is not reached with Tab")


def press(page: Page, name: str) -> None:
    """Reach a link or a button by its name, with a focus that can be seen, and press Enter."""
    for _ in range(60):
        page.keyboard.press("Tab")
        said = page.evaluate("() => document.activeElement.textContent.trim()")
        if said == name:
            outline = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none"
            with page.expect_navigation():
                page.keyboard.press("Enter")
            return
    raise AssertionError(f"{name!r} is not reached with Tab")


def test_without_javascript(open_as, workers, mistakes):
    """Plain forms, and pages that reload themselves."""
    page = open_as(ADA, java_script_enabled=False)
    upload(page, mistakes)
    expect(page.get_by_role("heading", name="Which column is what?")).to_be_visible()
    start(page)
    expect(page.get_by_role("heading", name="Done: 2 rows are in, 3 were rejected")).to_be_visible()
    expect(page.get_by_role("link", name="Download as Excel")).to_be_visible()


def test_a_small_import_passes_a_long_one_by(open_as, workers, invoice_file):
    """Ben's twenty rows do not wait for Ada's slow ones, and her page tells the truth meanwhile."""
    ada, ben = open_as(ADA), open_as(BEN)
    upload(ada, invoice_file(400, "long.csv"), "SlowInvoices")
    start(ada)
    expect(ada.get_by_text("2 of 4", exact=False)).to_be_visible()
    upload(ben, invoice_file(20, "short.csv"))
    start(ben)
    expect(ben.get_by_role("heading", name="All done: 20 rows are in")).to_be_visible()
    expect(ada.get_by_role("heading", name="The import is running")).to_be_visible()
    done = int(ada.locator("#fi-progress").get_attribute("value") or 0)
    assert 0 < done < 400
    ada.wait_for_function(f"() => document.getElementById('fi-progress').value > {done}")


def test_pause_resume_and_cancel(open_as, workers, invoice_file):
    """Each verb says what happens, and cancelling says what stays."""
    page = open_as(ADA)
    upload(page, invoice_file(200, "long.csv"), "SlowInvoices")
    start(page)
    expect(page.get_by_role("heading", name="The import is running")).to_be_visible()
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("heading", name="Paused", exact=True)).to_be_visible()
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(page.get_by_role("heading", name="The import is running")).to_be_visible()
    page.get_by_role("link", name="Cancel…").click()
    expect(page.get_by_role("heading", name="Cancel this import?")).to_be_visible()
    page.get_by_role("button", name="Cancel the import").click()
    expect(page.get_by_role("heading", name="Cancelled", exact=True)).to_be_visible()
    run = ImportRun.objects.get()
    said = page.locator(".fi-sum-line").inner_text()
    stays = InvoiceLine.objects.count()
    assert said.startswith(f"200 rows = {stays} created")
    assert run.state == "cancelled"
