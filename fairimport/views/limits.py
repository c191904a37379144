"""Stops an upload that is too large while it streams in."""

from __future__ import annotations

from typing import IO, Any

from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest

from fairimport.conf import settings

__all__ = ["SizeLimit", "limit_uploads"]

MIB = 1024 * 1024
DRAINED = 4
"""So many times the limit is read to its end, so that the browser shows our sentence; a body that
announces more is cut off."""


class SizeLimit(FileUploadHandler):
    """Counts the bytes of all files of a request and stops at the limit; keeps nothing itself."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self.limit = settings.max_upload_mib * MIB
        self.seen = 0
        self.exceeded = False
        self.announced = 0

    def handle_raw_input(
        self,
        input_data: IO[bytes],
        META: dict[str, Any],  # noqa: N803  (Django's name)
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        """Remember what the request says about its size; it is not believed."""
        self.announced = content_length

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Pass the chunk on to the handlers that store it, while there is room."""
        self.seen += len(raw_data)
        if self.seen > self.limit:
            self.exceeded = True
            raise StopUpload(connection_reset=self.announced > DRAINED * self.limit)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Leave the file to the handlers that store it."""


def limit_uploads(request: HttpRequest) -> SizeLimit:
    """Put the limit before the handlers that store files; to be called before the body is read."""
    limit = SizeLimit(request)
    request.upload_handlers.insert(0, limit)
    return limit
