"""A file comes in, or one clear sentence says why not."""

from __future__ import annotations

import io
import uuid
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from fairimport.models import ImportRun
from fairimport.runs import correcting
from fairimport.states import State
from tests.integration.pages.conftest import GOOD, MIXED, bring, work

pytestmark = [pytest.mark.django_db]

PNG = b"\x89PNG\r\n\x1a\n" + bytes(300)
NEW = "/imports/new/"


def form(content: bytes = GOOD.encode(), name: str = "lines.csv", **changes) -> dict:
    """What the browser sends."""
    return {
        "token": str(uuid.uuid4()),
        "importer": "demo_site.InvoiceLines",
        "file": SimpleUploadedFile(name, content),
        **changes,
    }


def sentence(answer) -> str:
    """What the page says beside the field."""
    assert answer.status_code == 422
    errors = answer.context["form"].errors
    assert len(errors) == 1
    return next(iter(errors.values()))[0]


def test_an_upload_leads_to_its_run(acme):
    """After the upload the customer is on the run's own page, which may be reloaded."""
    answer = acme.post(NEW, form())
    run = ImportRun.objects.get()
    assert answer.url == f"/imports/{run.pk}/"
    assert (run.tenant, run.state, run.filename) == ("acme", State.RECEIVED, "lines.csv")
    assert str(run.created_by) == "ada"


def test_a_double_click_makes_one_run(acme):
    """The same form again leads to the same run."""
    sent = form()
    first = acme.post(NEW, sent)
    second = acme.post(NEW, {**sent, "file": SimpleUploadedFile("lines.csv", GOOD.encode())})
    assert first.url == second.url
    assert ImportRun.objects.count() == 1


def test_each_form_has_a_token_of_its_own(acme):
    """Two uploads of the same file, wanted twice, are two imports."""
    tokens = {acme.get(NEW).context["form"]["token"].value() for _ in range(2)}
    assert len(tokens) == 2


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (form(b""), "This file is empty. Choose the file that has your rows."),
        (form(file=""), "Choose a file first."),
        (form(importer=""), "Say what is in the file."),
        (form(importer="demo_site.Nothing"), "Select a valid choice"),
        (form(token="mine"), "valid UUID"),
    ],
)
def test_what_is_wrong_is_said_once(acme, sent, said):
    """One sentence, on the same page, and no run."""
    answer = acme.post(NEW, sent)
    assert said in sentence(answer)
    assert not ImportRun.objects.exists()


def test_a_file_over_the_limit_is_refused_while_it_streams(acme, settings):
    """The body is read no further than it must, and the sentence names the limit."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "MAX_UPLOAD_MIB": 1}
    answer = acme.post(NEW, form(bytes(3 * 1024 * 1024), name="big.csv"))
    assert "larger than the allowed 1 MB" in sentence(answer)
    assert not ImportRun.objects.exists()


def test_a_file_at_the_limit_is_taken(acme, settings):
    """The limit itself is allowed."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "MAX_UPLOAD_MIB": 1}
    acme.post(NEW, form(b"x" * 1024 * 1024))
    assert ImportRun.objects.get().size == 1024 * 1024


def test_several_large_files_in_one_request_are_counted_together(acme, settings):
    """Parts with other names do not slip past the limit."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "MAX_UPLOAD_MIB": 1}
    half = bytes(700 * 1024)
    sent = form(half, other=SimpleUploadedFile("other.csv", half))
    assert "larger than the allowed" in sentence(acme.post(NEW, sent))


def test_a_picture_with_the_name_of_a_workbook_is_named_as_such(acme, make_run):
    """The content decides, not the name and not what the browser says."""
    run = make_run(PNG, State.FAILED, name="prices.xlsx")
    said = acme.get(f"/imports/{run.pk}/").content.decode()
    assert "This is not a spreadsheet, whatever its name says." in said


def test_a_form_that_is_no_form_is_a_clear_answer(acme):
    """JSON instead of a form: nothing breaks."""
    answer = acme.post(NEW, "{}", content_type="application/json")
    assert answer.status_code == 422


def test_a_cut_off_body_leaves_nothing(acme):
    """The connection broke in the middle of the upload."""
    body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nhalf'
    answer = acme.generic("POST", NEW, body, content_type="multipart/form-data; boundary=b")
    assert answer.status_code in (400, 422)
    assert not ImportRun.objects.exists()


def test_a_flood_of_uploads_is_slowed_down(acme, sign_in, settings):
    """429 for the one who floods, until the minute is over; nobody else notices."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "UPLOADS_PER_MINUTE": 2}
    for _ in range(2):
        assert acme.post(NEW, form()).status_code == 302
    answer = acme.post(NEW, form())
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "60")
    assert "Wait a minute and go on." in answer.content.decode()
    assert sign_in("amy", "acme").post(NEW, form()).status_code == 302
    ImportRun.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    assert acme.post(NEW, form()).status_code == 302


def test_the_flood_limit_can_be_taken_away(acme, settings):
    """0 sets none."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "UPLOADS_PER_MINUTE": 0}
    assert [acme.post(NEW, form()).status_code for _ in range(3)] == [302] * 3


@pytest.mark.parametrize(
    "name",
    ["<img src=x onerror=alert(1)>.csv", "a\u202evsc.exe", "</script><b>.csv", "x" * 300 + ".csv"],
)
def test_hostile_names_are_only_text(acme, name):
    """On the run's page, the list, the title and the cancel page."""
    acme.post(NEW, form(name=name))
    run = ImportRun.objects.get()
    for address in (f"/imports/{run.pk}/", "/imports/", f"/imports/{run.pk}/cancel/ask/"):
        said = acme.get(address).content.decode()
        assert "<img src=x" not in said
        assert "</script><b>" not in said
        assert "\u202e" not in said


def test_the_importer_can_be_chosen_by_a_link(acme):
    """The first page of a host can lead straight to the right form."""
    page = acme.get(NEW, {"importer": "demo_site.Contacts"}).content.decode()
    assert 'value="demo_site.Contacts" ' in page
    assert page.count("checked") == 1


def test_the_page_says_the_limits_before_they_are_met(acme):
    """Sizes and kinds stand beside the field."""
    said = acme.get(NEW).content.decode()
    assert "up to 100 MB and 200,000 rows" in said


@pytest.fixture
def corrected(acme, make_run):
    """Send a corrected file for a finished run."""
    run = make_run(MIXED, State.FINISHED)

    def send(content: bytes, token: str = "") -> str:
        sent = {
            "token": token or str(uuid.uuid4()),
            "file": SimpleUploadedFile("fixed.csv", content),
        }
        answer = acme.post(reverse("fairimport:corrected", args=[run.pk]), sent, follow=True)
        run.refresh_from_db()
        return answer.content.decode()

    send.run = run
    return send


def test_corrected_rows_go_into_the_same_run(corrected, acme):
    """The run is queued again; no second run is made."""
    rows = acme.get(reverse("fairimport:rejected", args=[corrected.run.pk, "csv"]))
    corrected(b"".join(rows.streaming_content))
    assert corrected.run.state == State.QUEUED
    assert ImportRun.objects.count() == 1


def test_what_came_of_a_corrected_file_is_said(corrected, acme):
    """Taken or not, in words, on the run's page."""
    corrected(b"a,b\n1,2\n")
    correcting.correct(corrected.run.pk)
    said = acme.get(f"/imports/{corrected.run.pk}/").content.decode()
    assert "This is not the file of rejected rows of this import." in said
    rows = acme.get(reverse("fairimport:rejected", args=[corrected.run.pk, "csv"]))
    corrected(b"".join(rows.streaming_content).replace(b"twelve", b"12"))
    correcting.correct(corrected.run.pk)
    work(corrected.run)
    said = acme.get(f"/imports/{corrected.run.pk}/").content.decode()
    assert "The corrected file held 2 rejected rows, which were tried again." in said
    assert "Done: 3 rows are in, 1 was rejected" in said


def test_a_corrected_file_that_is_empty_is_named_as_such(corrected):
    """One sentence, on the run's page."""
    assert "This file is empty." in corrected(b"")
    assert corrected.run.state == State.FINISHED


def test_corrected_rows_come_only_to_a_run_that_waits_for_them(acme, make_run):
    """A second tab that was left open: one sentence, and nothing happens."""
    run = make_run(GOOD, State.RUNNING)
    sent = {"token": str(uuid.uuid4()), "file": io.BytesIO(b"a,b\n1,2\n")}
    answer = acme.post(reverse("fairimport:corrected", args=[run.pk]), sent, follow=True)
    assert "does not wait for corrected rows" in answer.content.decode()


def test_a_run_whose_file_waits_says_that_nothing_is_known_yet(acme):
    """An honest bar has no value while the total is unknown."""
    acme.post(NEW, form())
    run = ImportRun.objects.get()
    said = acme.get(f"/imports/{run.pk}/").content.decode()
    assert '<progress id="fi-progress"></progress>' in said
    bring(run, State.MAPPING)
    assert "Which column is what?" in acme.get(f"/imports/{run.pk}/").content.decode()
