"""The way of a file through a run, one step after another, without any worker."""

from __future__ import annotations

import pytest
from django.utils import translation

from fairimport.importers import Outcome, registry
from fairimport.models import Chunk, ImportRun, RejectedRow
from fairimport.runs import checking as checks
from fairimport.runs import control, files, finishing, reading, session, slices, splitting
from fairimport.signals import run_moved
from fairimport.states import State
from tests.integration.runs.conftest import csv_of, moved, outcomes, work
from tests.warehouse.importers import Movements

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def test_an_upload_is_read_checked_started_and_finished(real_reader, started):
    """Each row ends in one outcome and is written once."""
    run = work(started(csv_of(50)))
    assert run.state == State.FINISHED
    assert outcomes(run) == {"created": 50}
    assert moved() == sorted(f"c{n}" for n in range(1, 51))
    assert run.started_at
    assert run.finished_at >= run.started_at
    assert run.row_seconds > 0


def test_bad_rows_come_back_and_good_ones_land(started):
    """A wrong number, an empty required cell and a duplicate key give three rejected rows."""
    run = work(started("code,name,qty\na,,1\nb,,many\n,,3\na,,4\ne,,5\n"))
    assert outcomes(run) == {"created": 2, "rejected": 3}
    rejected = {r.number: r.reasons[0] for r in RejectedRow.objects.filter(run=run)}
    assert {n: (r["field"], r["code"]) for n, r in rejected.items()} == {
        3: ("qty", "not_an_integer"),
        4: ("code", "required"),
        5: ("code", "duplicate_in_file"),
    }
    assert all(reason["message"] for reason in rejected.values())


def test_the_check_writes_nothing_and_counts_by_cause(ready):
    """After the check the customer knows what will happen, and nothing has happened."""
    run = ready("code,name,qty\na,,1\nb,,x\nc,,y\n,,1\nd,refuse,1\n")
    assert run.state == State.READY
    assert moved() == []
    assert not RejectedRow.objects.exists()
    found = checks.summary(run)
    assert (found["good"], found["bad"]) == (1, 4)
    causes = [(c["code"], c["field"], c["count"], c["first_row"]) for c in found["by_cause"]]
    assert causes == [
        ("not_an_integer", "qty", 2, 3),
        ("required", "code", 1, 5),
        ("not_moved", "name", 1, 6),
    ]


def test_the_import_refuses_what_the_check_refused(ready):
    """The two passes run the same code over the same rows."""
    run = ready("code,name,qty\na,,1\nb,,x\nc,refuse,1\n")
    control.start(run)
    run = work(run)
    assert outcomes(run) == {"created": 1, "rejected": checks.summary(run)["bad"]}


def test_every_answer_of_an_importer_is_an_outcome(started):
    """Created, updated, unchanged and skipped are counted apart, and add up."""
    names = {"r1": "update", "r2": "same", "r3": "skip", "r4": "raise", "r5": "integrity"}
    run = work(started(csv_of(8, **names)))
    assert outcomes(run) == {
        "created": 3,
        "updated": 1,
        "unchanged": 1,
        "skipped": 1,
        "rejected": 2,
    }
    codes = {r.number: r.reasons[0]["code"] for r in run.rejected_rows.all()}
    assert codes == {5: "importer_error", 6: "not_saved"}


def test_a_row_that_raises_leaves_no_half_of_itself(started):
    """Each row has a savepoint of its own."""
    work(started(csv_of(5, r3="raise")))
    assert moved() == ["c1", "c2", "c4", "c5"]


def test_what_an_importer_raises_is_never_shown_or_logged(started, caplog):
    """Texts of errors hold somebody's data; the log names class and place."""
    run = work(started(csv_of(3, r2="raise")))
    assert "secret" not in caplog.text
    assert "RuntimeError" in caplog.text
    assert "secret" not in str(run.rejected_rows.get().reasons)


def test_bulk_writing_falls_back_to_single_rows(started):
    """When rows that are written together fail, each is tried alone, so errors keep their row."""
    run = work(started(csv_of(30, r7="raise"), importer="BulkMovements"))
    assert outcomes(run) == {"created": 29, "rejected": 1}
    assert run.rejected_rows.get().number == 8
    assert moved() == sorted(f"c{n}" for n in range(1, 31) if n != 7)


def test_a_file_without_rows_fails_at_once(read):
    """It never waits at zero per cent."""
    run = read("code,name,qty\n")
    assert (run.state, run.error_code) == (State.FAILED, "no_rows")


def test_a_file_that_is_none_fails_with_its_code(read):
    """The customer gets one clear reason; nobody else is touched."""
    run = read(b"\x89PNG\r\n\x1a\n" + bytes(200), name="picture.xlsx")
    assert run.state == State.FAILED
    assert run.error_code in ("not_a_spreadsheet", "binary_content")


def test_a_file_that_is_gone_fails_its_run(receive):
    """Deleted before it was read: no crash loop."""
    run = receive(csv_of(3))
    files.delete(run.source)
    reading.read(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error_code) == (State.FAILED, "file_gone")


def test_a_spool_that_is_gone_fails_its_run(read):
    """Deleted between reading and splitting."""
    run = read(csv_of(3))
    files.delete(run.spool)
    control.choose(run, mapping=run.mapping, options={})
    splitting.split(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error_code) == (State.FAILED, "file_gone")


@pytest.mark.parametrize("cut", [0.5, 0.97])
def test_a_spool_that_is_cut_fails_its_run(read, cut):
    """Truncated within a row or between rows: what was counted is not there."""
    run = read(csv_of(40))
    with files.local(run.spool) as path:
        content = path.read_bytes()
        at = content.rindex(b"\n", 0, -1) + 1 if cut > 0.9 else int(len(content) * cut)
        path.write_bytes(content[:at])
    control.choose(run, mapping=run.mapping, options={})
    splitting.split(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error_code) == (State.FAILED, "rows_gone")


def test_rows_that_are_gone_fail_their_run(started):
    """A payload that was damaged: the run fails clearly instead of being tried for ever."""
    run = started(csv_of(40))
    Chunk.objects.filter(run=run).update(payload=b"not compressed")
    run = work(run)
    assert (run.state, run.error_code) == (State.FAILED, "rows_gone")


def test_an_importer_that_was_removed_fails_its_runs(started):
    """A deploy without the class: its runs say so, whatever state they are in."""
    run = started(csv_of(4))
    registry.unregister(Movements)
    try:
        run = work(run)
    finally:
        registry.register(Movements)
    assert (run.state, run.error_code) == (State.FAILED, "importer_gone")
    assert moved() == []


def test_a_failed_run_goes_on_where_it_was(started):
    """What broke was mended: the customer's retry finishes the rows that have no outcome."""
    run = started(csv_of(40), options={"sleep_ms": 5})
    slices.work(run.pk, "t", budget=0)
    finishing.fail(run.pk, "importer_gone")
    run.refresh_from_db()
    assert outcomes(run) == {"created": 1}
    control.retry_rejected(run)
    run = work(run)
    assert run.state == State.FINISHED
    assert run.error_code == ""
    assert moved() == sorted(f"c{n}" for n in range(1, 41))


def test_every_move_is_announced_after_commit(started, django_capture_on_commit_callbacks):
    """A host may listen; the signal names both states."""
    heard = []

    def hear(run, source, target, **_):
        heard.append((str(source), str(target)))

    run_moved.connect(hear)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            work(started("code,name,qty\na,,1\n"))
    finally:
        run_moved.disconnect(hear)
    assert heard == [
        ("received", "reading"),
        ("reading", "mapping"),
        ("mapping", "checking"),
        ("checking", "ready"),
        ("ready", "queued"),
        ("queued", "running"),
        ("running", "finished"),
    ]


def test_the_uploaders_language_words_the_reasons(ready):
    """A worker speaks as the customer does."""
    run = ready("code,name,qty\na,,1\n")
    ImportRun.objects.filter(pk=run.pk).update(language="de")
    run.refresh_from_db()
    with session.as_uploader(run):
        assert translation.get_language() == "de"
    assert translation.get_language() != "de"


def test_hooks_run_once_around_the_rows(started):
    """`before_run` before the first row, `after_run` after the last, each once."""
    run = started("code,name,qty\nm,,1\n", importer="HookedMovements")
    finishing.before(run.pk)
    finishing.before(run.pk)
    work(run)
    finishing.after(run.pk)
    finishing.after(run.pk)
    assert moved() == [f"after {run.pk}", f"before {run.pk}", "m"]


def test_payloads_are_dropped_with_their_chunk(started):
    """Only rejected rows keep their data."""
    run = started("code,name,qty\na,,1\nb,,x\n")
    slices.work(run.pk, "t", budget=0)
    assert run.chunks.get(index=0).payload is None
    run = work(run)
    assert not run.chunks.exclude(payload=None).exists()
    assert run.spool == ""
    assert run.rejected_rows.count() == 1


def test_a_time_zone_that_is_none_does_not_stop_the_rows(started):
    """A name from an old form counts as none."""
    run = started(csv_of(2), options={"timezone": "Mars/Olympus"})
    assert work(run).state == State.FINISHED


def test_splitting_goes_on_where_it_stopped(read):
    """One chunk a turn: no row is left out or stored twice, duplicates are found across turns."""
    run = read("code,name,qty\n" + "".join(f"c{n % 20},,{n}\n" for n in range(40)))
    control.choose(run, mapping=run.mapping, options={})
    turns = 1
    while not splitting.split(run.pk, budget=0):
        turns += 1
    run.refresh_from_db()
    assert turns > 5
    assert run.total == 40
    run = work(run)
    assert (run.check_result["good"], run.check_result["bad"]) == (20, 20)
    assert run.check_result["by_cause"][0]["first_row"] == 22


def test_an_old_splitting_job_stores_nothing(read, monkeypatch):
    """Two jobs split the same run, after one froze: only the newer one's chunks are kept."""
    run = read(csv_of(8))
    control.choose(run, mapping=run.mapping, options={})
    store = splitting._Split._store

    def late(self, chunks, offset, *, complete):
        monkeypatch.setattr(splitting._Split, "_store", store)
        assert splitting.split(run.pk) is True
        return store(self, chunks, offset, complete=complete)

    monkeypatch.setattr(splitting._Split, "_store", late)
    splitting.split(run.pk)
    run.refresh_from_db()
    assert run.total == sum(run.chunks.values_list("size", flat=True)) == 8


@pytest.mark.parametrize(
    ("answer", "code"), [(Outcome.REJECTED, "rejected"), ("written", "importer_error")]
)
def test_an_answer_that_is_no_success_leaves_nothing_written(started, monkeypatch, answer, code):
    """To refuse by answer, or to answer nonsense, undoes the row's effects."""
    save = Movements.save_row

    def odd(self, row, run):
        return save(self, row, run) if row.number != 3 else (save(self, row, run), answer)[1]

    monkeypatch.setattr(Movements, "save_row", odd)
    run = work(started(csv_of(3)))
    assert outcomes(run) == {"created": 2, "rejected": 1}
    assert run.rejected_rows.get().reasons[0]["code"] == code
    assert moved() == ["c1", "c3"]


def test_what_other_hooks_return_is_no_outcome(started, monkeypatch):
    """Only `save_row` says what became of a row."""
    monkeypatch.setattr(Movements, "prepare_row", lambda self, row, run: Outcome.SKIPPED)
    monkeypatch.setattr(Movements, "check_row", lambda self, row, run: True)
    assert outcomes(work(started(csv_of(2)))) == {"created": 2}


def test_sensitive_cells_are_not_repeated_in_reasons(started, monkeypatch):
    """The importer's own refusals follow the column's wish too."""
    monkeypatch.setattr(Movements.columns["name"], "sensitive", True)
    run = work(started("code,name,qty\na,refuse,1\n"))
    assert run.rejected_rows.get().reasons[0]["raw"] == ""
