"""A file's columns bound to an importer's, and rows made typed."""

from dataclasses import replace

import pytest
from django import forms
from django.utils import translation

from fairimport.importers import Column, Importer, Row
from fairimport.runs.binding import DuplicateFinder, bind, guess, header_names, suggest
from fairimport.runs.preview import Trial
from fairimport.sheets import ColumnFacts, Problem, SheetRow, Survey, normal_form
from fairimport.sheets.cells import letter
from fairimport.sheets.own_files import own_headers
from fairimport.sheets.survey import DateEvidence, DecimalEvidence


class Invoices(Importer):
    """Some columns of some kinds."""

    number = Column(
        forms.CharField(label="Invoice number", max_length=10), key=True, aliases=["inv #"]
    )
    amount = Column(forms.DecimalField(max_digits=8, decimal_places=2))
    due = Column(forms.DateField(required=False), header="Due date")
    email = Column(forms.EmailField(required=False), unique=True, sensitive=True)
    paid = Column(forms.BooleanField(required=False))

    def existing(self, field, values, run):
        return {"known@example.org"} & set(values)


HEADERS = ["INV #", "Amount", "due  Date", "E-Mail", "email"]


def survey(headers=HEADERS, **facts):
    """A survey of a file with these headers; `facts` are by position, as `c3`."""
    columns = [
        replace(
            ColumnFacts(position=n, letter=letter(n), header=h, label=h, match=normal_form(h)),
            **facts.pop(f"c{n}", {}),
        )
        for n, h in enumerate(headers, 1)
    ]
    return Survey(format="csv", columns=tuple(columns), **facts)


def bound(headers=HEADERS, options=None, importer=None, mapping=None, confirmed=False, **facts):
    """The binding that a guess gives."""
    importer = importer or Invoices()
    found = survey(headers, **facts)
    trial = Trial(tenant="acme", options=options or {})
    chosen = guess(importer, found) if mapping is None else mapping
    return bind(importer, found, chosen, options or {}, trial, confirmed=confirmed)


def importer_of(**columns):
    return type("Made", (Importer,), {"columns": columns})()


def codes(cleaned):
    """Field and code of each reason."""
    return [(reason.field, reason.code) for reason in cleaned.reasons]


def test_headers_are_matched_by_their_normal_form():
    """Labels before names before aliases; case, blanks and line breaks do not count."""
    assert guess(Invoices(), survey()) == {"number": 1, "amount": 2, "due": 3, "email": 5}
    assert guess(Invoices(), survey(["\u200bINVOICE\n number", "Number"]))["number"] == 1


def test_a_column_is_taken_once():
    """By the field that names it best."""
    importer = importer_of(
        one=Column(forms.CharField(), aliases=["two"]), two=Column(forms.CharField())
    )
    assert guess(importer, survey(["two"])) == {"two": 1}
    assert guess(importer, survey(["two", "Two "])) == {"one": 2, "two": 1}


def test_positions_settle_equal_and_blank_headers():
    """A position with the right or no header is taken before any name is looked at."""
    importer = importer_of(
        first=Column(forms.CharField(), header="Phone", position=3),
        second=Column(forms.CharField(), header="Phone", position=2),
        rest=Column(forms.CharField(), position=4),
    )
    assert guess(importer, survey(["Code", "Phone", "phone ", ""])) == {
        "first": 3,
        "second": 2,
        "rest": 4,
    }


def test_a_position_whose_header_says_something_else_is_only_taken_without_a_declared_one():
    """The header is what a person reads."""
    named = importer_of(x=Column(forms.CharField(), header="Phone", position=1))
    bare = importer_of(x=Column(forms.CharField(), position=1))
    assert guess(named, survey(["Fax", "Phone"])) == {"x": 2}
    assert guess(named, survey(["Fax"])) == {}
    assert guess(bare, survey(["Fax"])) == {"x": 1}
    assert guess(bare, survey([])) == {}


def test_what_a_tenant_chose_before_is_chosen_again():
    """By the header that it had then."""
    remembered = {"amount": "Grand total", "due": "", "gone": "Amount"}
    found = survey(["INV #", "Amount", "grand TOTAL"])
    assert guess(Invoices(), found, remembered)["amount"] == 3


def test_similar_headers_are_suggested_and_not_taken():
    """For fields that are open, from columns that are free."""
    found = survey(["Invoice-Numbr", "amount", "E-mails", "Colour"])
    assert guess(Invoices(), found) == {"amount": 2}
    assert suggest(Invoices(), found) == {"number": [1], "email": [3]}
    assert suggest(Invoices(), found, {"number": 1, "amount": 2, "email": 3}) == {}


def test_every_name_of_a_column_helps_to_find_the_header():
    """Labels, names and aliases."""
    names = header_names(Invoices())
    assert {"Invoice number", "number", "inv #", "Due date", "due"} <= set(names)


def test_missing_and_unmapped_columns_are_listed():
    """Required ones as missing; the file's others as unmapped; nonsense is not mapped."""
    binding = bound(["INV #", "Colour"], mapping={"number": 1, "odd": 2, "due": 9})
    assert [column.name for column in binding.missing] == ["amount"]
    assert list(binding.unmapped) == [2]
    assert binding.mapping == {"number": 1}


def test_equal_headers_are_asked_about_until_somebody_has_seen_the_mapping():
    """Only when a field is mapped to one of them."""
    assert bound(["INV #", "Amount", "amount"]).needs == ["column_mapping"]
    assert bound(["INV #", "Amount", "amount"], confirmed=True).needs == []
    assert bound(["INV #", "Amount", "Colour", "colour"]).needs == []


def test_a_required_column_with_a_similar_header_is_a_question():
    """One without any is missing."""
    assert bound(["INV #", "Amounts"]).needs == ["column_mapping"]
    assert bound(["INV #", "Colour"]).needs == []


def test_open_questions_about_the_file_come_alone():
    """Nothing else is known before they are answered."""
    binding = bound(["INV #", "Amount", "amount"], needs=("sheet",), warnings=("hidden_rows:1",))
    assert (binding.needs, binding.warnings) == (["sheet"], [])


@pytest.mark.parametrize(
    ("evidence", "needs", "warnings", "texts"),
    [
        ({"either": 2, "dmy": 1}, [], ["date_order_from_column:DMY"], {"03/08/2026": "2026-08-03"}),
        ({"either": 2, "mdy": 1}, [], ["date_order_from_column:MDY"], {"03/08/2026": "2026-03-08"}),
        ({"dmy": 3}, [], [], {"26/06/2026": "2026-06-26"}),
        ({"either": 1}, ["date_order"], [], {"03/08/2026": "invalid_date"}),
        ({"same": 1}, [], [], {"03/03/2026": "2026-03-03"}),
        ({"ymd": 3}, [], [], {"2026-06-26": "2026-06-26"}),
        ({"dmy": 1, "mdy": 1}, [], [], {"26/06/2026": "mixed_date_order"}),
    ],
)
def test_the_order_of_dates_is_settled_by_the_column_or_asked(evidence, needs, warnings, texts):
    """Never row by row."""
    binding = bound(c3={"dates": DateEvidence(**evidence)})
    assert (binding.needs, binding.warnings) == (needs, warnings)
    for text, right in texts.items():
        cleaned = binding.clean(SheetRow(2, ("A-1", "1", text)))
        found = str(cleaned["due"]) if isinstance(cleaned, Row) else cleaned.reasons[0].code
        assert found == right


def test_a_chosen_order_holds_for_every_column():
    """And nothing is asked or noticed any more."""
    facts = {"dates": DateEvidence(either=1, dmy=1, mdy=1)}
    binding = bound(options={"date_order": "MDY"}, c3=facts)
    assert (binding.needs, binding.warnings) == ([], [])
    assert str(binding.clean(SheetRow(2, ("A", "1", "03/08/2026")))["due"]) == "2026-03-08"
    assert codes(binding.clean(SheetRow(2, ("A", "1", "26/06/2026")))) == [("due", "invalid_date")]


def test_dates_of_columns_that_nothing_is_mapped_to_do_not_matter():
    """Neither do their serial numbers and error texts."""
    facts = {"dates": DateEvidence(either=1), "serials": 3, "error_texts": 1}
    binding = bound(["INV #", "Amount", "Seen"], c3=facts)
    assert (binding.needs, binding.warnings) == ([], [])


def test_what_is_noticed_depends_on_the_kind_of_the_column():
    """Numbers among dates, and texts that look like errors among texts."""
    facts = {"serials": 3, "error_texts": 2}
    binding = bound(c1=facts, c2=facts, c3=facts, warnings=("hidden_rows:1",))
    assert binding.warnings == [
        "hidden_rows:1",
        "serial_number_read_as_date:3",
        "text_looks_like_cell_error:2",
    ]


def test_hidden_columns_are_left_out_with_hidden_rows():
    """When the customer chose so; then nothing is to be noticed."""
    facts = {"c3": {"hidden": True}, "warnings": ("hidden_columns:1",)}
    binding = bound(options={"skip_hidden": True}, **facts)
    assert ("due" in binding.mapping, binding.warnings) == (False, [])
    assert "due" in bound(**facts).mapping


def test_a_good_row_is_typed():
    """Blank cells are None, and so are missing columns."""
    row = bound().clean(SheetRow(7, (" A-1 ", "1,234.5", None, None, "a@example.org")))
    assert isinstance(row, Row)
    assert {name: str(value) for name, value in row.items()} == {
        "number": "A-1",
        "amount": "1234.50",
        "due": "None",
        "email": "a@example.org",
        "paid": "None",
    }
    assert (row.number, row.key) == (7, "None:7")
    assert (row.blank("due"), row.missing("due")) == (True, False)
    assert (row.blank("paid"), row.missing("paid")) == (False, True)


def test_a_bad_row_says_every_reason():
    """In the order of the columns, with the file's header and what was found."""
    rejected = bound().clean(SheetRow(7, (None, "x", "soon", None, "nobody")))
    assert codes(rejected) == [
        ("number", "required"),
        ("amount", "invalid_decimal"),
        ("due", "invalid_date"),
        ("email", "invalid"),
    ]
    assert rejected.number == 7
    amount = rejected.reasons[1]
    assert (amount.column, amount.raw) == ("Amount", "x")
    assert amount.message == "\u201cx\u201d is not a number. Write for example 1234.50."
    assert amount.to_json()["code"] == "invalid_decimal"


def test_codes_of_fields_become_ours():
    """Where we have one for the same thing."""
    row = SheetRow(7, ("A" * 11, "1234567.00"))
    assert codes(bound().clean(row)) == [
        ("number", "field_too_long"),
        ("amount", "invalid_decimal"),
    ]


def test_secrets_are_not_repeated():
    """A sensitive column's reasons do not show its cell."""
    reason = bound().clean(SheetRow(7, ("A", "1", None, None, "nobody"))).reasons[0]
    assert "nobody" not in reason.message + reason.raw


def test_long_texts_are_not_repeated_in_full():
    """A reason fits on a page."""
    reason = bound().clean(SheetRow(7, ("A", "x" * 9999))).reasons[0]
    assert len(reason.raw) < 210
    assert len(reason.message) < 400


def test_an_explicit_false_passes_a_field_that_a_form_would_want_ticked():
    """Required means that the cell must not be blank."""
    importer = importer_of(ok=Column(forms.BooleanField()))
    binding = bound(["ok"], importer=importer)
    assert binding.clean(SheetRow(2, ("no",)))["ok"] is False
    assert codes(binding.clean(SheetRow(2, (None,)))) == [("ok", "required")]


def test_a_field_that_strips_more_than_we_do_gives_a_blank():
    """It is required, or it is None."""
    importer = importer_of(
        a=Column(forms.CharField(required=False)), b=Column(forms.CharField(required=False))
    )
    assert bound(["a", "b"], importer=importer).clean(SheetRow(2, ("\u3000", "x")))["a"] is None


def test_existing_values_are_asked_for_once_and_refused():
    """For unique columns."""
    asked = []

    class Counting(Invoices):
        def existing(self, field, values, run):
            asked.append((field, set(values), run.tenant))
            return super().existing(field, values, run)

    mails = ["known@example.org", "new@example.org", None]
    rows = [SheetRow(n, ("A", "1", None, None, mail)) for n, mail in enumerate(mails, 2)]
    cleaned = bound(importer=Counting()).clean_all(rows)
    assert asked == [("email", {"known@example.org", "new@example.org"}, "acme")]
    assert codes(cleaned[0]) == [("email", "already_exists")]
    assert isinstance(cleaned[1], Row)
    assert isinstance(cleaned[2], Row)


def test_the_second_row_of_a_key_is_refused_and_names_the_first():
    """Also when the first is refused for something else, and in a later part of the file."""
    binding = bound()
    finder = DuplicateFinder(binding)
    first = finder.mark(SheetRow(2, ("A-1", "x", None, None, "a@example.org")))
    assert first.problems == ()
    assert finder.mark(first) is first
    later = DuplicateFinder(binding, finder.to_bytes())
    second = later.mark(SheetRow(5, (" A-1 ", "1", None, None, "a@example.org")))
    rejected = binding.clean(second)
    assert codes(rejected) == [("number", "duplicate_in_file"), ("email", "duplicate_in_file")]
    assert "row 2" in rejected.reasons[0].message
    later.forget({2})
    assert later.mark(SheetRow(6, ("A-1", "1"))).problems == ()


def test_blanks_and_refused_values_are_no_keys():
    """Case matters, and composed characters do not."""
    finder = DuplicateFinder(bound())
    for number, text in enumerate([None, "", None, "a-1", "A-1", "e\u0301", "x\x00"], 2):
        assert finder.mark(SheetRow(number, (text, "1"))).problems == ()
    assert finder.mark(SheetRow(20, ("x\x00", "1"))).problems == ()
    (problem,) = finder.mark(SheetRow(21, ("\u00e9", "1"))).problems
    assert problem == Problem("duplicate_in_file:7", "\u00e9", 1)


def test_several_key_columns_are_one_key():
    """All of them must be equal."""
    importer = importer_of(
        a=Column(forms.CharField(required=False), key=True),
        b=Column(forms.IntegerField(required=False), key=True),
    )
    finder = DuplicateFinder(bound(["a", "b"], importer=importer))
    rows = [("x", 1), ("x", 2), ("y", 1), (None, None), (None, None), ("x", None)]
    assert not any(finder.mark(SheetRow(n, row)).problems for n, row in enumerate(rows, 2))
    assert finder.mark(SheetRow(20, ("x", "1"))).problems


def test_problems_of_the_reader_are_reasons():
    """Those of columns that nothing is mapped to do not matter."""
    problems = (
        Problem("too_many_cells", "extra"),
        Problem("field_too_long", "aaa", 1),
        Problem("field_too_long", "aaa", 4),
    )
    rejected = bound().clean(SheetRow(7, ("aaa", "1"), problems))
    assert codes(rejected) == [(None, "too_many_cells"), ("number", "field_too_long")]
    assert rejected.reasons[0].column == ""


def test_messages_are_in_the_active_language():
    """Those of Django's validators at least have many translations."""
    with translation.override("de"):
        reason = bound().clean(SheetRow(7, ("A", "1", None, None, "nobody"))).reasons[0]
    assert "E-Mail" in reason.message


def test_cells_of_workbooks_are_written_as_the_run_reads_them():
    """Only where the column says what they are."""
    binding = bound(options={"decimal": ","})
    assert binding.as_text(2, 1234.5) == "1234,5"
    assert binding.as_text(1, 12.5) == "12.5"
    assert binding.as_text(3, 45382) == "2024-03-31"
    assert binding.as_text(4, 45382) == "45382"


def test_our_own_files_may_be_uploaded_as_new_ones():
    """Our two columns are not the customer's, and in csv our apostrophes are taken off."""
    headers = [*HEADERS[:2], *own_headers()]
    binding = bound(headers)
    assert list(binding.unmapped) == []
    line = SheetRow(2, ("'=A", "'-5", 7, "Amount: no number"))
    row = binding.clean(line)
    assert (row["number"], str(row["amount"])) == ("=A", "-5.00")
    assert binding.keys(line) == {"number": "=A"}
    assert codes(bound(HEADERS[:2]).clean(line)) == [("amount", "invalid_decimal")]


def test_choices_may_be_named_by_their_labels():
    """Case and blanks do not matter; a value wins over a label, and two of one label mean none."""
    choices = [
        ("p", "Paid"),
        ("open", [("o", "Still  open"), ("x", "Twin"), ("y", "twin")]),
        ("paid", "Booked"),
    ]
    importer = importer_of(state=Column(forms.ChoiceField(choices=choices)))
    binding = bound(["state"], importer=importer)
    texts = ["p", "P", "still OPEN", "booked", "paid", "twin", "other"]
    cleaned = binding.clean_all([SheetRow(n, (text,)) for n, text in enumerate(texts, 2)])
    found = [c["state"] if isinstance(c, Row) else c.reasons[0].code for c in cleaned]
    assert found == ["p", "p", "o", "paid", "paid", "invalid_choice", "invalid_choice"]


def test_fields_clean_as_they_do_in_a_form():
    """Also what a typed choice makes of its value, and what a host's own `clean` does."""

    class Doubled(forms.IntegerField):
        def clean(self, value):
            return super().clean(value) * 2

    size = forms.TypedChoiceField(choices=[(1, "small"), (2, "big")], coerce=int)
    binding = bound(["a", "b"], importer=importer_of(a=Column(size), b=Column(Doubled())))
    assert dict(binding.clean(SheetRow(2, ("Big", "21")))) == {"a": 2, "b": 42}
    assert dict(binding.clean(SheetRow(2, (2, "21")))) == {"a": 2, "b": 42}


@pytest.mark.parametrize(
    ("evidence", "options", "read"),
    [
        ({"comma": 1, "either": 3}, {}, {"9,99": "9.99", "1.234": "1234.00"}),
        ({"comma": 1, "point": 1}, {}, {"9.99": "9.99", "9,99": "invalid_decimal"}),
        ({"either": 3}, {}, {"1,234": "1234.00", "1.23": "1.23"}),
        ({"comma": 5}, {"decimal": "."}, {"1,234": "1234.00", "9,99": "invalid_decimal"}),
        ({"point": 5}, {"decimal": ","}, {"9,99": "9.99", "9.99": "invalid_decimal"}),
    ],
)
def test_a_column_may_settle_its_decimal_mark(evidence, options, read):
    """Only when nothing in it says otherwise and the customer has not chosen."""
    binding = bound(options=options, c2={"decimals": DecimalEvidence(**evidence)})
    for text, right in read.items():
        cleaned = binding.clean(SheetRow(2, ("A", text)))
        found = str(cleaned["amount"]) if isinstance(cleaned, Row) else cleaned.reasons[0].code
        assert found == right
    assert binding.warnings == []


def test_examples_and_csv_files_use_the_mark_that_the_column_settled():
    """What a message tells people to write is read, and so is what we write ourselves."""
    binding = bound(c2={"decimals": DecimalEvidence(comma=1)})
    assert "1234,50" in binding.clean(SheetRow(2, ("A", "x"))).reasons[0].message
    assert binding.as_text(2, 1.5) == "1,5"
