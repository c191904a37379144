"""Files for download: never shown by the browser, whatever is in them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from uuid import UUID

from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.utils.http import content_disposition_header
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from fairimport.models import ImportRun
from fairimport.runs import files
from fairimport.sheets import writing
from fairimport.templatetags.fairimport import plain_name
from fairimport.views.access import for_run

__all__ = ["rejected_file", "source_file"]
