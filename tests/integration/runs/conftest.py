"""Runs made from a few lines of csv, and worked through without any worker."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from fairimport.models import ImportRun
from fairimport.progress import OUTCOMES
from fairimport.runs import control, finishing, intake, reading, slices, splitting
from fairimport.sheets import child, parent
from fairimport.states import State
from tests.warehouse.models import Movement

MakeRun = Callable[..., ImportRun]


def csv_of(rows: int, **names: str) -> str:
    """A file of so many rows; `r3="die"` names the third one so."""
    lines = [f"c{n},{names.get(f'r{n}', '')},{n}" for n in range(1, rows + 1)]
    return "\n".join(["code,name,qty", *lines])


@pytest.fixture(autouse=True)
def _read_without_a_child(request, monkeypatch):
    """Run the reader's code in this process, which saves a third of a second a file."""
    if "real_reader" not in request.fixturenames:
        monkeypatch.setattr(parent, "_ask", lambda asked, _seconds: child.answer(asked))


@pytest.fixture
def real_reader() -> None:
    """Read in a child process, as workers do."""


@pytest.fixture
def receive(db) -> MakeRun:
    """Upload a csv text for a tenant."""

    def make(text="", *, tenant="acme", importer="Movements", token="", name="moves.csv"):
        return intake.receive(
            tenant=tenant,
            user=None,
            importer=f"warehouse.{importer}",
            upload=SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text),
            token=token or uuid.uuid4().hex,
        )

    return make


@pytest.fixture
def read(receive) -> MakeRun:
    """Upload and read a csv text."""

    def make(text="", **kwargs):
        run = receive(text, **kwargs)
        reading.read(run.pk)
        run.refresh_from_db()
        return run

    return make


@pytest.fixture
def checking(read) -> MakeRun:
    """Upload, read and split a csv text."""

    def make(text="", *, options=None, **kwargs):
        run = read(text, **kwargs)
        control.choose(run, mapping=run.mapping, options=options or {})
        assert run.state == State.CHECKING, run.questions
        while not splitting.split(run.pk):
            pass
        run.refresh_from_db()
        return run

    return make


@pytest.fixture
def ready(checking) -> MakeRun:
    """Upload, read, split and check a csv text."""

    def make(text="", **kwargs):
        return work(checking(text, **kwargs))

    return make


@pytest.fixture
def started(ready) -> MakeRun:
    """A run that waits for its first slice."""

    def make(text="", **kwargs):
        run = ready(text, **kwargs)
        assert run.state == State.READY, (run.state, run.error_code)
        control.start(run)
        return run

    return make


def work(run: ImportRun, *, most: int = 1000, ticket: str = "ticket-0") -> ImportRun:
    """Make slices until there is nothing more to do; the run as it is then."""
    for _ in range(most):
        if slices.work(run.pk, ticket) == slices.Turn.DONE:
            break
    finishing.conclude(run.pk)
    run.refresh_from_db()
    return run


def moved(tenant: str = "acme") -> list[str]:
    """The codes that rows of a tenant wrote, sorted; a row done twice is in it twice."""
    return sorted(Movement.objects.filter(tenant=tenant).values_list("code", flat=True))


def outcomes(run: ImportRun) -> dict[str, int]:
    """The counts of the run's chunks that are not zero."""
    sums = {name: sum(run.chunks.values_list(name, flat=True)) for name in OUTCOMES}
    return {name: n for name, n in sums.items() if n}
