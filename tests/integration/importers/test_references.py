"""Names in cells, made records of the tenant."""

import pytest

from fairimport.importers import RefColumn
from fairimport.runs.preview import Trial
from fairimport.runs.refs import RefIndex
from fairimport.sheets.values import CellRejected
from tests.warehouse.models import Article, Supplier

pytestmark = pytest.mark.django_db
COLUMN = RefColumn(lambda run: Supplier.objects.filter(tenant=run.tenant), lookup="name")


@pytest.fixture
def index():
    """The suppliers of one tenant."""
    for name in ["North Ltd", "Twin", "Twin", "south", "South", "Cafe\u0301"]:
        Supplier.objects.create(tenant="acme", name=name)
    Supplier.objects.create(tenant="birch", name="Other Tenant Co")
    return RefIndex(COLUMN, Trial(tenant="acme"))


def code(index, name):
    """Why the name is refused."""
    with pytest.raises(CellRejected) as refused:
        index.find(name)
    return refused.value.code


def test_names_are_found_whatever_their_writing(index):
    """Case, blanks around and the form of accents do not matter."""
    assert index.find("North Ltd").name == "North Ltd"
    assert index.find("north  ltd").name == "North Ltd"
    assert index.name_of(index.find("Caf\u00e9")) == "Cafe\u0301"


def test_an_exact_name_wins_over_similar_ones(index):
    """Without it two that differ in case only are one too many."""
    assert index.find("south").name == "south"
    assert index.find("South").name == "South"
    assert code(index, "SOUTH") == "ambiguous_reference"


def test_unknown_names_and_those_of_other_tenants_are_refused_alike(index):
    """Nobody learns what others have."""
    assert code(index, "Nobody") == "unknown_reference"
    assert code(index, "Other Tenant Co") == "unknown_reference"
    assert code(index, "Twin") == "ambiguous_reference"


def test_records_are_read_once(index, django_assert_num_queries):
    """However many names are looked up."""
    with django_assert_num_queries(1):
        for _ in range(3):
            index.find("North Ltd")
            code(index, "Nobody")


def test_a_name_may_be_that_of_a_related_record():
    """As Django's lookups follow relations."""
    supplier = Supplier.objects.create(tenant="acme", name="North Ltd")
    article = Article.objects.create(tenant="acme", code="A-1", supplier=supplier)
    column = RefColumn(lambda run: Article.objects.select_related(), lookup="supplier__name")
    assert RefIndex(column, Trial()).find("north ltd") == article
