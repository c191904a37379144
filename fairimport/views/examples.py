"""A file to begin with: the columns that an importer knows."""

from __future__ import annotations

import csv
import io

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from fairimport.importers import UnknownImporter, registry
from fairimport.runs.preview import Trial
from fairimport.views.access import for_tenant
from fairimport.views.files import CSV, download

__all__ = ["example_file"]


@for_tenant("add_importrun")
@require_safe
def example_file(request: HttpRequest, tenant: str, importer: str) -> HttpResponseBase:
    """A file with the columns that an importer knows and one row, to be filled in."""
    try:
        asked = registry.get(importer)
    except UnknownImporter as gone:
        raise Http404 from gone
    columns = asked().bound_columns(Trial(tenant=tenant))
    lines = example_csv([(column.label, column.column.example) for column in columns])
    return download(HttpResponse(lines, content_type=CSV), f"{asked.get_title()}.csv")


def example_csv(columns: list[tuple[str, str]]) -> bytes:
    """Headers and one row of examples; with a BOM, so that spreadsheet programs see UTF-8."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow([label for label, _example in columns])
    if any(example for _label, example in columns):
        writer.writerow([example for _label, example in columns])
    return text.getvalue().encode("utf-8-sig")
