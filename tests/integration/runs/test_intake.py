"""Uploads are stored, counted and hashed, and never parsed by the process that takes them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile

from fairimport.errors import FileRefused
from fairimport.models import ImportRun, TenantLimit
from fairimport.runs import files, intake
from fairimport.sheets import parent
from fairimport.states import State
from tests.integration.runs.conftest import csv_of

pytestmark = pytest.mark.django_db
CASES = Path(__file__).resolve().parents[2] / "cases"


def stored_files() -> set[str]:
    root = Path(django_settings.MEDIA_ROOT)
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_an_upload_is_stored_under_a_generated_name(receive):
    """Nothing of the customer's name gets into a path."""
    run = receive(csv_of(3), name="../../etc/Prices.csv")
    assert "Prices" not in run.source
    assert run.filename == "Prices.csv"
    with files.local(run.source) as path:
        content = path.read_bytes()
    assert (run.size, run.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert run.state == State.RECEIVED


@pytest.mark.parametrize("name", ["a\r\nb.csv", "a\u202ecsv.exe", "x" * 400 + ".csv", "\x00.csv"])
def test_a_hostile_name_is_one_printable_line(receive, name):
    """Names are kept to be shown, so they are made fit for a page."""
    run = receive(csv_of(1), name=name)
    assert run.filename.isprintable()
    assert 0 < len(run.filename) <= 255


def test_the_same_form_sent_twice_is_one_run(receive):
    """A double click makes one import, and stores one file."""
    first = receive(csv_of(2), token="t1")
    before = stored_files()
    assert receive(csv_of(2), token="t1") == first
    assert ImportRun.objects.count() == 1
    assert stored_files() == before


def test_the_same_token_of_another_tenant_is_another_run(receive):
    """Tokens never lead into somebody else's run."""
    first = receive(csv_of(2), token="t1")
    second = receive(csv_of(2), token="t1", tenant="birch")
    assert first != second


def test_a_token_that_lost_the_race_gives_the_winner(receive, monkeypatch):
    """Two at the same moment: the unique token decides, and the loser's file is dropped."""
    first = receive(csv_of(2), token="t1")
    before = stored_files()
    empty = ImportRun.objects.none()
    monkeypatch.setattr(type(empty), "for_tenant", lambda self, t: _blind(self, t))
    assert receive(csv_of(2), token="t1") == first
    assert stored_files() == before


def _blind(runs, tenant, seen=[]):  # noqa: B006  (remembers that it was blind once)
    seen.append(tenant)
    return runs.none() if len(seen) == 1 else runs.filter(tenant=tenant)


@pytest.mark.parametrize(
    ("content", "code"), [(b"", "empty_file"), (b"x" * (1024 * 1024 + 1), "file_too_large")]
)
def test_a_refused_upload_leaves_nothing_behind(receive, settings, content, code):
    """No file, no run: the customer just tries again."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "MAX_UPLOAD_MIB": 1}
    before = stored_files()
    with pytest.raises(FileRefused) as refused:
        receive(content)
    assert refused.value.code == code
    assert not ImportRun.objects.exists()
    assert stored_files() == before


def test_a_broken_connection_leaves_nothing_behind(receive, db):
    """J07: an upload that ends in the middle is no run and no half file; the next one works."""

    class Broken(SimpleUploadedFile):
        def chunks(self, chunk_size=None):
            yield b"code,name"
            raise ConnectionResetError

    before = stored_files()
    with pytest.raises(ConnectionResetError):
        intake.receive(
            tenant="acme",
            user=None,
            importer="warehouse.Movements",
            upload=Broken("a.csv", b"x"),
            token="t",
        )
    assert stored_files() == before
    assert receive(csv_of(1), token="t").state == State.RECEIVED


def test_the_same_content_again_is_noticed(receive):
    """J04: other name, same bytes: the run says so and names the earlier one."""
    first = receive((CASES / "b05_same_bytes_again.csv").read_bytes())
    second = receive((CASES / "b06_same_bytes_again (1).csv").read_bytes(), name="b06.csv")
    assert first.warnings == []
    assert second.warnings == ["same_content_as_earlier_upload"]
    assert second.earlier_upload() == first


def test_the_same_content_of_another_tenant_is_none_of_its_business(receive):
    """What others uploaded is never told."""
    receive(csv_of(2))
    second = receive(csv_of(2), tenant="birch")
    assert second.warnings == []
    assert second.earlier_upload() is None


def test_receiving_parses_nothing(receive, monkeypatch):
    """A monster costs the web process no more than its bytes."""
    monkeypatch.setattr(parent, "_ask", lambda *_: pytest.fail("the web process parsed a file"))
    receive(csv_of(2))


def test_a_first_run_makes_the_tenants_limit(receive, settings):
    """The operator finds every tenant that ever imported."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "CAP": 7}
    receive(csv_of(2), tenant="cedar")
    assert TenantLimit.objects.get(tenant="cedar").cap == 7


def test_nothing_is_enqueued_before_the_commit(
    receive, redis_server, django_capture_on_commit_callbacks
):
    """A rolled back upload never stands in a lane."""
    with django_capture_on_commit_callbacks() as callbacks:
        run = receive(csv_of(2))
    with redis_server.client() as client:
        assert not client.keys("rq:job:*")
    with django_capture_on_commit_callbacks(execute=True):
        for callback in callbacks:
            callback()
    with redis_server.client() as client:
        assert client.exists(f"rq:job:read-{run.pk.hex}")


def test_an_upload_is_taken_while_redis_is_away(
    receive, redis_server, django_capture_on_commit_callbacks
):
    """The run waits in the database; the reconciler feeds it later."""
    redis_server.stop()
    with django_capture_on_commit_callbacks(execute=True):
        run = receive(csv_of(2))
    assert ImportRun.objects.get(pk=run.pk).state == State.RECEIVED
