"""What an import of a file would find, without any import: for the shell, and for the case tests.

It goes the way of an upload: read in a child process, mapping guessed, columns bound, every row
cleaned. The words are those of `expect` in `tests/cases/manifest.json`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairimport.errors import FileRefused
from fairimport.importers import Importer, Row
from fairimport.runs.binding import Binding, DuplicateFinder, Reason, bind, guess, header_names
from fairimport.runs.inferred import inferred
from fairimport.sheets import ReadOptions, SheetRow, Survey, read, rows

__all__ = ["Preview", "Trial", "preview"]

_BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Stands for a run where there is none: whose rows they would be, and what was chosen."""

    tenant: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    pk: None = None


@dataclass(slots=True, kw_only=True)
class Preview:
    """What was found; `survey` and `binding` are None when nothing could be read."""

    error: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    survey: Survey | None = None
    binding: Binding | None = None
    rows: list[tuple[int, list[list[str] | None]]] = field(default_factory=list)
    rejected: list[tuple[int, Reason]] = field(default_factory=list)

    @property
    def needs(self) -> str | None:
        """The first open question."""
        return self.binding.needs[0] if self.binding and self.binding.needs else None

    @property
    def bad_rows(self) -> int:
        return len({number for number, _reason in self.rejected})

    @property
    def warnings(self) -> list[str]:
        return list(self.binding.warnings) if self.binding and not self.error else []

    @property
    def outcome(self) -> str:
        if self.error:
            return "file_error"
        if self.needs:
            return "needs_choice"
        if self.rejected:
            return "row_errors"
        return "ok_with_warnings" if self.warnings else "ok"

    def to_json(self) -> dict[str, Any]:
        """The keys of `expect`: outcome, header_row, rows, row_errors, warnings and so on."""
        found: dict[str, Any] = {
            "outcome": self.outcome,
            "header_row": self.survey.header_row if self.survey and not self.error else None,
            "rows": [{"row": number, "values": values} for number, values in self.rows],
            "row_errors": [_row_error(number, reason) for number, reason in self.rejected],
            "warnings": self.warnings,
            "good_rows": len(self.rows),
            "bad_rows": self.bad_rows,
        }
        if self.error:
            found["error"] = self.error
        if self.needs and not self.error:
            found["needs"] = self.needs
        if self.survey and self.survey.sheet and not self.error:
            found["sheet"] = self.survey.sheet
        return found


def _row_error(number: int, reason: Reason) -> dict[str, Any]:
    return {"row": number, "field": reason.field, "kind": reason.code, "raw": reason.raw}


def preview(path: Path, importer: Importer | None, trial: Trial, *, filename: str) -> Preview:
    """Read the file as an upload called `filename` of the trial's tenant; nothing is written.

    Without an importer the columns of the file are taken as they are (see `inferred`). Rows are
    cleaned only when no question is open that changes their values.
    """
    with tempfile.TemporaryDirectory(prefix="fairimport-") as folder:
        spool = Path(folder) / "rows"
        spool.touch()
        try:
            survey = read(path, filename=filename, options=_reading(importer, trial), spool=spool)
        except FileRefused as refused:
            return Preview(error=refused.code, facts=refused.facts)
        importer = importer or inferred(survey)
        mapping = guess(importer, survey, run=trial)
        binding = bind(importer, survey, mapping, trial.options, trial)
        found = Preview(survey=survey, binding=binding)
        if binding.missing and not survey.needs and "column_mapping" not in binding.needs:
            found.error = "missing_column"
            found.facts = {"columns": ", ".join(column.label for column in binding.missing)}
        elif set(binding.needs) <= {"column_mapping"} and not binding.missing:
            _clean(found, binding, spool)
    return found


def _reading(importer: Importer | None, trial: Trial) -> ReadOptions:
    names = header_names(importer, trial) if importer else ()
    return ReadOptions.from_json({**trial.options, "headers": names})


def _clean(found: Preview, binding: Binding, spool: Path) -> None:
    finder = DuplicateFinder(binding)
    batch = []
    for _offset, row in rows(spool):
        batch.append(finder.mark(row))
        if len(batch) == _BATCH:
            _take(found, binding, batch)
            batch = []
    _take(found, binding, batch)


def _take(found: Preview, binding: Binding, batch: list[SheetRow]) -> None:
    for cleaned in binding.clean_all(batch):
        if isinstance(cleaned, Row):
            found.rows.append((cleaned.number, binding.stated(cleaned)))
        else:
            found.rejected.extend((cleaned.number, reason) for reason in cleaned.reasons)
