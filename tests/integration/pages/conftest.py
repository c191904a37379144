"""People of two companies, and runs brought to any state without a worker."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from demo_site.models import Company, Membership
from fairimport.lanes import get_lanes, lane
from fairimport.models import ImportRun
from fairimport.runs import control, finishing, intake, reading, slices, splitting
from fairimport.sheets import child, parent
from fairimport.states import State

HEADER = "Invoice no,Client,Net amount,Payable by"
GOOD = f"{HEADER}\nA-1,Hollis,10.50,2026-01-05\nA-2,Meier,11,2026-01-06\n"
MIXED = f"{GOOD}A-3,Olé,twelve,2026-01-07\nA-4,Nord,13,\n"
PASSWORD = "x"  # noqa: S105  (of people that live as long as a test)
WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "ALTER", "CREATE", "DROP")

MakeRun = Callable[..., ImportRun]


@pytest.fixture(autouse=True)
def _read_without_a_child(monkeypatch):
    """Run the reader's code in this process, which saves a third of a second a file."""
    monkeypatch.setattr(parent, "_ask", lambda asked, _seconds: child.answer(asked))


@pytest.fixture(autouse=True)
def _media(settings, tmp_path):
    """Files of a test go when it goes."""
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def person(db):
    """Make somebody who works for a company and may import."""

    def make(name: str, company: str = "acme", *, permissions: bool = True):
        user = get_user_model().objects.create_user(name, password=PASSWORD)
        if company:
            firm, _ = Company.objects.get_or_create(key=company, defaults={"name": company.title()})
            Membership.objects.create(user=user, company=firm)
        if permissions:
            user.user_permissions.set(
                Permission.objects.filter(
                    content_type__app_label="fairimport", content_type__model="importrun"
                )
            )
        return user

    return make


@pytest.fixture
def sign_in(person):
    """A browser of somebody who has signed in."""

    def make(name: str, company: str = "acme", **kwargs) -> Client:
        client = Client()
        client.force_login(person(name, company, **kwargs))
        return client

    return make


@pytest.fixture
def acme(sign_in) -> Client:
    """Ada's browser."""
    return sign_in("ada", "acme")


@pytest.fixture
def birch(sign_in) -> Client:
    """Ben's browser."""
    return sign_in("ben", "birch")


@pytest.fixture
def operator(db) -> Client:
    """The browser of the operator, who belongs to no company."""
    user = get_user_model().objects.create_superuser("olga", password=PASSWORD)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def wait(redis_server, django_capture_on_commit_callbacks):
    """Put a job into the lane of each of these tenants."""

    def put(*tenants: str) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            for tenant in tenants:
                lane(tenant).enqueue("fairimport.jobs.read", "none")
        get_lanes().route()

    return put


@pytest.fixture
def make_run(db) -> MakeRun:
    """Bring a file to a state: `make_run(MIXED, State.FINISHED)`."""

    def make(
        text: str | bytes = GOOD,
        to: State = State.FINISHED,
        *,
        tenant: str = "acme",
        importer: str = "demo_site.InvoiceLines",
        name: str = "lines.csv",
    ) -> ImportRun:
        run = intake.receive(
            tenant=tenant,
            user=None,
            importer=importer,
            upload=SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text),
            token=uuid.uuid4().hex,
        )
        bring(run, to)
        run.refresh_from_db()
        return run

    return make


def bring(run: ImportRun, to: State) -> None:
    """Do what customer and workers do, until the run is in this state."""
    if to == State.RECEIVED:
        return
    if to == State.READING:
        run.move(State.READING)
        return
    reading.read(run.pk)
    run.refresh_from_db()
    if to in (State.MAPPING, State.FAILED):
        if to == State.FAILED and run.state != to:
            finishing.fail(run.pk, "rows_gone")
        return
    control.choose(run, mapping=run.mapping, options={})
    if to == State.CHECKING:
        return
    while not splitting.split(run.pk):
        pass
    work(run)
    if to == State.READY:
        return
    control.start(run)
    if to != State.QUEUED:
        start_and_end(run, to)


def start_and_end(run: ImportRun, to: State) -> None:
    """From the queue to a state of work or an end."""
    if to == State.PAUSED:
        control.pause(run)
    elif to == State.CANCELLED:
        control.cancel(run)
    elif to == State.FINISHED:
        work(run)
    else:
        run.move(State.RUNNING)
        if to != State.RUNNING:
            run.move(to)


def work(run: ImportRun) -> None:
    """Make slices until nothing is left."""
    while slices.work(run.pk, "ticket-0") != slices.Turn.DONE:
        pass
    finishing.conclude(run.pk)
    run.refresh_from_db()


def body(answer) -> bytes:
    """All of an answer; a stream is read to its end, which closes its file."""
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


@contextmanager
def no_writes() -> Iterator[None]:
    """Fail when anything is written to the database, sessions included."""
    written: list[str] = []

    def watch(execute, sql, params, many, context):
        if sql.lstrip().upper().startswith(WRITES):
            written.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(watch):
        yield
    assert written == []
