"""Rows that are lifted out of the XML are the rows that expat would have made."""

from __future__ import annotations

import random
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairimport.errors import FileRefused
from fairimport.sheets.cells import letter
from fairimport.sheets.limits import Limits
from fairimport.sheets.safexml import SafeParser
from fairimport.sheets.source import RowsOutOfOrder
from fairimport.sheets.xlsx import sheet as sheets
from fairimport.sheets.xlsx.sheet import XlsxSheet
from fairimport.sheets.xlsx.strings import read_strings
from tests.sheetfiles import MAIN, strings_xml

STRINGS = ["alpha", "", "Ünï <&>", "_x000D_ x", "b"]
KINDS = ["", "date", "00000", "duration", "datetime"]
STYLES = ["", "", ' s="0"', ' s="1"', ' s="2"', ' s="3"', ' s="9"']
CONTENT = [
    "<c{r}{s}><v>{n}</v></c>",
    "<c{r}{s}><v>{n}</v></c>",
    '<c{r}{s} t="s"><v>{i}</v></c>',
    '<c{r}{s} t="s"><v>{i}</v></c>',
    '<c{r}{s} t="b"><v>{b}</v></c>',
    '<c{r} t="inlineStr"{s}><is><t>x &amp; {n}</t></is></c>',
    '<c{r}{s} t="inlineStr"><is><t xml:space="preserve"> {n} </t></is></c>',
    '<c{r}{s} t="inlineStr"><is><r><t>a</t></r><r><t>{n}</t></r></is></c>',
    '<c{r}{s} t="str"><f>A1&amp;"x"</f><v>r{n}&#65;</v></c>',
    '<c{r}{s} t="str"><f>A1</f><v></v></c>',
    "<c{r}{s}><f>A1*{n}</f><v>{n}</v></c>",
    '<c{r}{s}><f t="shared" ref="A1:A2" si="0">A1</f><v/></c>',
    "<c{r}{s}><f>A1</f></c>",
    '<c{r}{s} t="e"><v>#DIV/0!</v></c>',
    '<c{r}{s} t="d"><v>2024-02-29</v></c>',
    "<c{r}{s}/>",
    "<c{r}{s}></c>",
    "<c{r}{s}><v></v></c>",
    "<c{r}{s}><v/></c>",
    "<c{r}{s}>\n<v>{n}</v></c>",
    "<c{r}{s} cm='1'><v>{n}</v></c>",
    "<c{r}{s}><v>1<!-- x -->2</v></c>",
]
NUMBERS = ["0", "7", "-3.5", "1E+3", "45351", "9007199254740993", "0.1", "423.0", "99999999"]
ROWS = ["", ' spans="1:3"', ' hidden="1"', ' ht="12.8" hidden="false" x14ac:dyDescent="0.2"']
BAD = [
    '<c r="A{row}" t="s"><v>77</v></c>',
    "<c r='A{row}'><v>&nope;</v></c>",
    '<c r="A{row}"><v>1</v>',
    "<c r='A{row}'><v>\x02</v></c>",
    '<c r="A{row}" r="B{row}"><v>1</v></c>',
    '<c r="A{row}" t="str"><v>&#1;</v></c>',
    '<c r="A{row}" t="str"><v>&#xD800;</v></c>',
]


def row(chance: random.Random, number: int, width: int) -> str:
    """One row of random cells, in the usual form or near it."""
    parts = []
    for position in range(1, width + 1):
        if chance.random() < 0.15:
            continue
        reference = f' r="{letter(position)}{number}"' if chance.random() < 0.98 else ""
        parts.append(
            chance.choice(CONTENT).format(
                r=reference,
                s=chance.choice(STYLES),
                n=chance.choice(NUMBERS),
                i=chance.randrange(len(STRINGS)),
                b=chance.randrange(2),
            )
        )
    if chance.random() < 0.02:
        return f'<row r="{number}"/>'
    return f'<row r="{number}"{chance.choice(ROWS)}>{"".join(parts)}</row>'


def document(seed: int) -> bytes:
    """A worksheet part; one in five has something wrong in it."""
    chance = random.Random(seed)
    width = chance.choice([1, 3, 6, 30])
    numbers = list(islice(iter(range(1, 400)), chance.choice([1, 5, 60])))
    if chance.random() < 0.1:
        numbers.append(2)
    uniform = chance.random() < 0.5
    lines = [row(random.Random(seed) if uniform else chance, n, width) for n in numbers]
    if chance.random() < 0.2:
        number = 1000
        bad = chance.choice(BAD).format(row=number)
        lines.append(f'<row r="{number}">{bad}</row>')
    gap = chance.choice(["", "", "\n  ", "<!-- <row r='5'> -->"])
    body = gap.join(lines)
    tail = '<mergeCells><mergeCell ref="A1:B2"/></mergeCells>'
    spaces = f'xmlns="{MAIN}" xmlns:x14ac="urn:x"'
    return f"<worksheet {spaces}><sheetData>{body}</sheetData>{tail}</worksheet>".encode()


class Plain(SafeParser):
    """Stands in for the lifting parser: everything goes through expat."""

    def __init__(self, handler, *_):
        super().__init__(handler)

    def close(self):
        self.feed(b"", last=True)


def outcome(content: bytes, size: int):
    """The rows of a part that arrives in pieces of some size, or how reading it ends."""
    pieces = [content[at : at + size] for at in range(0, len(content), size)]
    rows = []
    try:
        part = XlsxSheet(
            pieces, strings=STRINGS, kinds=KINDS, date1904=False, limits=Limits(), any_order=False
        )
        for batch in part.batches():
            rows += [(n, list(cells), [type(c) for c in cells], h) for n, cells, h in batch]
    except FileRefused as refused:
        return refused.code
    except RowsOutOfOrder:
        return "out of order"
    return rows, part.facts.merged


@pytest.mark.parametrize("size", [37, 1000, 100_000])
def test_lifted_rows_are_the_rows_of_expat(monkeypatch, size):
    """Cell by cell, type by type, fault by fault, wherever the pieces end."""
    for seed in range(150):
        content = document(seed)
        lifted = outcome(content, size)
        with monkeypatch.context() as patch:
            patch.setattr(sheets, "LiftingParser", Plain)
            plain = outcome(content, size)
        assert lifted == plain, f"seed {seed}"


def test_usual_rows_are_lifted(monkeypatch):
    """Expat sees a few of them only, or the speed is gone."""
    fed = []
    feed = SafeParser.feed
    monkeypatch.setattr(
        SafeParser,
        "feed",
        lambda self, data, **k: (fed.append(len(data)), feed(self, data, **k))[1],
    )
    lines = "".join(
        f'<row r="{n}" spans="1:2"><c r="A{n}" t="s"><v>0</v></c><c r="B{n}"><v>{n}</v></c></row>'
        for n in range(1, 5001)
    )
    content = f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>'.encode()
    rows, _ = outcome(content, 100_000)
    assert len(rows) == 5000
    assert sum(fed) < len(content) / 100


ITEMS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8),
        st.sampled_from(["", "_x0041_", "a\nb", "<si/>", "<si><t/></si>"]),
        st.just("<si><r><t>a</t></r><r><t xml:space='preserve'> b</t></r></si>"),
        st.just("<si><t>a</t><rPh sb='0' eb='1'><t>x</t></rPh></si>"),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(ITEMS, st.integers(1, 400))
def test_lifted_strings_are_the_strings_of_expat(items, size):
    """Whether an item is usual or not, and wherever pieces end."""
    items = [item for item in items if item.startswith("<si") or not item.startswith("<")]
    content = strings_xml(items).encode()
    pieces = [content[at : at + size] for at in range(0, len(content), size)]
    lifted = read_strings(pieces, Limits())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairimport.sheets.xlsx.strings.LiftingParser", Plain)
        assert lifted == read_strings(pieces, Limits())
