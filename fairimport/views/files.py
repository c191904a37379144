"""Files for download: never shown by the browser, whatever is in them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import BinaryIO, cast

from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from fairimport.errors import FileRefused
from fairimport.models import ImportRun
from fairimport.runs import files, session
from fairimport.sheets import Cell, SheetRow, Survey, decode
from fairimport.sheets.writing import rejected_csv, rejected_xlsx
from fairimport.templatetags.fairimport import plain_name
from fairimport.views.access import for_run

__all__ = ["download", "rejected_file", "source_file"]

CSV = "text/csv; charset=utf-8"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
UNKNOWN = "application/octet-stream"


@never_cache
@for_run("view_importrun")
@require_safe
def rejected_file(request: HttpRequest, run: ImportRun, form: str) -> HttpResponseBase:
    """The rows that were rejected, with the reasons, ready to be corrected and uploaded again."""
    if not run.rejected_rows.exists():
        raise Http404
    survey = Survey.from_json(run.facts)
    name = f"{PurePath(run.filename).stem} – {_('rejected rows')}.{form}"
    if form == "csv":
        delimiter = survey.delimiter if survey.delimiter in (";", "\t") else ","
        lines = rejected_csv(
            headers_of(survey), rejected_of(run), delimiter=delimiter, as_text=texts_of(run)
        )
        return download(StreamingHttpResponse(lines, content_type=CSV), name)
    return download(FileResponse(workbook(run, survey), content_type=XLSX), name)


@never_cache
@for_run("view_importrun")
@require_safe
def source_file(request: HttpRequest, run: ImportRun) -> HttpResponseBase:
    """The file as it was uploaded, while it is kept."""
    try:
        content = files.opened(run.source)
    except FileRefused as gone:
        raise Http404 from gone
    return download(FileResponse(content, content_type=UNKNOWN), run.filename)


def workbook(run: ImportRun, survey: Survey) -> BinaryIO:
    """The rejected rows as a workbook in a temporary file, which the response closes."""
    book = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115
    rejected_xlsx(book, headers_of(survey), rejected_of(run))
    book.seek(0)
    return book


def headers_of(survey: Survey) -> list[str]:
    """The file's own headers, column after column; empty ones keep the others in their places."""
    headers = {column.position: column.header for column in survey.columns}
    return [headers.get(position, "") for position in range(1, max(headers, default=0) + 1)]


def texts_of(run: ImportRun) -> Callable[[int, Cell], str] | None:
    """How cells of a workbook are written in a text file, so that the run reads them back alike."""
    try:
        return session.open_binding(run).as_text
    except FileRefused:  # the importer is gone, and with it any way back
        return None


def rejected_of(run: ImportRun) -> Iterator[tuple[SheetRow, list[str]]]:
    """The rejected rows as the customer sent them, each with its reasons."""
    for row in run.rejected_rows.order_by("number").iterator(chunk_size=500):
        yield decode(bytes(row.cells)), [sentence_of(reason) for reason in row.reasons]


def sentence_of(reason: dict[str, str]) -> str:
    """A reason with the column that it is about."""
    column = reason.get("column")
    return f"{column}: {reason['message']}" if column else reason["message"]


def download(response: HttpResponseBase, name: str) -> HttpResponseBase:
    """Let the browser save it under this name and look into nothing."""
    disposition = content_disposition_header(True, plain_name(name))
    response.headers["Content-Disposition"] = disposition or "attachment"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
