"""A manifest that states something wrong is noticed, whatever it is wrong about."""

import copy

import pytest
from django.db import transaction

from tests.manifest import FOLDER, Case, NotUnderstoodError, load

BY_ID = {stated["id"]: stated for stated in load()["cases"]}


def spoiled(name, spoil):
    """A file whose statements are spoiled."""
    stated = copy.deepcopy(BY_ID[name])
    spoil(stated)
    return Case(stated, load(), FOLDER)


@pytest.fixture(scope="module")
def observed(django_db_setup, django_db_blocker):
    """What is found in some files as they are; each is right."""
    found = {}
    with django_db_blocker.unblock():
        for name in ("n05", "v29", "v23", "d07", "c09", "c08"):
            with transaction.atomic():
                found[name] = spoiled(name, lambda stated: None).observations()
                transaction.set_rollback(True)
    return found


def set_value(stated):
    stated["expect"]["rows"][0]["values"][1] = ["decimal", "0.31"]


def set_type(stated):
    stated["expect"]["rows"][0]["values"][1] = ["text", "0.30"]


def set_blank(stated):
    stated["expect"]["rows"][0]["values"][1] = None


def set_row_number(stated):
    stated["expect"]["rows"][0]["row"] += 1


def drop_row(stated):
    stated["expect"]["rows"].pop()


def set_error_row(stated):
    stated["expect"]["row_errors"][0]["row"] += 1


def set_error_field(stated):
    stated["expect"]["row_errors"][0]["field"] = "Code"


def set_error_kind(stated):
    stated["expect"]["row_errors"][0]["kind"] = "invalid_decimal"


def drop_error(stated):
    stated["expect"]["row_errors"].pop()


def set_outcome(stated):
    stated["expect"]["outcome"] = "ok"


def set_header_row(stated):
    stated["expect"]["header_row"] = 2


def set_good_rows(stated):
    stated["expect"]["good_rows"] += 1


def add_warning(stated):
    stated["expect"]["warnings"].append("hidden_rows:1")


@pytest.mark.parametrize(
    "spoil",
    [
        set_value,
        set_type,
        set_blank,
        set_row_number,
        drop_row,
        set_error_row,
        set_error_field,
        set_error_kind,
        drop_error,
        set_outcome,
        set_header_row,
        set_good_rows,
        add_warning,
    ],
)
def test_a_wrong_statement_is_noticed(spoil, observed):
    """One thing stated wrongly about rows, errors, warnings or the outcome makes a difference."""
    assert spoiled("n05", lambda stated: None).differences(observed["n05"]) == []
    assert spoiled("n05", spoil).differences(observed["n05"]) != []


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("v29", lambda stated: stated["expect"].update(warnings=["blank_rows:4"])),
        ("v29", lambda stated: stated["expect"].update(warnings=[])),
        ("v23", lambda stated: stated["expect"].update(error="no_rows")),
        ("d07", lambda stated: stated["expect"].update(needs="encoding")),
        ("d07", lambda stated: stated["expect"].pop("needs")),
        ("d07", lambda stated: stated["variants"].reverse()),
        ("c09", lambda stated: stated["variants"][1]["rows"].pop()),
        ("c08", lambda stated: stated["expect"].update(sheet="Chart")),
    ],
)
def test_wrong_questions_and_warnings_are_noticed(name, spoil, observed):
    """What is asked and what each answer gives are held to, too."""
    assert spoiled(name, lambda stated: None).differences(observed[name]) == []
    assert spoiled(name, spoil).differences(observed[name]) != []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("b03", lambda stated: stated["given"].update(suppliers=["North Ltd"])),
        ("b07", lambda stated: stated["given"].clear()),
        ("b06", lambda stated: stated["given"].clear()),
        ("n07", lambda stated: stated["options"].clear()),
        ("n03", lambda stated: stated["columns"][1].update(required=True, header="X", field="X")),
    ],
)
def test_other_records_choices_or_columns_make_a_difference(name, spoil):
    """What was there before, what was chosen and what is declared are made use of."""
    assert spoiled(name, spoil).run() != []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda stated: stated.update(colour="red"),
        lambda stated: stated["expect"].update(colour="red"),
        lambda stated: stated["expect"].update(outcome="fine"),
        lambda stated: stated["expect"].update(warnings=["odd:1"]),
        lambda stated: stated["expect"]["row_errors"][0].update(kind="odd"),
        lambda stated: stated["expect"]["row_errors"][0].update(odd=1),
        lambda stated: stated["expect"]["rows"][0].update(odd=1),
        lambda stated: stated["expect"]["rows"][0]["values"].append(["odd", "1"]),
        lambda stated: stated["columns"][0].update(type="odd"),
        lambda stated: stated["columns"][0].update(odd=True),
        lambda stated: stated["options"].update(odd=1),
        lambda stated: stated["given"].update(odd=1),
        lambda stated: stated["variants"].append({"options": {}, "rows": [], "odd": 1}),
    ],
)
def test_what_is_not_understood_is_an_error(spoil):
    """A word outside of the vocabulary is never passed over."""
    with pytest.raises(NotUnderstoodError):
        spoiled("n05", spoil)
