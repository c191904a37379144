"""How the pages behave: asking again, speaking, keeping the focus, dropping files."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ADA, start, upload

pytestmark = pytest.mark.django_db(transaction=True)

DROP = """
([name, text]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], name, { type: "text/csv" }));
  const zone = document.querySelector(".fi-drop");
  for (const type of ["dragenter", "dragover", "drop"]) {
    zone.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true }));
  }
}
"""


@pytest.fixture
def running(open_as, workers, invoice_file):
    """Ada's page of a slow import that runs."""
    page = open_as(ADA)
    upload(page, invoice_file(60, "slow.csv"), "SlowInvoices")
    start(page)
    expect(page.get_by_role("heading", name="The import is running")).to_be_visible()
    return page


def test_a_running_page_speaks_counts_and_ends(running):
    """Milestones are spoken, the title counts, the focus stays, and asking stops at the end."""
    page = running
    pause = page.get_by_role("button", name="Pause", exact=True)
    pause.focus()
    page.evaluate("() => { document.activeElement.mark = 'the same element' }")
    expect(page).to_have_title(re.compile(r"^[1-9]\d? % · slow.csv"))
    assert page.evaluate("() => document.activeElement.mark") == "the same element"
    expect(page.locator("#fi-announcer")).to_contain_text(re.compile(r"of 60 rows done"))
    expect(page.get_by_role("heading", name="All done: 60 rows are in")).to_be_visible()
    expect(page.locator("#fi-announcer")).to_have_text("Finished.")
    expect(page.locator("#fi-poll")).to_have_count(0)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(2500)
    assert asked == []


def test_a_site_that_does_not_answer_is_said_to(running):
    """The last known numbers stay, with a note that goes away by itself."""
    page = running
    page.route("**/fragment/", lambda route: route.fulfill(status=503, body="busy"))
    note = page.get_by_text("The site does not answer just now.")
    expect(note).to_be_visible()
    expect(page.get_by_role("heading", name="The import is running")).to_be_visible()
    page.unroute("**/fragment/")
    expect(note).to_be_hidden()
    page.complaints.clear()  # the browser names each 503


def test_a_session_that_ends_leads_to_the_sign_in_page(running):
    """Not a sign-in form inside the page, and back to the run afterwards."""
    page = running
    address = page.url
    page.context.clear_cookies()
    expect(page.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()
    page.get_by_role("button", name="Sign in as Ada").click()
    expect(page).to_have_url(address)


def test_a_file_is_dropped(open_as, workers):
    """Drag and drop does the same as choosing."""
    page = open_as(ADA)
    page.goto("/imports/new/?importer=demo_site.Contacts")
    page.evaluate(DROP, ["people.csv", "mail,full name\nada@example.com,Ada\n"])
    expect(page.locator("[data-chosen]")).to_have_text("1 KB")
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("heading", name="people.csv")).to_be_visible()
    expect(page.get_by_label("E-mail")).to_have_value("1")


def test_a_file_that_is_too_large_is_named_before_it_is_sent(open_as, settings, tmp_path):
    """Nobody waits for an upload that is refused afterwards."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "MAX_UPLOAD_MIB": 1}
    path = tmp_path / "large.csv"
    path.write_bytes(b"a,b\n" * 300_000)
    page = open_as(ADA)
    page.goto("/imports/new/?importer=demo_site.Contacts")
    page.locator("#id_file").set_input_files(path)
    expect(page.locator("[data-chosen]")).to_contain_text("larger than the allowed 1 MB")


def test_a_double_click_on_start_is_one_start(open_as, workers, invoice_file):
    """Two clicks as fast as they come: the import starts once, and nothing complains."""
    page = open_as(ADA)
    upload(page, invoice_file(20))
    page.get_by_role("button", name="Check all rows").click()
    page.get_by_role("button", name="Start: import 20 rows").dblclick()
    expect(page.get_by_role("heading", name="All done: 20 rows are in")).to_be_visible()


def test_another_column_shows_its_samples(open_as, workers, invoice_file):
    """The choice and what is in it stand side by side."""
    page = open_as(ADA)
    upload(page, invoice_file(3))
    page.get_by_label("Customer").select_option("1")
    expect(page.locator("#fi-samples-customer")).to_contain_text("T-00001")


def test_pages_fit_their_window(open_as, workers, invoice_file):
    """No page is wider than the window, on a phone neither; the policy lets nothing inline in."""
    name = "a-very-long-name-of-a-file-that-somebody-exported-in-2026.csv"
    page = open_as(ADA, width=390, color_scheme="dark")
    for address in ("/", "/imports/", "/imports/new/", "/records/"):
        assert overflow(page, address) == 0
    upload(page, invoice_file(5, name))
    for button in ("Check all rows", "Start: import 5 rows"):
        expect(page.get_by_role("button", name=button)).to_be_visible()
        assert overflow(page) == 0
        page.get_by_role("button", name=button).click()
    expect(page.get_by_role("heading", name="All done: 5 rows are in")).to_be_visible()
    for width in (320, 390, 768, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert overflow(page) == 0


def overflow(page: Page, address: str = "") -> int:
    """By how many pixels the page is wider than its window."""
    if address:
        page.goto(address)
    wider: int = page.evaluate(
        "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return wider
