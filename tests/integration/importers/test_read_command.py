"""`manage.py fairimport_read`: what an import of a file would find."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from fairimport.runs.choices import parse_choices
from tests.manifest import FOLDER, load

BY_ID = {stated["id"]: stated for stated in load()["cases"]}
INVOICES = "Invoice number;Amount;Due date\nA-1;9,90;31/12/2026\nA-2;x;\n"


def run(*arguments):
    """What the command prints, and its exit code."""
    out = io.StringIO()
    try:
        call_command("fairimport_read", *map(str, arguments), stdout=out)
    except SystemExit as ended:
        return out.getvalue(), ended.code
    return out.getvalue(), 0


def observe(name, *arguments):
    """The JSON for a file of the manifest, and the exit code."""
    text, code = run(FOLDER / BY_ID[name]["file"], "--json", *arguments)
    return json.loads(text), code


@pytest.fixture
def invoices(tmp_path):
    """A file for an importer of the demo site."""
    path = tmp_path / "invoices.csv"
    path.write_text(INVOICES)
    return path


def test_json_is_in_the_words_of_the_manifest():
    """One object with the keys of `expect`; exit code 0 when all is well."""
    found, code = observe("n01")
    right = BY_ID["n01"]["expect"]
    assert code == 0
    assert {key: found[key] for key in right} == right


def test_without_an_importer_columns_are_what_their_cells_are():
    """Days are days and numbers numbers where the file has types."""
    values = observe("d03")[0]["rows"][0]["values"]
    assert [kind for kind, _text in values] == ["text", "date", "datetime", "time", "duration"]
    assert observe("n05")[0]["rows"][0]["values"][1] == ["text", "0.3"]
    assert observe("d07")[0]["rows"][0]["values"][1] == ["text", "03/08/2026"]


@pytest.mark.parametrize(
    ("name", "outcome", "code"),
    [("c03", "row_errors", 1), ("w05", "file_error", 2), ("c09", "needs_choice", 3)],
)
def test_the_exit_code_says_the_outcome(name, outcome, code):
    """1 some rows are refused, 2 the file is, 3 a choice is needed."""
    found, ended = observe(name)
    assert (found["outcome"], ended) == (outcome, code)


def test_choices_are_set_on_the_command_line():
    """They are the answers to what is asked."""
    found, code = observe("c09", "--set", "sheet=Feb")
    assert (code, found["sheet"], found["good_rows"]) == (0, "Feb", 1)


@pytest.mark.django_db
def test_an_importer_gives_the_columns_and_the_reasons(invoices):
    """People get sentences, with the columns as they are mapped."""
    text, code = run(
        invoices, "--importer", "demo_site.InvoiceLines", "--set", "decimal=,", "--tenant", "acme"
    )
    assert code == 1
    assert "A 'Invoice number' -> number (text); 2 text" in text
    assert "row 3, Amount: invalid_decimal: \u201cx\u201d is not a number." in text
    assert "row 3, Due date: required" in text
    assert "row 2: A-1 |  | 9.90 | 2026-12-31" in text


def test_people_are_told_why_a_file_is_refused_or_what_is_asked():
    """In sentences."""
    assert "password" in run(FOLDER / BY_ID["w05"]["file"])[0]
    assert "needs:   sheet" in run(FOLDER / BY_ID["c09"]["file"])[0]
    text = run(FOLDER / BY_ID["c06"]["file"])[0]
    assert "warning: hidden_rows:1" in text
    assert "sheet 'Data'" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-file.csv"],
        [FOLDER / "manifest.json", "--importer", "no.Importer"],
        [FOLDER / "manifest.json", "--set", "colour=red"],
    ],
)
def test_a_mistake_on_the_command_line_is_one_sentence(arguments):
    """Not a traceback."""
    with pytest.raises(CommandError):
        run(*arguments)


def test_choices_are_parsed():
    """Flags become true or false, rows become numbers."""
    pairs = ["sheet=a=b", "fill_merged=Yes", "skip_hidden=0", "header_row=3", "decimal=,"]
    assert parse_choices(pairs) == {
        "sheet": "a=b",
        "fill_merged": True,
        "skip_hidden": False,
        "header_row": 3,
        "decimal": ",",
    }
    assert parse_choices(["timezone=Europe/Berlin", "date_order=DMY"])["date_order"] == "DMY"


@pytest.mark.parametrize(
    "pair",
    [
        "sheet",
        "colour=red",
        "fill_merged=perhaps",
        "date_order=YDM",
        "decimal=;",
        "header_row=0",
        "header_row=x",
        "timezone=Mars/Base",
        "timezone=../x",
        "timezone=",
    ],
)
def test_wrong_choices_are_refused(pair):
    """With words that say what would be right."""
    with pytest.raises(ValueError, match=r"."):
        parse_choices([pair])
