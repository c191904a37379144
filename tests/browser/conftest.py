"""A real Chromium against the demo site, with real workers and a Redis of our own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from demo_site.accounts import COMPANIES, OPERATOR, Account
from demo_site.management.commands.demo_setup import add_member, add_operator
from demo_site.samples import INVOICE_HEADER, invoices
from tests.fairworkers import FairWorkers

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]
PATIENCE_MS = 30_000  # the machine may be busy with other suites
ADA, BEN, _CLEO = COMPANIES


def chromium() -> str | None:
    """Where a Chromium is, if there is one."""
    named = os.environ.get("CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests; without one they are skipped by name."""
    path = chromium()
    if path is None:
        pytest.skip("no Chromium on this machine")
    expect.set_options(timeout=PATIENCE_MS)
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # playwright's loop runs in this thread
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def site(live_server, redis_server, settings, tmp_path) -> str:
    """The demo site with its people; the address to begin at."""
    settings.DEBUG = False
    for account in COMPANIES:
        add_member(account)
    add_operator()
    return live_server.url


@pytest.fixture
def workers(site, fairworkers) -> FairWorkers:
    """Two workers on the site's lanes."""
    fairworkers(1, "--workers", "2")
    return fairworkers


OpenAs = Callable[..., Page]


@pytest.fixture
def open_as(browser, site) -> Iterator[OpenAs]:
    """Sign somebody in, in a window of their own; a page that complains fails the test."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def make(account: Account | None, *, width: int = 1280, **options) -> Page:
        context = browser.new_context(
            base_url=site, viewport={"width": width, "height": 900}, **options
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
        page.complaints = complaints
        if account:
            sign_in(page, account)
        return page

    yield make
    for context in contexts:
        context.close()
    assert complaints == []


def sign_in(page: Page, account: Account) -> None:
    """Fill in the sign-in form."""
    page.goto("/sign-in/")
    page.get_by_label("User name").fill(account.username)
    page.get_by_label("Password").fill(account.password)
    page.get_by_role("button", name="Sign in", exact=True).first.click()
    expect(page.get_by_role("heading", name=f"Hello {account.first_name}")).to_be_visible()


def upload(page: Page, path: Path, kind: str = "InvoiceLines") -> None:
    """Upload a file by its form."""
    page.goto(f"/imports/new/?importer=demo_site.{kind}")
    page.locator("#id_file").set_input_files(path)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("heading", name=path.name)).to_be_visible()


def start(page: Page) -> None:
    """From the columns over the check to Start."""
    page.get_by_role("button", name="Check all rows").click()
    page.get_by_role("button", name="Start: import").click()


@pytest.fixture
def invoice_file(tmp_path) -> Callable[[int], Path]:
    """Make a file of so many good invoice lines."""

    def make(rows: int, name: str = "lines.csv") -> Path:
        lines = [",".join(INVOICE_HEADER)]
        for number, customer, amount, due in invoices(rows, "T"):
            lines.append(f"{number},{customer},{amount:.2f},{due}")
        path = tmp_path / name
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return make


__all__ = ["ADA", "BEN", "OPERATOR", "sign_in", "start", "upload"]
