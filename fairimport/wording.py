"""Codes in words: why a file is refused, what was noticed in it, what the customer must say.

The codes are stable and for programs; these sentences are for people and say what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

__all__ = ["refusal", "warning"]

REFUSALS: dict[str, str | Promise] = {
    "password_protected": _(
        "This file is protected by a password. Remove the password in the spreadsheet program, "
        "save the file and upload it again."
    ),
    "damaged_file": _(
        "This file is damaged or was cut off. Open it in the spreadsheet program, save it again "
        "and upload the new file."
    ),
    "not_a_spreadsheet": _(
        "This is not a spreadsheet, whatever its name says. Upload an Excel, OpenDocument or CSV "
        "file."
    ),
    "web_page_not_spreadsheet": _(
        "This is a web page with the name of a spreadsheet. Open it in the spreadsheet program, "
        "save it as .xlsx and upload that."
    ),
    "unpacks_too_large": _(
        "This file unpacks to more than is allowed. Save only the rows that you need to a new "
        "file and upload that."
    ),
    "unsafe_xml": _(
        "This workbook contains instructions that no spreadsheet needs, so it is not opened. "
        "Save it again in a spreadsheet program and upload the new file."
    ),
    "too_many_columns": _(
        "This file has more columns than the allowed %(limit)s. Delete those that are not needed "
        "and upload it again."
    ),
    "no_rows": _("There is a header in this file, but not one row below it."),
    "empty_file": _("This file is empty. Choose the file that has your rows."),
    "missing_column": _("This file has no column for something that is required."),
    "unclosed_quote": _(
        "A quotation mark is opened on line %(line)s and never closed. Close or delete it and "
        "upload the file again."
    ),
    "unsupported_format": _(
        "Files of this kind cannot be read. Save it as .xlsx or as CSV and upload that."
    ),
    "binary_content": _(
        "This is called a text file, but its content is not text. Save it as CSV and upload that."
    ),
    "too_many_rows": _(
        "This file has more than the allowed %(limit)s rows. Split it and upload the parts."
    ),
    "file_too_large": _(
        "This file is larger than the allowed %(limit)s MB. Split it and upload the parts."
    ),
    "file_too_large:time": _(
        "Reading this file takes longer than is allowed. Save only the rows that you need to a new "
        "file and upload that."
    ),
    "file_too_large:memory": _(
        "Reading this file takes more memory than is allowed. Save only the rows that you need to "
        "a new file and upload that."
    ),
    "not_the_failed_rows": _(
        "This is not the file of rejected rows of this import. Download that file below, correct "
        "the rows in it, and upload it."
    ),
    "file_gone": _("The stored file is gone. Upload it again."),
    "rows_gone": _("Rows of this import that were stored are gone. Upload the file again."),
    "importer_broke": _(
        "This kind of import does not work at the moment. Rows that are written stay written."
    ),
    "reader_died": _(
        "This file could not be read: whatever tried to read it died, again and again. Save it "
        "again in a spreadsheet program and upload the new file."
    ),
    "importer_gone": _("This kind of import is no longer offered here."),
}

COUNTED: dict[str, Promise] = {
    "serial_number_read_as_date": ngettext_lazy(
        "One number stands in a date column and is read as a day.",
        "%(arg)s numbers stand in a date column and are read as days.",
        "arg",
    ),
    "text_looks_like_cell_error": ngettext_lazy(
        "One cell holds text that looks like an error value.",
        "%(arg)s cells hold text that looks like an error value.",
        "arg",
    ),
    "rows_above_header": ngettext_lazy(
        "One row above the header is left out.",
        "%(arg)s rows above the header are left out.",
        "arg",
    ),
    "hidden_rows": ngettext_lazy(
        "One hidden row is imported too.",
        "%(arg)s hidden rows are imported too.",
        "arg",
    ),
    "hidden_columns": ngettext_lazy(
        "One hidden column is read too.",
        "%(arg)s hidden columns are read too.",
        "arg",
    ),
    "blank_rows": ngettext_lazy(
        "One blank row is skipped.",
        "%(arg)s blank rows are skipped.",
        "arg",
    ),
}

WARNINGS: dict[str, str | Promise] = {
    **COUNTED,
    "date_order_from_column": _("Dates are read as %(order)s, because some of them fit only that."),
    "merged_cells": _("Merged cells (%(arg)s): the value belongs to the first cell only."),
    "blank_header": _("Columns without a header: %(arg)s."),
    "duplicate_header": _("Columns with the same header: %(arg)s."),
    "extension_does_not_match": _("The file's content is %(arg)s, whatever its name says."),
    "encoding_guessed": _("The text encoding was guessed: %(arg)s. Look at the sample below."),
    "same_content_as_earlier_upload": _("The very same file was uploaded here before."),
}

DATE_ORDERS: dict[str, str | Promise] = {
    "DMY": _("day, month, year"),
    "MDY": _("month, day, year"),
    "YMD": _("year, month, day"),
}


class _Facts(dict[str, Any]):
    """Facts of a refusal; a limit may come with its unit in its name (`limit_mib`)."""

    def __missing__(self, key: str) -> Any:
        return next((value for name, value in self.items() if name.startswith(key)), "?")


def refusal(code: str, facts: Mapping[str, Any] | None = None) -> str:
    """One sentence: why the file cannot be read, and what to do."""
    reason = (facts or {}).get("reason", "")
    sentence = REFUSALS.get(f"{code}:{reason}") or REFUSALS.get(code)
    if sentence is None:
        return str(_("This file cannot be read (%(code)s).")) % {"code": code}
    return str(sentence) % _Facts(facts or {})


def warning(noticed: str) -> str:
    """One sentence for something noticed, given as `code` or `code:argument`."""
    code, _colon, argument = noticed.partition(":")
    sentence = WARNINGS.get(code)
    if sentence is None:
        return noticed
    if code in COUNTED:
        return str(sentence % {"arg": int(argument)})
    return str(sentence) % {"arg": argument, "order": DATE_ORDERS.get(argument, argument)}
