"""Uploads come in here: stored, counted and hashed, but never parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.files import File
from django.db import IntegrityError, transaction
from django.utils.translation import get_language

from fairimport.errors import IllegalMove
from fairimport.importers import Importer
from fairimport.models import ImportRun, TenantLimit
from fairimport.runs import feeding, files
from fairimport.runs.files import StoredUpload
from fairimport.states import Event, State

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

__all__ = ["receive", "receive_corrected"]

SAME_CONTENT = "same_content_as_earlier_upload"


def receive(
    *,
    tenant: str,
    user: AbstractBaseUser | None,
    importer: type[Importer] | str,
    upload: File[bytes],
    token: str,
) -> ImportRun:
    """Store an upload and make its run; the same form token again gives the same run.

    Raises `FileRefused` (`empty_file`, `file_too_large`), and then nothing is left behind.
    """
    known = ImportRun.objects.for_tenant(tenant).filter(token=token).first()
    if known is not None:
        return known
    stored = files.save_upload(upload)
    name = importer if isinstance(importer, str) else importer.get_name()
    try:
        with transaction.atomic():
            return _create(tenant, user, name, stored, token)
    except IntegrityError:  # the same form was faster in another process
        files.delete(stored.name)
        return ImportRun.objects.for_tenant(tenant).get(token=token)
    except BaseException:
        files.delete(stored.name)
        raise


def _create(tenant: str, user: Any, importer: str, stored: StoredUpload, token: str) -> ImportRun:
    TenantLimit.objects.of(tenant)
    same = ImportRun.objects.for_tenant(tenant).filter(importer=importer, sha256=stored.sha256)
    run: ImportRun = ImportRun.objects.create(
        tenant=tenant,
        importer=importer,
        created_by=user if user is not None and user.pk else None,
        language=get_language() or "",
        token=token,
        filename=stored.filename,
        size=stored.size,
        sha256=stored.sha256,
        source=stored.name,
        warnings=[SAME_CONTENT] if same.exists() else [],
    )
    feeding.soon(run)
    return run


def receive_corrected(run: ImportRun, upload: File[bytes], token: str) -> ImportRun:
    """Take the failed-rows file back into its run: only rejected rows are tried again.

    The file is read by a worker. The same form token again changes nothing. Raises `IllegalMove`
    when the run does not wait for corrections, and `FileRefused` as `receive` does.
    """
    if run.correction.get("token") == token:
        return run
    if run.state != State.FINISHED or not run.can(Event.RETRY):
        raise IllegalMove(run.state, "take corrected rows")
    stored = files.save_upload(upload)
    moved = False
    try:
        with transaction.atomic():
            moved = _take_back(run, stored, token)
    finally:
        if not moved:
            files.delete(stored.name)
    if not moved and run.correction.get("token") != token:
        raise IllegalMove(run.state, "take corrected rows")
    return run


def _take_back(run: ImportRun, stored: StoredUpload, token: str) -> bool:
    correction = {"source": stored.name, "filename": stored.filename, "token": token}
    moved = run.move(State.QUEUED, correction=correction, finished_at=None, after_done_at=None)
    if moved:
        feeding.soon(run)
    else:
        run.refresh_from_db()
    return moved
