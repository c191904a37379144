"""What the page of a run shows, state by state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _

from fairimport import progress
from fairimport.forms import CorrectedForm, MappingForm
from fairimport.importers import Importer, UnknownImporter
from fairimport.models import ImportRun
from fairimport.progress import Progress
from fairimport.runs import binding, checking
from fairimport.runs.intake import SAME_CONTENT
from fairimport.sheets import Survey
from fairimport.states import State
from fairimport.templatetags.fairimport import duration, importer_title
from fairimport.views.counts import bar_of, ending_of, sum_line_of, sum_of, written
from fairimport.views.faces import PageFace
from fairimport.wording import refusal

__all__ = [
    "ColumnsPage",
    "columns_context",
    "columns_page",
    "fragment_context",
    "page_context",
]

SHOWN_REJECTED = 50
SHOWN_SAMPLE = 10
STALE_AFTER_S = 10
ALARMING = frozenset({"no_worker", "paused", "suspended", "limits_not_loaded", "redis_down"})
VERBS = ("choose", "start", "pause", "resume", "cancel", "retry")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnsPage:
    """The form about columns with the file's facts, and the importer's own options."""

    form: MappingForm
    survey: Survey
    options_form: forms.Form | None

    def is_valid(self) -> bool:
        """Whether both forms are."""
        others = self.options_form is None or self.form.rereads or self.options_form.is_valid()
        return self.form.is_valid() and others

    def options(self) -> dict[str, Any]:
        """The answers of both forms."""
        own = self.form.options()
        if self.options_form is None or self.form.rereads:
            return own
        return {**self.options_form.cleaned_data, **own}

    def context(self) -> dict[str, Any]:
        """What the template needs beside the run."""
        columns = self.survey.columns
        secret = {
            t.facts.position
            for t in self.form.targets
            if t.facts is not None and t.column.column.sensitive
        }
        return {
            "form": self.form,
            "survey": self.survey,
            "options_form": self.options_form,
            "missing": [] if self.survey.needs else self.form.binding.missing,
            "sample": [
                {"number": n, "cells": cells} for n, *cells in self.survey.sample[:SHOWN_SAMPLE]
            ],
            "samples": {c.position: [] if c.position in secret else c.samples for c in columns},
        }


def columns_page(run: ImportRun, data: Mapping[str, Any] | None = None) -> ColumnsPage:
    """The form for a run whose file was read; bound when `data` was sent."""
    importer: Importer = run.get_importer()()
    survey = Survey.from_json(run.facts)
    bound = binding.bind(importer, survey, run.mapping, run.options, run)
    similar = binding.suggest(importer, survey, run.mapping, run)
    form = MappingForm(data, binding=bound, survey=survey, chosen=run.options, similar=similar)
    asked = importer.Options(data, initial=run.options) if importer.Options else None
    return ColumnsPage(form=form, survey=survey, options_form=asked)


def columns_context(run: ImportRun, page: ColumnsPage) -> dict[str, Any]:
    """Everything for the page about columns, whatever the run does meanwhile."""
    face = PageFace(state=State.MAPPING, filename=run.filename)
    return {
        "run": run,
        "face": face,
        "can": {"cancel": False},
        **noticed_in(run),
        **page.context(),
    }


def page_context(run: ImportRun) -> dict[str, Any]:
    """Everything for the run's page."""
    return {**fragment_context(run), "importer_title": importer_title(run.importer)}


def fragment_context(run: ImportRun) -> dict[str, Any]:
    """Everything for the part of the page that is asked for again and again."""
    state = State(run.state)
    now = progress.of(run)
    shared = {
        "run": run,
        "progress": now,
        "face": face_of(run, now),
        "can": {verb: run.can(verb) for verb in VERBS},
        "alarming": ALARMING,
        "age": age_of(now),
        "written": written(now),
        "correction": correction_of(run),
    }
    return {**shared, **_OF_STATE[state](run, now)}


def face_of(run: ImportRun, now: Progress) -> PageFace:
    """The look of the run at this moment."""
    done = (now.checked or 0) if run.state == State.CHECKING else now.done
    return PageFace(
        state=State(run.state),
        filename=run.filename,
        done=done,
        total=now.total,
        rejected=now.rejected,
    )


def noticed_in(run: ImportRun) -> dict[str, Any]:
    """What was noticed in the file, and its earlier upload if there was one."""
    earlier = run.earlier_upload() if SAME_CONTENT in run.warnings else None
    return {"warnings": run.warnings, "earlier": earlier}


def correction_of(run: ImportRun) -> dict[str, Any]:
    """What came of the last corrected file: `refused` in words, or how many `rows` were taken."""
    found = dict(run.correction)
    if code := found.get("code"):
        found["refused"] = refusal(code, found.get("facts"))
    return found


def age_of(now: Progress) -> str:
    """Says so when nothing was heard from the workers for a while, else nothing."""
    if now.updated_at is None or now.state not in (State.RUNNING, State.PAUSING, State.CANCELLING):
        return ""
    seconds = (timezone.now() - now.updated_at).total_seconds()
    if seconds < STALE_AFTER_S:
        return ""
    return _("The last row was finished %(long)s ago.") % {"long": duration(seconds // 5 * 5)}


def _waiting(run: ImportRun, now: Progress) -> dict[str, Any]:
    return {}


def _mapping(run: ImportRun, now: Progress) -> dict[str, Any]:
    try:
        return {**noticed_in(run), **columns_page(run).context()}
    except UnknownImporter:
        return {"failure": refusal("importer_gone")}


def _ready(run: ImportRun, now: Progress) -> dict[str, Any]:
    return {
        "summary": checking.summary(run),
        "cost": progress.cost(run),
        **noticed_in(run),
    }


def _working(run: ImportRun, now: Progress) -> dict[str, Any]:
    used, cap = now.slots_used or 0, now.cap or 0
    return {**_numbers(now), "slots": [n < used for n in range(min(max(used, cap), 24))]}


def _ended(run: ImportRun, now: Progress) -> dict[str, Any]:
    rejected = run.rejected_rows.all()
    return {
        **_numbers(now),
        "rejected": list(rejected[:SHOWN_REJECTED]),
        "rejected_count": rejected.count(),
        "corrected": CorrectedForm(auto_id="id_corrected_%s"),
        "ending": ending_of(now),
        "took": took(run),
        "failure": refusal(run.error_code, run.error_facts) if run.error_code else "",
    }


def _numbers(now: Progress) -> dict[str, Any]:
    return {"bar": bar_of(now), "sum": sum_of(now), "sum_line": sum_line_of(now)}


def took(run: ImportRun) -> str:
    """How long it was from Start to the end, in words."""
    if run.started_at is None or run.finished_at is None:
        return ""
    return duration((run.finished_at - run.started_at).total_seconds())


_OF_STATE: Mapping[State, Callable[[ImportRun, Progress], dict[str, Any]]] = {
    State.RECEIVED: _waiting,
    State.READING: _waiting,
    State.MAPPING: _mapping,
    State.CHECKING: _waiting,
    State.READY: _ready,
    State.QUEUED: _working,
    State.RUNNING: _working,
    State.PAUSING: _working,
    State.PAUSED: _working,
    State.CANCELLING: _working,
    State.CANCELLED: _ended,
    State.FINISHED: _ended,
    State.FAILED: _ended,
}
