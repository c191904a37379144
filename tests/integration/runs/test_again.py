"""The same file again, and the same rows in another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairimport.states import State
from tests.integration.runs.conftest import outcomes, work
from tests.warehouse.models import Article

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]
CASES = Path(__file__).resolve().parents[2] / "cases"


def case(name: str) -> bytes:
    return (CASES / name).read_bytes()


def test_rows_that_exist_are_refused_where_they_must_be_new(started):
    """J04: another file with the same rows: both are refused, two records exist."""
    work(started(case("b05_same_bytes_again.csv"), importer="Articles"))
    again = started(case("b07_same_rows_resaved.xlsx"), importer="Articles", name="b07.xlsx")
    assert (again.check_result["good"], again.check_result["bad"]) == (0, 2)
    again = work(again)
    assert (again.state, outcomes(again)) == (State.FINISHED, {"rejected": 2})
    codes = {r.reasons[0]["code"] for r in again.rejected_rows.all()}
    assert codes == {"already_exists"}
    assert Article.objects.count() == 2


def test_rows_that_exist_are_updated_where_they_have_a_key(started):
    """The second time nothing is created, and what is the same is counted as unchanged."""
    text = "code,name,quantity\na,Lamp,1\nb,Desk,2\n"
    work(started(text, importer="KnownArticles"))
    changed = text.replace("Desk", "Table")
    again = work(started(changed, importer="KnownArticles"))
    assert outcomes(again) == {"updated": 1, "unchanged": 1}
    assert Article.objects.get(code="b").name == "Table"


def test_another_tenants_records_are_none_of_its_business(started):
    """The same codes of two tenants are four records."""
    for tenant in ("acme", "birch"):
        run = work(started("code,name\na,x\nb,y\n", importer="Articles", tenant=tenant))
        assert outcomes(run) == {"created": 2}
    assert Article.objects.count() == 4


def test_a_large_file_is_written_in_bulk(started, django_assert_max_num_queries):
    """2,500 rows of a model importer cost far less than a statement a row."""
    run = started(case("b04_2500_rows.csv"), importer="Articles", name="b04.csv")
    with django_assert_max_num_queries(1200):
        run = work(run)
    assert outcomes(run) == {"created": 2500}
    assert Article.objects.count() == 2500
