"""The parent's side of reading: start the child, wait for it, word its end."""

from __future__ import annotations

from pathlib import Path

from fairimport.sheets.survey import ReadOptions, Survey

__all__ = ["read"]


def read(
    path: Path | str,
    *,
    filename: str,
    options: ReadOptions | None = None,
    spool: Path | str | None = None,
) -> Survey:
    """Read the file once in a child process; write its rows to `spool` if given.

    `filename` is the name that the customer gave; only its ending is looked at.
    Raises `FileRefused` with a code of the vocabulary, whatever the file does to its reader.
    """
    from fairimport.sheets.child import survey_file  # replaced by the child process

    return survey_file(Path(path), filename, options or ReadOptions(), spool)
