"""An importer that writes one model in bulk."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django import forms
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from fairimport.importers import Column, ModelImporter, Outcome, RefColumn, Row
from fairimport.runs.preview import Trial
from tests.warehouse.models import Article, Supplier

RUN = Trial(tenant="acme")
CREATED, UPDATED, UNCHANGED = Outcome.CREATED, Outcome.UPDATED, Outcome.UNCHANGED


class Articles(ModelImporter):
    """Articles by their code."""

    model = Article
    fields = ("code", "name", "quantity", "price", "active", "supplier")
    key = "code"
    supplier = RefColumn(
        lambda run: Supplier.objects.filter(tenant=run.tenant), lookup="name", required=False
    )
    note = Column(forms.CharField(required=False))


class Careful(Articles):
    """A blank cell leaves a value alone."""

    blank = "keep"


def row(number, missing=(), **values):
    """A typed row; columns that are not named are missing."""
    given = {name: values.get(name) for name in Articles.columns}
    absent = frozenset(Articles.columns) - set(values) | set(missing)
    return Row(given, number=number, key=str(number), missing=absent)


def save(importer, *rows):
    """The outcomes of the rows."""
    return list(importer().save_rows(rows, RUN))


def stored():
    """Code and name of the tenant's articles."""
    return dict(Article.objects.filter(tenant="acme").values_list("code", "name"))


def test_columns_come_from_the_model():
    """With the model's validators; a default makes a field optional, a key makes it required."""
    columns = {c.name: c for c in Articles().bound_columns(RUN)}
    assert list(columns) == ["code", "name", "quantity", "price", "active", "supplier", "note"]
    kinds = [column.kind for column in columns.values()]
    assert kinds == ["text", "text", "int", "decimal", "bool", "ref", "text"]
    assert [name for name, column in columns.items() if column.required] == ["code"]
    assert columns["code"].column.key
    with pytest.raises(forms.ValidationError):
        columns["quantity"].field.run_validators(2**80)


@pytest.mark.django_db
def test_rows_are_created_updated_or_left_alone():
    """By their key, within the tenant."""
    Article.objects.create(tenant="birch", code="A-1", name="not ours")
    first = save(Articles, row(2, code="A-1", name="Lamp"), row(3, code="A-2", name="Desk"))
    again = save(Articles, row(2, code="A-1", name="Lamp"), row(3, code="A-2", name="Table"))
    assert first == [CREATED, CREATED]
    assert again == [UNCHANGED, UPDATED]
    assert stored() == {"A-1": "Lamp", "A-2": "Table"}
    assert Article.objects.get(tenant="birch").name == "not ours"


@pytest.mark.django_db
def test_a_batch_costs_few_queries(django_assert_max_num_queries):
    """One to look, one to create, and bulk updates."""
    save(Articles, *(row(n, code=f"A-{n}", name="x") for n in range(0, 400, 2)))
    with django_assert_max_num_queries(8):
        outcomes = save(Articles, *(row(n, code=f"A-{n}", name="y") for n in range(400)))
    assert outcomes == [UPDATED, CREATED] * 200


@pytest.mark.django_db
def test_a_missing_column_never_changes_a_value_and_a_blank_cell_clears_it():
    """Cleared means null, else the default, else an empty text."""
    Article.objects.create(tenant="acme", code="A-1", name="Lamp", quantity=3, active=False)
    assert save(Articles, row(2, code="A-1", quantity=3)) == [UNCHANGED]
    assert save(Articles, row(2, code="A-1", name=None, quantity=None, active=None)) == [UPDATED]
    article = Article.objects.get()
    assert (article.name, article.quantity, article.active) == ("", None, True)


@pytest.mark.django_db
def test_a_blank_cell_may_keep_what_is_there():
    """For new records it still means the default."""
    Article.objects.create(tenant="acme", code="A-1", name="Lamp", active=False)
    rows = row(2, code="A-1", name=None, active=None), row(3, code="A-2", name=None, active=None)
    assert save(Careful, *rows) == [UNCHANGED, CREATED]
    assert stored() == {"A-1": "Lamp", "A-2": ""}
    assert list(Article.objects.values_list("active", flat=True)) == [False, True]


@pytest.mark.django_db
def test_references_decimals_and_falsehoods_are_compared_as_they_are():
    """An explicit false is stored, an equal record is left alone."""
    one = Supplier.objects.create(tenant="acme", name="North")
    other = Supplier.objects.create(tenant="acme", name="South")
    values = {"code": "A-1", "price": Decimal("9.90"), "active": False, "supplier": one}
    assert save(Articles, row(2, **values)) == [CREATED]
    assert save(Articles, row(2, **values)) == [UNCHANGED]
    assert save(Articles, row(2, **{**values, "supplier": other})) == [UPDATED]
    article = Article.objects.get()
    assert (article.active, article.supplier_id) == (False, other.pk)


@pytest.mark.django_db
def test_time_stamps_of_the_model_move_on():
    """Bulk updates set what `auto_now` would have set."""
    save(Articles, row(2, code="A-1", name="Lamp"))
    Article.objects.update(changed=timezone.now() - timedelta(days=9))
    save(Articles, row(2, code="A-1", name="Desk"))
    assert timezone.now() - Article.objects.get().changed < timedelta(minutes=5)


@pytest.mark.django_db
def test_what_is_no_field_of_the_model_is_left_out():
    """A column may be there for a hook only."""
    assert save(Articles, row(2, code="A-1", note="for later")) == [CREATED]


@pytest.mark.django_db
def test_without_a_key_every_row_is_new():
    """There is nothing to find records by."""

    class Log(ModelImporter):
        model = Supplier
        fields = ("name",)

    row_of = lambda n: Row({"name": "x"}, number=n, key=str(n), missing=frozenset())  # noqa: E731
    assert save(Log, row_of(2), row_of(3)) == [CREATED, CREATED]
    assert Supplier.objects.filter(tenant="acme").count() == 2


@pytest.mark.django_db
def test_several_fields_may_be_one_key():
    """A record is found only when all of them fit."""

    class ByBoth(ModelImporter):
        model = Article
        fields = ("code", "name", "quantity")
        key = ("code", "name")

    def line(n, name, quantity):
        values = {"code": f"A-{n}", "name": name, "quantity": quantity}
        return Row(values, number=n, key=str(n), missing=frozenset())

    assert save(ByBoth, line(1, "x", 1), line(2, "y", 1)) == [CREATED, CREATED]
    assert save(ByBoth, line(1, "x", 2), line(3, "y", 1)) == [UPDATED, CREATED]


@pytest.mark.django_db
def test_existing_values_are_those_of_the_tenant():
    """For columns that must not be there before."""
    Article.objects.create(tenant="birch", code="A-1")
    Article.objects.create(tenant="acme", code="A-2")
    assert set(Articles().existing("code", {"A-1", "A-2"}, RUN)) == {"A-2"}


@pytest.mark.django_db
def test_a_row_alone_is_written_like_one_of_many():
    """And a host that rewrites `save_row` is called for each."""

    class Own(Articles):
        def save_row(self, row, run):
            return super().save_row(row, run) and Outcome.SKIPPED

    assert Articles().save_row(row(2, code="A-1", name="Lamp"), RUN) == CREATED
    assert (Articles().bulk, Own().bulk) == (True, False)
    assert Own().save_row(row(2, code="A-3"), RUN) == Outcome.SKIPPED


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"fields": ("code", "colour")}, "colour"),
        ({"fields": ("code", "tenant")}, "whose"),
        ({"fields": ("code", "supplier")}, "RefColumn for supplier"),
        ({"fields": ("name",), "key": "code"}, "code must be in fields"),
        ({"fields": ("code",), "tenant_field": "company"}, "company"),
        ({"fields": ("code", "id")}, "id cannot be imported"),
    ],
)
def test_a_wrong_declaration_says_what_is_wrong(words, message):
    """When the class is made, not when the first row fails."""
    with pytest.raises(ImproperlyConfigured, match=message):
        type("Wrong", (ModelImporter,), {"model": Article, **words})
