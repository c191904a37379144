"""What customers fill in about a file that was read: which column is what, and open questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from fairimport.importers import BoundColumn
from fairimport.wording import DATE_ORDERS

if TYPE_CHECKING:
    from fairimport.runs.binding import Binding
    from fairimport.sheets import ColumnFacts, Survey

__all__ = ["MappingForm", "Target"]

READING = ("sheet", "header_row", "encoding", "delimiter", "fill_merged", "skip_hidden")
DELIMITERS = (
    (",", gettext_lazy("comma ,")),
    (";", gettext_lazy("semicolon ;")),
    ("\t", gettext_lazy("tab")),
    ("|", gettext_lazy("bar |")),
)
ENCODINGS = (
    "utf-8",
    "cp1252",
    "iso8859-15",
    "cp1250",
    "cp1251",
    "mac_roman",
    "utf-16",
    "shift_jis",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A column of the importer on the mapping page, with the select for the file's column."""

    column: BoundColumn
    field: forms.BoundField
    facts: ColumnFacts | None
    perhaps: ColumnFacts | None
    """A column with a similar header, when none was guessed."""

    @property
    def samples(self) -> tuple[str, ...]:
        """A few values of the chosen column; none of a column that is secret."""
        return () if self.facts is None or self.column.column.sensitive else self.facts.samples

    @property
    def samples_id(self) -> str:
        """Where the page shows the samples, so that a script can change them with the choice."""
        return f"fi-samples-{self.column.name}"


class MappingForm(forms.Form):
    """Which column of the file is what, the open questions, and how the file is read.

    `chosen` are the options that the run has already, `similar` columns to be suggested.
    """

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        binding: Binding,
        survey: Survey,
        chosen: Mapping[str, Any],
        similar: Mapping[str, list[int]],
    ) -> None:
        super().__init__(data, initial={**chosen})
        self.binding = binding
        self.survey = survey
        self.chosen = chosen
        self.similar = similar
        for column in binding.columns:
            self.fields[f"map-{column.name}"] = self._column_field(column)
        self.fields.update(_questions(binding.needs, survey))
        self.fields.update(_reading(binding.needs, survey))

    def _column_field(self, column: BoundColumn) -> forms.ChoiceField:
        nothing = _("choose a column") if column.required else _("not in the file")
        choices = [("", f"— {nothing} —")]
        choices += [(str(c.position), f"{c.letter}: {c.label}") for c in self.survey.columns]
        return forms.ChoiceField(
            label=column.label,
            choices=choices,
            required=False,
            initial=str(self.binding.mapping.get(column.name, "")),
            widget=forms.Select(attrs={"data-samples": f"fi-samples-{column.name}"}),
        )

    @property
    def rereads(self) -> bool:
        """Whether the file is read anew, so that its columns are not known yet."""
        return bool(self.survey.needs) or "reread" in self.data

    def clean(self) -> dict[str, Any]:
        """Each column of the file at most once, each required one given."""
        if not self.rereads:
            self._check_columns()
        return self.cleaned_data

    def _check_columns(self) -> None:
        taken: dict[str, str] = {}
        for column in self.binding.columns:
            name = f"map-{column.name}"
            position = self.cleaned_data.get(name, "")
            if not position and column.required:
                self.add_error(name, _("Say in which column it stands."))
            elif position and position in taken:
                self.add_error(
                    name, _("This column is already %(other)s.") % {"other": taken[position]}
                )
            taken.setdefault(position, column.label)

    def mapping(self) -> dict[str, int]:
        """Field name to position, of what was chosen; nothing when the file is read anew."""
        if self.rereads:
            return {}
        chosen = ((c.name, self.cleaned_data.get(f"map-{c.name}")) for c in self.binding.columns)
        return {name: int(position) for name, position in chosen if position}

    def options(self) -> dict[str, Any]:
        """The answers to questions and about reading, but for what was left as the file has it."""
        names = [n for n in self.fields if not n.startswith("map-")]
        given = {n: self.cleaned_data[n] for n in names if self.cleaned_data.get(n)}
        return {n: value for n, value in given.items() if self._was_said(n, value)}

    def _was_said(self, name: str, value: Any) -> bool:
        asked = name in self.binding.needs or name in self.chosen
        return asked or value != self.fields[name].initial

    @property
    def targets(self) -> Iterator[Target]:
        """The importer's columns, in their order."""
        for column in self.binding.columns:
            field = self[f"map-{column.name}"]
            position = str(field.value() or "")
            facts = self.survey.column(int(position)) if position.isdecimal() else None
            similar = self.similar.get(column.name, [])
            perhaps = self.survey.column(similar[0]) if similar and facts is None else None
            yield Target(column=column, field=field, facts=facts, perhaps=perhaps)

    @property
    def questions(self) -> list[forms.BoundField]:
        """Fields that must be answered because the file does not say."""
        return [self[n] for n in self.fields if n in self.binding.needs]

    @property
    def reading(self) -> list[forms.BoundField]:
        """Fields about reading that may be changed."""
        return [
            self[n] for n in self.fields if not n.startswith("map-") and n not in self.binding.needs
        ]


def _questions(needs: Any, survey: Survey) -> Mapping[str, forms.Field]:
    fields: dict[str, forms.Field] = {}
    if "sheet" in needs:
        fields["sheet"] = _radio(_("Which sheet has your rows?"), _sheets(survey))
    if "encoding" in needs:
        fields["encoding"] = _radio(
            _("How was this text saved?"),
            [(e, e) for e in survey.encodings or ENCODINGS],
            _("Choose the one with which names and accents look right."),
        )
    if "date_order" in needs:
        fields["date_order"] = _radio(
            _("What comes first in the dates?"),
            [(code, order) for code, order in DATE_ORDERS.items() if code != "YMD"],
            _("Dates such as 03/04/2026 in this file can be read in two ways."),
        )
    return fields


def _reading(needs: Any, survey: Survey) -> Mapping[str, forms.Field]:
    fields: dict[str, forms.Field] = {}
    if "sheet" not in needs and len(survey.sheets) > 1:
        fields["sheet"] = _select(_("Sheet"), _sheets(survey), survey.sheet)
    fields["header_row"] = forms.IntegerField(
        label=_("Row of the header"), min_value=1, required=False, initial=survey.header_row
    )
    if survey.format in ("csv", "text"):
        if "encoding" not in needs:
            known = dict.fromkeys((survey.encoding or "utf-8", *survey.encodings, *ENCODINGS))
            fields["encoding"] = _select(
                _("Text encoding"), [(e, e) for e in known], survey.encoding
            )
        fields["delimiter"] = _select(_("Between columns"), list(DELIMITERS), survey.delimiter)
    else:
        fields["fill_merged"] = _tick(_("Merged cells count for each of their rows"))
        fields["skip_hidden"] = _tick(_("Leave hidden rows out"))
    if "date_order" not in needs:
        orders = [("", _("as the file shows")), *DATE_ORDERS.items()]
        fields["date_order"] = _select(_("Order in dates"), orders, "")
    marks = [("", _("as the file shows")), (".", _("point: 1234.50")), (",", _("comma: 1234,50"))]
    fields["decimal"] = _select(_("Decimal mark"), marks, "")
    return fields


def _sheets(survey: Survey) -> list[tuple[str, str]]:
    return [(s.name, s.name) for s in survey.sheets if s.kind == "worksheet"]


def _radio(label: str, choices: Any, help_text: str = "") -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label,
        choices=choices,
        help_text=help_text,
        widget=forms.RadioSelect,
        error_messages={"required": _("Answer this first.")},
    )


def _select(label: str, choices: Any, initial: str | None) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=choices, required=False, initial=initial)


def _tick(label: str) -> forms.BooleanField:
    return forms.BooleanField(label=label, required=False)
