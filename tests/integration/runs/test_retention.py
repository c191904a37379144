"""Files and rows are dropped after `KEEP_DAYS`; the run itself stays as a record."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest
from django.utils import timezone

from fairimport.models import Chunk, ImportRun, KeyIndex, RejectedRow
from fairimport.runs import files, retention
from fairimport.states import State
from tests.integration.runs.conftest import csv_of, outcomes, work
from tests.integration.runs.test_intake import stored_files

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _days(settings):
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "KEEP_DAYS": 30}


def age(run: ImportRun, days: int) -> None:
    past = timezone.now() - timedelta(days=days)
    ImportRun.objects.filter(pk=run.pk).update(
        finished_at=past if run.has_ended else None, state_changed_at=past
    )


def test_an_old_run_keeps_its_counts_and_loses_its_data(
    started, django_capture_on_commit_callbacks
):
    """No file, no cell, no sample; who imported what, and how it went, stays."""
    run = work(started(csv_of(5, r2="raise")))
    source = run.source
    age(run, 31)
    with django_capture_on_commit_callbacks(execute=True):
        assert retention.purge() == 1
    run.refresh_from_db()
    assert outcomes(run) == {"created": 4, "rejected": 1}
    assert run.source == ""
    assert source not in stored_files()
    assert not RejectedRow.objects.exists()
    assert not KeyIndex.objects.exists()
    assert "sample" not in run.facts
    assert not any(column["samples"] for column in run.facts["columns"])
    assert not run.can("retry")
    assert retention.purge() == 0


def test_a_young_run_is_kept(started):
    """Thirty days are thirty days."""
    run = work(started(csv_of(2)))
    age(run, 29)
    assert retention.purge() == 0
    with files.local(run.source) as path:
        assert path.exists()


@pytest.mark.parametrize("state", [State.MAPPING, State.READY])
def test_a_run_that_nobody_came_back_to_is_cancelled(ready, state):
    """It would wait for ever, with its file."""
    run = ready(csv_of(2))
    ImportRun.objects.filter(pk=run.pk).update(state=state)
    age(run, 31)
    assert retention.purge() == 1
    run.refresh_from_db()
    assert run.state == State.CANCELLED
    assert not Chunk.objects.exclude(payload=None).exists()


def test_a_purge_is_done_in_small_steps(started):
    """The worker that does it is not kept from its lanes."""
    for _ in range(3):
        age(work(started(csv_of(1))), 31)
    assert retention.purge(most=2) == 2
    assert retention.purge(most=2) == 1


def test_a_file_that_no_run_knows_is_swept(started):
    """Its process died between storing it and making the run."""
    run = started(csv_of(2))
    with files.local(run.source) as path:
        orphan, young = path.with_name("orphan.upload"), path.with_name("young.upload")
    for lost in (orphan, young):
        lost.write_bytes(b"x")
    past = (timezone.now() - timedelta(days=2)).timestamp()
    for old in (orphan, path):
        os.utime(old, (past, past))
    assert retention.sweep() == 1
    assert (orphan.exists(), young.exists(), path.exists()) == (False, True, True)
    young.unlink()
