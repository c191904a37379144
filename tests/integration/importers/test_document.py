"""What the page about importers shows works, in the order in which it is shown."""

import re
from pathlib import Path

import pytest

from fairimport.importers import Importer, Outcome, Row, registry
from fairimport.importers.columns import KINDS
from fairimport.runs.binding import bind, guess
from fairimport.runs.preview import Trial, preview
from fairimport.sheets import SheetRow
from tests.manifest import load
from tests.unit.runs.test_binding import survey
from tests.warehouse.models import Article, Supplier

PAGE = (Path(__file__).resolve().parents[3] / "docs/importers.md").read_text()
RUN = Trial(tenant="acme")
NAMES = ["Articles", "SuppliedArticles", "Stock", "SignUps"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def shown():
    """The classes of the page, as a shop with our models would have them."""
    namespace = {"__name__": "shop.importers"}
    for snippet in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        code = snippet.replace("shop.models", "tests.warehouse.models")
        exec(compile(code, "docs/importers.md", "exec"), namespace)  # noqa: S102  (our own page)
    yield namespace
    for name in NAMES:
        registry.unregister(namespace[name])


def work(importer, headers, *lines):
    """The outcomes and reasons of some lines of a file."""
    facts = survey(headers)
    binding = bind(importer, facts, guess(importer, facts), {}, RUN)
    assert binding.missing == []
    cleaned = binding.clean_all([SheetRow(n, line) for n, line in enumerate(lines, 2)])
    good = [row for row in cleaned if isinstance(row, Row)]
    bad = [reason.code for row in cleaned if not isinstance(row, Row) for reason in row.reasons]
    return list(importer.save_rows(good, RUN)) + bad


def test_the_importers_of_the_page_work(shown):
    """Each of them does what its text says."""
    Supplier.objects.create(tenant="acme", name="North Ltd")
    articles, supplied, stock = (shown[name]() for name in NAMES[:3])
    headers = ["SKU", "Name", "Price"]
    assert work(articles, headers, ("A-1", "Lamp", "12.50"), ("A-2", "Desk", None)) == [
        Outcome.CREATED,
        Outcome.CREATED,
    ]
    assert work(articles, headers, ("A-1", "Lamp", "x"), ("A-2", "Table", 3)) == [
        Outcome.UPDATED,
        "invalid_decimal",
    ]
    lines = ("A-1", "Lamp", "north ltd"), ("A-2", "Table", "Nobody")
    assert work(supplied, ["code", "name", "supplier"], *lines) == [
        Outcome.UPDATED,
        "unknown_reference",
    ]
    assert Article.objects.get(code="A-1").supplier.name == "North Ltd"
    lines = ("A-2", "Table", 5, "no"), ("A-3", "Rug", None, None), ("A-1", "Lamp", None, "yes")
    assert work(stock, ["code", "name", "quantity", "active"], *lines) == [
        Outcome.UPDATED,
        Outcome.CREATED,
        Outcome.UNCHANGED,
    ]


def test_the_form_of_the_page_rejects_and_skips(shown):
    """With its own code, and without being a mistake."""
    sign_ups = shown["SignUps"]()
    headers = ["mail", "newsletter"]
    assert work(sign_ups, headers, ("a@b.example", "yes")) == [Outcome.CREATED]
    assert work(sign_ups, headers, ("a@known.example", "yes")) == ["already_exists"]
    with pytest.raises(shown["Skip"]):
        work(sign_ups, headers, ("a@b.example", "no"))
    row = Row({"email": "a@example.org"}, number=2, key="", missing=frozenset())
    with pytest.raises(shown["Reject"]) as refused:
        sign_ups.check_row(row, RUN)
    assert (refused.value.field, refused.value.code) == ("email", "domain")


def test_the_page_names_every_hook_every_code_and_every_kind():
    """Nothing that a host may write is left out."""
    hooks = [name for name in vars(Importer) if name.endswith(("_row", "_rows", "_run"))]
    assert [hook for hook in [*hooks, "existing", "Options"] if f"`{hook}" not in PAGE] == []
    codes = load()["vocabulary"]["row_error"]
    assert [code for code in codes if f"`{code}`" not in PAGE] == []
    assert [kind for _field, kind in KINDS if f"| {kind} |" not in PAGE] == []


def test_the_command_of_the_page_reads_such_a_file(shown, tmp_path):
    """With the importer that the page declares first."""
    path = tmp_path / "prices.csv"
    path.write_text("sku;name;price\nA-1;Lamp;12,50\n")
    trial = Trial(tenant="acme", options={"decimal": ","})
    found = preview(path, shown["Articles"](), trial, filename=path.name)
    assert found.rows == [(2, [["text", "A-1"], ["text", "Lamp"], ["decimal", "12.50"]])]
