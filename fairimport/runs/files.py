"""Stored files of runs: uploads under generated names, spools, and local paths for readers."""

from __future__ import annotations

import hashlib
import logging
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING

from django.core.files import File
from django.core.files.storage import Storage, storages
from django.utils import timezone

from fairimport.conf import settings
from fairimport.errors import FileRefused

__all__ = ["StoredUpload", "delete", "local", "older_than", "opened", "save_path", "save_upload"]

log = logging.getLogger(__name__)
MIB = 1024 * 1024
ROOT = "fairimport"
NAME_LENGTH = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredUpload:
    """An upload that is stored, as it was counted on its way."""

    name: str
    filename: str
    size: int
    sha256: str


if TYPE_CHECKING:
    ByteFile = File[bytes]
else:
    ByteFile = File


class _Counted(ByteFile):
    """Counts and hashes what a storage reads; refuses to give more than the limit."""

    def __init__(self, upload: File[bytes]) -> None:
        super().__init__(upload.file, upload.name)
        self.upload = upload
        self.seen = 0
        self.digest = hashlib.sha256()

    def refuse_nothing(self) -> None:
        """Raise `FileRefused("empty_file")` when not one byte came."""
        if not self.seen:
            raise FileRefused("empty_file")

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        limit = settings.max_upload_mib * MIB
        for part in self.upload.chunks(chunk_size):
            self.seen += len(part)
            if self.seen > limit:
                raise FileRefused("file_too_large", limit=settings.max_upload_mib)
            self.digest.update(part)
            yield part


def save_upload(upload: File[bytes]) -> StoredUpload:
    """Store an upload under a generated name; nothing is left behind when it is refused.

    Raises `FileRefused` with `empty_file` or `file_too_large`; sizes are counted, not believed.
    """
    counted = _Counted(upload)
    name = _new_name("upload")
    try:
        stored = _storage().save(name, counted)
        name = stored
        counted.refuse_nothing()
    except BaseException:
        delete(name)
        raise
    return StoredUpload(
        name=stored,
        filename=_shown_name(upload.name),
        size=counted.seen,
        sha256=counted.digest.hexdigest(),
    )


def save_path(path: Path, kind: str) -> str:
    """Store a local file under a generated name and return that name."""
    with path.open("rb") as content:
        return _storage().save(_new_name(kind), File(content))


def delete(*names: str) -> None:
    """Drop stored files; one that is gone already, or that cannot be dropped now, is no error."""
    for name in filter(None, names):
        try:
            _storage().delete(name)
        except Exception as error:  # storages raise what they like
            log.warning("file.not_deleted name=%s error=%s", name, type(error).__name__)


def opened(name: str) -> File[bytes]:
    """A stored file, open for reading; raises `FileRefused("file_gone")` when it is not there."""
    if not name or not _storage().exists(name):
        raise FileRefused("file_gone")
    return _storage().open(name)


@contextmanager
def local(name: str) -> Iterator[Path]:
    """A path to read a stored file from; a copy where the storage is not a folder.

    Raises `FileRefused("file_gone")` when the storage does not have it any more.
    """
    storage = _storage()
    if not name or not storage.exists(name):
        raise FileRefused("file_gone")
    try:
        path = Path(storage.path(name))
    except NotImplementedError:
        with tempfile.NamedTemporaryFile(prefix="fairimport-") as copy:
            _copy(storage, name, copy)
            yield Path(copy.name)
    else:
        yield path


def _copy(storage: Storage, name: str, target: IO[bytes]) -> None:
    with storage.open(name) as content:
        for part in content.chunks():
            target.write(part)
    target.flush()


def older_than(age: timedelta) -> Iterator[set[str]]:
    """The names of stored files that are older than that, folder by folder."""
    storage = _storage()
    limit = timezone.now() - age
    for folder in _listed(storage, ROOT)[0]:
        names = {f"{ROOT}/{folder}/{name}" for name in _listed(storage, f"{ROOT}/{folder}")[1]}
        if old := {name for name in names if storage.get_modified_time(name) < limit}:
            yield old


def _listed(storage: Storage, folder: str) -> tuple[list[str], list[str]]:
    """Folders and files in a folder; none where it is not there, or where nothing can be listed."""
    try:
        return storage.listdir(folder)
    except (FileNotFoundError, NotImplementedError):
        return [], []


def _storage() -> Storage:
    return storages[settings.storage]


def _new_name(kind: str) -> str:
    fresh = uuid.uuid4().hex
    return f"{ROOT}/{fresh[:2]}/{fresh}.{kind}"


def _shown_name(name: str | None) -> str:
    """The customer's name for the file, fit for a page: one line, not too long, never blank."""
    shown = "".join(c for c in (name or "") if c.isprintable()).strip()
    return shown[-NAME_LENGTH:] or "file"
