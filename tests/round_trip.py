"""Writes the failed-rows file of an importer that refuses everything, and reads it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fairimport.importers import Importer, Row
from fairimport.runs.binding import Binding, bind, guess, header_names
from fairimport.runs.preview import Trial
from fairimport.sheets import ReadOptions, SheetRow, Survey, rows
from fairimport.sheets.child import answer
from fairimport.sheets.limits import Limits
from fairimport.sheets.own_files import own_columns, own_headers
from fairimport.sheets.writing import rejected_csv, rejected_xlsx

REASONS = ["=1+1 is refused", "and this, too"]


def read_rows(path: Path, options: ReadOptions) -> tuple[Survey, list[SheetRow]]:
    """The survey and all rows of a file, as the reading process answers; in this process."""
    spool = path.with_name(f"{path.name}.rows")
    request = {"path": path, "filename": path.name, "options": options.to_json(), "spool": spool}
    reply = answer({**request, "limits": Limits().to_json()})
    return Survey.from_json(reply["survey"]), [row for _offset, row in rows(spool)]


def headers_of(survey: Survey) -> list[str]:
    """The headers by position, as the download view gives them."""
    headers = {column.position: column.header for column in survey.columns}
    return [headers.get(position, "") for position in range(1, max(headers) + 1)]


def write(form: str, path: Path, headers: Sequence[str], refused: list[SheetRow], binding: Binding):
    """The failed-rows file of these rows."""
    pairs = ((row, REASONS) for row in refused)
    with path.open("wb") as target:
        if form == "xlsx":
            rejected_xlsx(target, headers, pairs)
        else:
            target.writelines(rejected_csv(headers, pairs, as_text=binding.as_text))


def come_back(path: Path, binding: Binding, trial: Trial) -> list[SheetRow]:
    """The rows of a failed-rows file with the numbers that they had at first."""
    names = (*header_names(binding.importer, trial), *own_headers())
    survey, found = read_rows(path, ReadOptions(headers=names))
    ours = own_columns(survey)
    assert ours is not None, "our own file was not recognised"
    restored = [(ours.original_number(row), ours.restored(row)) for row in found]
    return [SheetRow(number, row.cells, row.problems) for number, row in restored]


def judge(binding: Binding, found: list[SheetRow]) -> dict[int, list | str]:
    """What becomes of each row, by number: its typed values, or that it is refused.

    A cell beyond the last column is not in the file that we write, so such rows are left out.
    """
    whole = [row for row in found if "too_many_cells" not in {p.code for p in row.problems}]
    return {
        cleaned.number: binding.stated(cleaned) if isinstance(cleaned, Row) else "refused"
        for cleaned in binding.clean_all(whole)
    }


@contextmanager
def opened(
    path: Path, importer: Importer, trial: Trial
) -> Iterator[tuple[Survey, list[SheetRow], Binding]]:
    """A file as an upload reads it."""
    options = ReadOptions.from_json({**trial.options, "headers": header_names(importer, trial)})
    survey, found = read_rows(path, options)
    yield survey, found, bind(importer, survey, guess(importer, survey), trial.options, trial)
