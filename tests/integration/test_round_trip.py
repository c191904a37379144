"""Failed-rows files come back as what the customer sent."""

import shutil

import pytest
from django.test import override_settings

from fairimport.runs.preview import Trial
from tests.manifest import FOLDER, TENANT, Case, load
from tests.round_trip import come_back, headers_of, judge, opened, write


def answers():
    """Every file with good rows, with each set of options that gives them."""
    for stated in load()["cases"]:
        tries = [{**stated["expect"], "options": {}}, *stated["variants"]]
        for place, right in enumerate(tries):
            if right["rows"]:
                options = {**stated["options"], **right["options"]}
                yield pytest.param(stated, options, id=f"{stated['id']}-{place}")


@pytest.mark.django_db
@pytest.mark.parametrize("form", ["xlsx", "csv"])
@pytest.mark.parametrize(("stated", "options"), list(answers()))
def test_refused_rows_come_back_as_they_were(stated, options, form, tmp_path):
    """Whatever a row was worth at first, it is worth when its failed-rows file is uploaded."""
    path = tmp_path / f"first{(FOLDER / stated['file']).suffix}"
    shutil.copy(FOLDER / stated["file"], path)
    trial = Trial(tenant=TENANT, options=options)
    with override_settings(FAIRIMPORT={"TIMEZONE": load()["assume"]["timezone"]}):
        judged = Case(stated, load(), FOLDER)
        judged.give()
        with opened(path, judged.importer, trial) as (survey, found, binding):
            again = tmp_path / f"again.{form}"
            write(form, again, headers_of(survey), found, binding)
            returned = judge(binding, come_back(again, binding, trial))
            first = judge(binding, found)
    assert {number: returned[number] for number in first} == first
