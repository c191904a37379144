"""From a file to its survey: recognise, open, choose the sheet, go over its rows once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO

from fairimport.errors import FileRefused
from fairimport.sheets.archive import Archive
from fairimport.sheets.cells import Cell
from fairimport.sheets.choosing import Choice, choose_sheet
from fairimport.sheets.detect import expected_names, is_blank_text, kind_of_file, kind_of_zip
from fairimport.sheets.headers import LOOKED_AT
from fairimport.sheets.limits import MIB, Limits
from fairimport.sheets.merging import filled_in, in_words
from fairimport.sheets.relations import main_part
from fairimport.sheets.source import Batch, Book, RowsOutOfOrder, SheetFacts, SheetInfo
from fairimport.sheets.survey import ColumnFacts, ReadOptions, SheetName, Survey
from fairimport.sheets.surveyor import Surveyor
from fairimport.sheets.text.book import TextBook
from fairimport.sheets.text.dialect import NONE
from fairimport.sheets.xlsx.book import XlsxBook

__all__ = ["survey_file"]


def survey_file(
    path: Path, filename: str, options: ReadOptions, limits: Limits, spool: BinaryIO | None
) -> Survey:
    """Read the file in this process; raises `FileRefused`, or whatever a parser raises."""
    size = path.stat().st_size
    if size > limits.max_upload_mib * MIB:
        raise FileRefused("file_too_large", mib=size // MIB, limit=limits.max_upload_mib)
    kind = kind_of_file(path)
    if kind == "text":
        return _survey_text(path, filename, options, limits, spool)
    if kind == "xls":
        from fairimport.sheets.xls import XlsBook  # xlrd is loaded for old files only

        return _survey_book(XlsBook(path, limits), kind, filename, options, limits, spool)
    with closing(Archive(path, limits)) as archive:
        kind, book = _open(archive, limits)
        return _survey_book(book, kind, filename, options, limits, spool)


def _open(archive: Archive, limits: Limits) -> tuple[str, Book]:
    main = main_part(archive)
    kind = kind_of_zip(archive, main)
    if kind == "xlsb":
        from fairimport.sheets.xlsb.book import XlsbBook

        return kind, XlsbBook(archive, main, limits)
    if kind == "ods":
        from fairimport.sheets.ods.book import OdsBook

        return kind, OdsBook(archive, limits)
    return kind, XlsxBook(archive, main, limits)


def _survey_text(
    path: Path, filename: str, options: ReadOptions, limits: Limits, spool: BinaryIO | None
) -> Survey:
    if is_blank_text(path):
        raise FileRefused("empty_file")
    survey = Surveyor(options, limits, spool, text=True)
    with closing(TextBook(path, options, limits)) as book:
        facts = _go_over(book, book.sheets[0], options, survey, limits)
    encoding = book.encoding
    asked = ("encoding",) if encoding.ask else ()
    named = () if expected_names("csv", filename) else (f"extension_does_not_match:{book.format}",)
    guessed = (f"encoding_guessed:{encoding.codec}",) if encoding.guessed else ()
    return _result(
        survey,
        facts,
        format=book.format,
        warnings=() if asked else (*named, *guessed),
        needs=asked,
        encoding=encoding.codec,
        encodings=encoding.choices,
        bad_line=encoding.bad_line,
        delimiter="" if book.delimiter == NONE else book.delimiter,
    )


def _survey_book(
    book: Book,
    kind: str,
    filename: str,
    options: ReadOptions,
    limits: Limits,
    spool: BinaryIO | None,
) -> Survey:
    choice = choose_sheet(book, options, limits)
    if choice.sheet is None:
        return Survey(format=kind, sheets=choice.names, needs=("sheet",), date1904=book.date1904)
    survey = Surveyor(options, limits, None if choice.ask else spool, text=False)
    try:
        facts = _go_over(book, choice.sheet, options, survey, limits)
    except RowsOutOfOrder:
        if spool is not None:
            spool.seek(0)
            spool.truncate()
        survey = Surveyor(options, limits, None if choice.ask else spool, text=False)
        facts = _go_over(book, choice.sheet, options, survey, limits, ordered=True)
    return _result(
        survey,
        facts,
        format=kind,
        sheets=_counted(choice, survey),
        sheet=choice.sheet.name,
        warnings=() if expected_names(kind, filename) else (f"extension_does_not_match:{kind}",),
        needs=("sheet",) if choice.ask else (),
        date1904=book.date1904,
    )


def _go_over(
    book: Book,
    sheet: SheetInfo,
    options: ReadOptions,
    survey: Surveyor,
    limits: Limits,
    *,
    ordered: bool = False,
) -> SheetFacts:
    """Survey every row of the sheet; `ordered` sorts them first, in memory."""
    source = book.open(sheet, any_order=ordered)
    batches: Iterator[Batch] = source.batches()
    if ordered:
        batches = iter([_sorted(batches, limits)])
    if options.fill_merged:
        batches = filled_in(batches, _merged(book, sheet), limits.max_columns)
    for batch in batches:
        survey.take(batch)
    survey.finish()
    return source.facts


def _merged(book: Book, sheet: SheetInfo) -> list[tuple[int, int, int, int]]:
    """Go over the sheet once for its merged ranges, which stand after the rows."""
    source = book.open(sheet, any_order=True)
    for _ in source.batches():
        pass
    return source.facts.merged


def _sorted(batches: Iterator[Batch], limits: Limits) -> Batch:
    """Bring rows in order; of two with one number the later cells win."""
    rows: dict[int, tuple[Sequence[Cell], bool]] = {}
    for batch in batches:
        for number, cells, hidden in batch:
            before, was_hidden = rows.get(number, ([], False))
            rows[number] = (_over(before, cells), hidden or was_hidden)
        if len(rows) > limits.max_rows + LOOKED_AT:
            raise FileRefused("too_many_rows", rows=len(rows), limit=limits.max_rows)
    return [(number, *rows[number]) for number in sorted(rows)]


def _over(before: Sequence[Cell], cells: Sequence[Cell]) -> Sequence[Cell]:
    pairs = zip_longest(before, cells)
    return [old if new is None else new for old, new in pairs] if before else cells


def _counted(choice: Choice, survey: Surveyor) -> tuple[SheetName, ...]:
    """Give the sheet that was read its count."""
    return tuple(
        replace(name, rows=survey.rows, header_row=survey.header_row)
        if choice.sheet and name.name == choice.sheet.name
        else name
        for name in choice.names
    )


def _result(
    survey: Surveyor, facts: SheetFacts, *, warnings: tuple[str, ...], **known: Any
) -> Survey:
    """Put the survey together; a file without rows is refused."""
    if survey.header_row is None:
        raise FileRefused("empty_file")
    if not survey.rows:
        raise FileRefused("no_rows")
    columns = survey.columns(facts)
    asked = bool(known.get("needs"))
    return Survey(
        header_row=survey.header_row,
        columns=tuple(columns),
        row_count=survey.rows,
        sample=tuple(survey.sample),
        warnings=() if asked else (*warnings, *_noticed(survey, facts, columns)),
        **known,
    )


def _noticed(survey: Surveyor, facts: SheetFacts, columns: list[ColumnFacts]) -> Iterator[str]:
    """Yield warnings about the shape of the sheet, in the order of the vocabulary."""
    header = survey.header_row or 0
    merged = [box for box in facts.merged if box[2] >= header]
    hidden = sum(column.hidden for column in columns)
    blank = [column.letter for column in columns if not column.header]
    forms = Counter(column.match for column in columns if column.match)
    double = [column.letter for column in columns if forms[column.match] > 1]
    for code, argument in (
        ("merged_cells", in_words(merged)),
        ("rows_above_header", survey.above),
        ("hidden_rows", survey.hidden_rows),
        ("hidden_columns", hidden),
        ("blank_rows", survey.blank_rows),
        ("blank_header", ",".join(blank)),
        ("duplicate_header", ",".join(double)),
    ):
        if argument:
            yield f"{code}:{argument}"
