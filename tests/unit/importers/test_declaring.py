"""What a host declares."""

import pytest
from django import forms
from django.core.exceptions import ImproperlyConfigured

from fairimport.importers import (
    Column,
    Importer,
    Outcome,
    RefColumn,
    Row,
    UnknownImporter,
    columns_from_form,
    kind_of,
    registry,
)
from fairimport.importers.registry import Registry


class Lines(Importer):
    """Two columns."""

    title = "Lines"
    number = Column(forms.CharField(label="Invoice number"), key=True)
    amount = Column(forms.DecimalField(required=False), header="Total")


class MoreLines(Lines):
    """One more column, and one that is declared anew."""

    amount = Column(forms.IntegerField())
    paid_on = Column(forms.DateField(help_text="when"))


class Contact(forms.Form):
    """A form of the host's."""

    email = forms.EmailField()
    age = forms.IntegerField(required=False)


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        (forms.CharField(), "text"),
        (forms.EmailField(), "text"),
        (forms.ChoiceField(), "text"),
        (forms.UUIDField(), "text"),
        (forms.IntegerField(), "int"),
        (forms.FloatField(), "decimal"),
        (forms.DecimalField(), "decimal"),
        (forms.BooleanField(), "bool"),
        (forms.NullBooleanField(), "bool"),
        (forms.DateField(), "date"),
        (forms.DateTimeField(), "datetime"),
        (forms.TimeField(), "time"),
        (forms.DurationField(), "duration"),
    ],
)
def test_a_kind_is_taken_from_the_class_of_the_field(field, kind):
    """Also from that of a subclass."""
    assert kind_of(field) == kind
    assert kind_of(type("Own", (type(field),), {})()) == kind


def test_columns_know_their_names_and_order():
    """A subclass adds to its base's columns and may replace them."""
    assert list(Lines.columns) == ["number", "amount"]
    assert list(MoreLines.columns) == ["number", "amount", "paid_on"]
    assert [column.name for column in MoreLines.columns.values()] == list(MoreLines.columns)
    assert Lines.columns["amount"] is not MoreLines.columns["amount"]


def test_a_bound_column_has_its_names_and_its_field():
    """The header, else the field's label, else the name in words."""
    number, amount = Lines().bound_columns(None)
    assert (number.label, number.kind, number.required) == ("Invoice number", "text", True)
    assert (amount.label, amount.kind, amount.required) == ("Total", "decimal", False)
    paid_on = MoreLines().bound_columns(None)[2]
    assert (paid_on.label, paid_on.help_text) == ("Paid on", "when")


def test_a_field_may_depend_on_the_run():
    """Choices that only the tenant has, say."""
    column = Column(lambda run: forms.ChoiceField(choices=[(run, run)]))
    column.name = "colour"
    assert column.bind("red").field.choices == [("red", "red")]


def test_references_are_columns_of_their_own():
    """A field that queries for each row, and for every tenant, is refused."""
    column = RefColumn(lambda run: None, lookup="name", required=False, label="Supplier")
    column.name = "supplier"
    bound = column.bind(None)
    assert (bound.kind, bound.label, bound.required) == ("ref", "Supplier", False)
    with pytest.raises(ImproperlyConfigured):
        Column(forms.ModelChoiceField(queryset=None))


def test_columns_are_made_from_a_form():
    """Its fields, with further arguments for some of them."""
    columns = columns_from_form(Contact, email={"key": True, "aliases": ["mail"]})
    assert [c.key for c in columns.values()] == [True, False]
    importer = type("Contacts", (Importer,), {"columns": columns})()
    assert [c.label for c in importer.bound_columns(None)] == ["Email", "Age"]
    with pytest.raises(ImproperlyConfigured, match="phone"):
        columns_from_form(Contact, phone={})


def test_importers_have_stable_names_and_titles():
    """`app_label.ClassName`; the title is the class's name unless it is given."""
    assert Lines.get_name().endswith(".Lines")
    assert registry.all()[0].get_name().count(".") == 1
    assert (Lines.get_title(), MoreLines.get_title()) == ("Lines", "Lines")
    assert type("Bare", (Importer,), {}).get_title() == "Bare"


def test_the_registry_keeps_one_importer_a_name():
    """A second one of the same name and another module is a mistake."""
    known = Registry()
    assert known.register(Lines) is Lines
    assert known.register(Lines) is Lines
    assert known.get(Lines.get_name()) is Lines
    other = type("Lines", (Importer,), {"__module__": f"{Lines.__module__.partition('.')[0]}.x"})
    with pytest.raises(ValueError, match="two importers"):
        known.register(other)
    known.unregister(Lines)
    with pytest.raises(UnknownImporter, match="Lines"):
        known.get(Lines.get_name())
    assert known.all() == []


def test_importers_of_installed_apps_are_found():
    """Their `importers` modules are imported when Django starts."""
    assert registry.get("demo_site.InvoiceLines").get_name() == "demo_site.InvoiceLines"


def test_rows_tell_blank_from_missing():
    """Both have no value; only one had a column."""
    row = Row({"a": 1, "b": None, "c": None}, number=7, key="k:7", missing=frozenset({"c"}))
    assert (row["a"], row["b"], row["c"]) == (1, None, None)
    assert (row.blank("a"), row.blank("b"), row.blank("c")) == (False, True, False)
    assert (row.missing("b"), row.missing("c")) == (False, True)
    assert row.given() == {"a": 1, "b": None}
    assert (len(row), list(row), row.key) == (3, ["a", "b", "c"], "k:7")
    assert repr(row) == "<Row 7>"


def test_an_importer_writes_row_by_row_unless_it_can_do_more():
    """`save_rows` makes it one that writes in bulk."""

    class Single(Importer):
        def save_row(self, row, run):
            return Outcome.UPDATED

    class Bulk(Importer):
        def save_rows(self, rows, run):
            return [None for _ in rows]

    rows = [Row({}, number=n, key=str(n), missing=frozenset()) for n in (1, 2)]
    assert (Single().bulk, Bulk().bulk) == (False, True)
    assert Single().save_rows(rows, None) == [Outcome.UPDATED, Outcome.UPDATED]
    with pytest.raises(TypeError, match="save_row"):
        Importer().save_row(rows[0], None)
    assert list(Importer().existing("a", {1}, None)) == []
