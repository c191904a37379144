"""The operator's way: caps and pauses in the admin, seen by the customer."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ADA, OPERATOR, start, upload

pytestmark = pytest.mark.django_db(transaction=True)


def change_limit(page: Page, name: str, **changes: object) -> None:
    """Open a tenant's limit in the admin, change it and save."""
    page.goto("/admin/fairimport/tenantlimit/")
    page.get_by_role("link", name=name, exact=True).click()
    for label, value in changes.items():
        field = page.get_by_label(label.title() + ":")
        if isinstance(value, bool):
            page.get_by_label(label.title(), exact=True).set_checked(value)
        else:
            field.fill(str(value))
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was changed successfully")).to_be_visible()


def test_caps_and_pauses_are_seen_by_the_customer(open_as, workers, invoice_file):
    """A lower cap drains, a pause is named with who made it, and going on goes on."""
    ada, olga = open_as(ADA), open_as(OPERATOR)
    upload(ada, invoice_file(300, "long.csv"), "SlowInvoices")
    start(ada)
    expect(ada.get_by_text("2 of 4", exact=False)).to_be_visible()
    change_limit(olga, "acme", cap=1)
    expect(ada.get_by_text("1 of 1", exact=False)).to_be_visible()
    change_limit(olga, "acme", paused=True)
    expect(ada.get_by_text("Paused by the operator (operator, since")).to_be_visible()
    expect(olga.get_by_text("by operator since")).to_be_visible()
    change_limit(olga, "acme", paused=False)
    expect(ada.get_by_text("Paused by the operator")).to_have_count(0)
    done = ada.locator("#fi-progress").get_attribute("value")
    ada.wait_for_function(f"() => document.getElementById('fi-progress').value > {done}")


def test_the_operator_pauses_an_import_and_looks_at_fairness(open_as, workers, invoice_file):
    """The same verbs as the customer, and the three numbers."""
    ada, olga = open_as(ADA), open_as(OPERATOR)
    upload(ada, invoice_file(300, "long.csv"), "SlowInvoices")
    start(ada)
    expect(ada.get_by_role("heading", name="The import is running")).to_be_visible()
    olga.goto("/admin/fairimport/importrun/")
    olga.locator("input.action-select").first.check()
    olga.locator("select[name=action]").select_option("pause")
    olga.get_by_role("button", name="Go", exact=True).click()
    expect(olga.get_by_text("1 import was told so.")).to_be_visible()
    expect(ada.get_by_role("heading", name="Paused", exact=True)).to_be_visible()
    olga.goto("/admin/fairimport/tenantlimit/fairness/")
    expect(olga.get_by_role("heading", name="Longest p99 wait for a turn")).to_be_visible()
    expect(olga.get_by_role("rowheader", name="acme")).to_be_visible()


def test_the_operator_has_no_imports_of_their_own(open_as):
    """The customers' pages say so in words."""
    olga = open_as(OPERATOR)
    olga.goto("/imports/")
    expect(olga.get_by_role("heading", name="Not for this account")).to_be_visible()
    olga.complaints.clear()  # the browser names the 403
