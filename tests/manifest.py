"""Reads a folder of spreadsheets with a manifest that states the right result for each.

What is observed comes from the code that an upload takes; what is stated is compared strictly, and
whatever the manifest says that is not understood is a failure.
"""

from __future__ import annotations

import json
import os
import uuid
from functools import cache
from pathlib import Path
from typing import Any

from django import forms
from django.core.files import File
from django.test import override_settings

from fairimport.conf import settings as fairimport_settings
from fairimport.errors import FileRefused
from fairimport.importers import Column, Importer, RefColumn
from fairimport.runs import intake
from fairimport.runs.preview import Trial, preview
from tests.warehouse.models import Article, Supplier

FOLDER = Path(os.environ.get("FAIRIMPORT_CASES") or Path(__file__).parent / "cases")
TENANT, STRANGER = "acme", "birch"

KEYS = {
    "case": {"id", "file", "size", "sha256", "kind", "columns", "options", "given", "expect"}
    | {"variants", "note", "seen_in"},
    "expect": {"outcome", "header_row", "rows", "row_errors", "warnings", "good_rows", "bad_rows"}
    | {"error", "needs", "sheet"},
    "variant": {"options", "outcome", "header_row", "rows", "row_errors", "warnings"}
    | {"good_rows", "bad_rows", "error", "needs", "sheet", "note"},
    "column": {"header", "field", "label", "position", "type", "required", "unique"}
    | {"max_length", "max_digits", "decimal_places"},
    "row": {"row", "values"},
    "row_error": {"row", "field", "kind", "raw"},
}
FIELDS = {
    "text": lambda **given: forms.CharField(strip=False, **given),
    "int": forms.IntegerField,
    "decimal": forms.DecimalField,
    "bool": forms.BooleanField,
    "date": forms.DateField,
    "time": forms.TimeField,
    "datetime": forms.DateTimeField,
    "duration": forms.DurationField,
}


class NotUnderstoodError(AssertionError):
    """The manifest says something that is not in its own vocabulary."""


@cache
def load(folder: Path = FOLDER) -> dict[str, Any]:
    """The manifest of a folder."""
    return json.loads((folder / "manifest.json").read_text("utf-8"))


def understand(keys: dict[str, Any], kind: str) -> None:
    """Fail for a key that is not known, so that nothing stated is left unchecked."""
    if strange := set(keys) - KEYS[kind]:
        raise NotUnderstoodError(f"unknown in a {kind}: {', '.join(sorted(strange))}")


def check_words(stated: dict[str, Any], vocabulary: dict[str, Any]) -> None:
    """Fail for a word outside of the vocabulary."""
    words = [(stated.get("outcome"), vocabulary["outcome"])]
    words += [(stated.get("error"), vocabulary["file_error"])]
    words += [(stated.get("needs"), vocabulary["needs"])]
    words += [(w.partition(":")[0], vocabulary["warning"]) for w in stated.get("warnings", [])]
    words += [(e["kind"], vocabulary["row_error"]) for e in stated.get("row_errors", [])]
    for row in stated.get("rows", []):
        understand(row, "row")
        words += [(v[0], vocabulary["column"]["type"].split()) for v in row["values"] if v]
    for error in stated.get("row_errors", []):
        understand(error, "row_error")
    for word, known in words:
        if word is not None and word not in known:
            raise NotUnderstoodError(f"not in the vocabulary: {word}")


def importer_of(columns: list[dict[str, Any]], vocabulary: dict[str, Any]) -> Importer:
    """The importer that a manifest's columns declare."""
    for column in columns:
        understand(column, "column")
        if column["type"] not in vocabulary["column"]["type"].split():
            raise NotUnderstoodError(f"no such type: {column['type']}")
    made = {column["field"]: _column(column) for column in columns}
    return type("Declared", (_Declared,), {"columns": made})()


class _Declared(Importer):
    def existing(self, field, values, run):
        known = Article.objects.filter(tenant=run.tenant, code__in=[str(v) for v in values])
        codes = set(known.values_list("code", flat=True))
        return {value for value in values if str(value) in codes}


def _column(column: dict[str, Any]) -> Column:
    shared = {
        "header": column["header"] or column.get("label") or "",
        "position": column.get("position"),
        "unique": column.get("unique", False),
    }
    if column["header"] is None:
        shared["header"] = ""
    required = column.get("required", False)
    if column["type"] == "ref":
        return RefColumn(
            lambda run: Supplier.objects.filter(tenant=run.tenant),
            lookup="name",
            required=required,
            **shared,
        )
    limits = {k: column[k] for k in ("max_length", "max_digits", "decimal_places") if k in column}
    return Column(FIELDS[column["type"]](required=required, **limits), **shared)


class Case:
    """One file with what is right for it."""

    def __init__(self, stated: dict[str, Any], manifest: dict[str, Any], folder: Path) -> None:
        self.stated = stated
        self.manifest = manifest
        self.folder = folder
        self.vocabulary = manifest["vocabulary"]
        self._understand()
        self.importer = importer_of(stated["columns"], self.vocabulary)
        self.noticed: list[str] = []

    def _understand(self) -> None:
        """Fail at once for anything that would be left unchecked."""
        stated = self.stated
        understand(stated, "case")
        understand(stated["expect"], "expect")
        check_words(stated["expect"], self.vocabulary)
        for variant in stated["variants"]:
            understand(variant, "variant")
            check_words(variant, self.vocabulary)
        for options in (stated["options"], *(v["options"] for v in stated["variants"])):
            if strange := set(options) - set(self.vocabulary["options"]):
                raise NotUnderstoodError(f"unknown options: {', '.join(sorted(strange))}")
        if strange := set(stated["given"]) - set(self.vocabulary["given"]):
            raise NotUnderstoodError(f"unknown in given: {', '.join(sorted(strange))}")

    def run(self) -> list[str]:
        """Observe the file, and again after each answer; say every difference to what is right."""
        return self.differences(self.observations())

    def observations(self) -> list[dict[str, Any]]:
        """What our code finds in the file at first, and after each answer."""
        assume = self.manifest["assume"]
        changed = {
            "TIMEZONE": assume["timezone"],
            "MAX_COLUMNS": assume["max_columns"],
            "MAX_ROWS": assume["max_rows"],
            "MAX_FIELD_CHARS": assume["max_field_chars"],
            "MAX_UNPACKED_MIB": assume["max_unpacked_mib"],
            "MAX_UNPACK_RATIO": assume["max_unpack_ratio_when_over_10_mib"],
            "MAX_UPLOAD_MIB": assume["max_upload_mib"],
        }
        answers = [{}, *(variant["options"] for variant in self.stated["variants"])]
        with override_settings(FAIRIMPORT=changed):
            assert fairimport_settings.timezone == assume["timezone"]
            self.give()
            return [self.observe({**self.stated["options"], **answer}) for answer in answers]

    def differences(self, observed: list[dict[str, Any]]) -> list[str]:
        """Every difference between what is stated and what was observed."""
        found = difference(self.stated["expect"], observed[0])
        for variant, after in zip(self.stated["variants"], observed[1:], strict=True):
            right = {k: v for k, v in variant.items() if k not in ("options", "note")}
            found += [f"{variant['options']}: {said}" for said in difference(right, after)]
        return found

    def observe(self, options: dict[str, Any]) -> dict[str, Any]:
        """What our code finds in the file, in the manifest's words."""
        path = self.folder / self.stated["file"]
        refused = self._receive(path)
        if refused:
            return {"outcome": "file_error", "error": refused, "rows": [], "row_errors": []} | {
                "header_row": None,
                "warnings": [],
                "good_rows": 0,
                "bad_rows": 0,
            }
        trial = Trial(tenant=TENANT, options=options)
        found = preview(path, self.importer, trial, filename=path.name).to_json()
        if found["outcome"] in ("ok", "ok_with_warnings", "row_errors") and self.noticed:
            found["warnings"] = [*self.noticed, *found["warnings"]]
            if found["outcome"] == "ok":
                found["outcome"] = "ok_with_warnings"
        return found

    def _receive(self, path: Path) -> str:
        """Take the file as an upload; the code of a refusal, and what was noticed at the door."""
        try:
            with path.open("rb") as content:
                run = intake.receive(
                    tenant=TENANT,
                    user=None,
                    importer=f"cases.{self.stated['id']}",
                    upload=File(content, name=path.name),
                    token=str(uuid.uuid4()),
                )
        except FileRefused as refused:
            return refused.code
        self.noticed = list(run.warnings)
        run.delete()
        return ""

    def give(self) -> None:
        """Put into the database what was there before."""
        given = self.stated["given"]
        for code in given.get("existing_codes", []):
            Article.objects.create(tenant=TENANT, code=code)
        for name in given.get("suppliers", []):
            Supplier.objects.create(tenant=TENANT, name=name)
        for name in given.get("suppliers_of_another_tenant", []):
            Supplier.objects.create(tenant=STRANGER, name=name)
        if earlier := given.get("uploaded_before"):
            self._upload(self.folder / earlier)
        if earlier := given.get("imported_before"):
            self._import(self.folder / earlier)

    def _upload(self, path: Path) -> None:
        with path.open("rb") as content:
            intake.receive(
                tenant=TENANT,
                user=None,
                importer=f"cases.{self.stated['id']}",
                upload=File(content, name=path.name),
                token=str(uuid.uuid4()),
            )

    def _import(self, path: Path) -> None:
        """Import the codes of an earlier file."""
        found = preview(path, self.importer, Trial(tenant=TENANT), filename=path.name)
        names = [column["field"] for column in self.stated["columns"] if column.get("unique")]
        place = [column["field"] for column in self.stated["columns"]].index(names[0])
        for _number, values in found.rows:
            Article.objects.create(tenant=TENANT, code=values[place][1])


def difference(right: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Every difference between what is stated and what was observed; warnings in any order."""
    said = []
    for key, value in _comparable(right).items():
        other = _comparable(found).get(key)
        if value != other:
            said.append(f"{key}: {_first_difference(value, other)}")
    unasked = {"error", "needs"} & set(found) - set(right) if "outcome" in right else set()
    return said + [f"{key}: not expected, but {found[key]}" for key in sorted(unasked)]


def _comparable(stated: dict[str, Any]) -> dict[str, Any]:
    made = dict(stated)
    if "warnings" in made:
        made["warnings"] = sorted(made["warnings"])
    if "row_errors" in made:
        errors = [(e["row"], e["field"] or "", e["kind"]) for e in made["row_errors"]]
        made["row_errors"] = sorted(errors)
    return made


def _first_difference(right: Any, found: Any) -> str:
    if isinstance(right, list) and isinstance(found, list):
        for place, (one, other) in enumerate(zip(right, found, strict=False)):
            if one != other:
                return f"at {place} expected {one!r}, found {other!r}"
        return f"expected {len(right)}, found {len(found)}: {(right + found)[-1]!r}"
    return f"expected {right!r}, found {found!r}"
