"""Row errors in words."""

import pytest
from django.utils import translation

from fairimport.runs.messages import example, row_message
from fairimport.sheets.values import Spec, ValueOptions, convert
from tests.manifest import load

FACTS = {"raw": "xyz", "example": "ABC", "places": 2, "first": "7", "zone": "Europe/Berlin"}
KINDS = ["text", "ref", "int", "decimal", "bool", "date", "datetime", "time", "duration"]


@pytest.mark.parametrize("code", load()["vocabulary"]["row_error"])
def test_every_code_of_the_vocabulary_has_a_sentence(code):
    """It ends with a full stop, and it says what was found, or what was not."""
    sentence = row_message(code, "date", FACTS)
    assert sentence.endswith(".")
    assert "xyz" in sentence or code in ("required", "field_too_long")
    assert "%(" not in sentence


def test_a_time_is_not_called_a_date():
    """The code is the same, the sentence is not."""
    assert "time" in row_message("invalid_date", "time", FACTS)
    assert "time" in row_message("invalid_date", "duration", FACTS)
    assert "date" in row_message("invalid_date", "datetime", FACTS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options", [{}, {"decimal": ","}, {"date_order": "DMY"}, {"date_order": "MDY"}]
)
@pytest.mark.parametrize("language", ["en", "de"])
def test_what_is_given_as_an_example_is_read(kind, options, language):
    """By the very options of the run, in every language."""
    with translation.override(language):
        text = example(kind, options)
    spec = Spec(kind=kind, decimal_places=2, date_order=options.get("date_order", ""))
    assert convert(text, spec, ValueOptions.from_json(options)) is not None


def test_an_unknown_code_still_gets_a_sentence():
    """A later reader may know more than this."""
    assert row_message("something_new", "text", FACTS) == "\u201cxyz\u201d cannot be read here."
