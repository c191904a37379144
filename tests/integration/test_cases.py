"""Each file of the folder, through the code that an upload takes, gives what is right for it."""

import pytest

from tests.manifest import FOLDER, Case, load

CASES = {stated["id"]: stated for stated in load()["cases"]}


@pytest.mark.django_db
@pytest.mark.parametrize("name", CASES)
def test_case(name):
    """Outcome, rows, errors, warnings and questions are those of the manifest."""
    assert Case(CASES[name], load(), FOLDER).run() == []
