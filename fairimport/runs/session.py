"""What a slice needs to work on a run's rows, opened once, in the uploader's language."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils import timezone, translation

from fairimport.conf import settings
from fairimport.errors import FileRefused
from fairimport.importers import Importer, UnknownImporter
from fairimport.models import ImportRun
from fairimport.runs.binding import Binding, bind
from fairimport.runs.rowwork import RowWork
from fairimport.sheets import Survey

__all__ = ["as_uploader", "importer_of", "open_binding", "open_work"]


@contextmanager
def as_uploader(run: ImportRun) -> Iterator[None]:
    """Speak the uploader's language, and read times in the run's zone."""
    language = run.language or translation.get_language()
    with translation.override(language), timezone.override(_zone(run)):
        yield


def _zone(run: ImportRun) -> tzinfo:
    """The zone that the customer chose, else the host's; a name that is none counts as none."""
    for name in (run.options.get("timezone"), settings.timezone):
        try:
            if name:
                return ZoneInfo(str(name))
        except (ZoneInfoNotFoundError, ValueError):
            continue
    return timezone.get_default_timezone()


def importer_of(run: ImportRun) -> Importer:
    """A fresh instance of the run's importer; `FileRefused("importer_gone")` when there is none."""
    try:
        return run.get_importer()()
    except UnknownImporter as error:
        raise FileRefused("importer_gone", importer=run.importer) from error


def open_binding(run: ImportRun, *, confirmed: bool = True) -> Binding:
    """The run's file bound to its importer, as the customer chose."""
    survey = Survey.from_json(run.facts)
    importer = importer_of(run)
    return bind(importer, survey, run.mapping, run.options, run, confirmed=confirmed)


def open_work(run: ImportRun) -> RowWork:
    """All that is needed to work on rows of this run."""
    binding = open_binding(run)
    return RowWork(run, binding.importer, binding, Survey.from_json(run.facts))
