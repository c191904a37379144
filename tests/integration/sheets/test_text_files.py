"""Text files: encodings, delimiters, quotes, lines."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairimport.errors import FileRefused
from fairimport.sheets.limits import Limits
from tests.sheetfiles import survey

HEAD = "Code,Name,Qty\r\n"


@pytest.fixture
def read(tmp_path):
    """Reads bytes, or text as UTF-8, as a file of this name."""

    def read(content, name="file.csv", **options):
        path = tmp_path / "content"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return survey(path, name, **options)

    return read


@pytest.mark.parametrize(
    ("codec", "mark", "known"),
    [
        ("utf-8", b"", "utf-8"),
        ("utf-8-sig", b"", "utf-8-sig"),
        ("utf-16-le", b"\xff\xfe", "utf-16"),
        ("utf-16-be", b"\xfe\xff", "utf-16"),
        ("utf-32-le", b"\xff\xfe\0\0", "utf-32"),
    ],
)
def test_unicode_is_told_by_its_mark_or_proved(read, codec, mark, known):
    """A byte order mark names the encoding and is no part of the first header."""
    found, rows = read(mark + f"{HEAD}A-1,Lämp 東京,3\r\n".encode(codec))
    assert (found.encoding, found.columns[0].header) == (known, "Code")
    assert rows[0].cells == ("A-1", "Lämp 東京", "3")
    assert found.warnings == found.needs == ()


def test_utf_16_without_a_mark_is_guessed(read):
    """Zero bytes on one side of every pair can be nothing else; the customer is told."""
    found, rows = read(f"{HEAD}A-1,Lämp,3\r\n".encode("utf-16-le"))
    assert found.warnings == ("encoding_guessed:utf-16-le",)
    assert rows[0].cells[1] == "Lämp"


@pytest.mark.parametrize(
    "text",
    [
        "Café Müller",
        "it\u2019s \u201cnew\u201d \u2013 5 €",
        "„Größe“ 20°",
        "naïve façade à gogo",
        "Ångström & Übung",
        "¿Qué? ¡Sí! nº 3",
        "Smørrebrød ½ l",
    ],
)
def test_western_text_is_guessed(read, text):
    """Bytes that all stand where Western letters and marks stand need no question."""
    found, rows = read(f"{HEAD}A-1,{text},3\r\n".encode("cp1252"))
    assert found.warnings == ("encoding_guessed:cp1252",)
    assert rows[0].cells[1] == text
    assert found.bad_line == 2


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("cp1251", "Лампа настольная"),
        ("cp932", "東京タワー"),
        ("cp949", "서울특별시"),
        ("gb18030", "台灯和书桌"),
        ("big5", "檯燈與書桌"),
        ("mac_roman", "Café Müller"),
        ("cp850", "Café Möller"),
        ("cp1250", "Łódź Dvořák"),
    ],
)
def test_other_encodings_are_asked(read, codec, text):
    """Only the customer knows; the right codec is among the choices or can be named."""
    content = f"{HEAD}A-1,{text},3\r\n".encode(codec)
    found, _ = read(content)
    assert (found.needs, found.warnings, found.header_row) == (("encoding",), (), 1)
    answered, rows = read(content, encoding=codec)
    assert answered.needs == ()
    assert rows[0].cells[1] == text


def test_utf_8_with_other_bytes_is_asked_with_the_line(read):
    """A file of two encodings is never read as one by guessing."""
    found, _ = read(f"{HEAD}A-1,Café,3\r\n".encode() + "A-2,Café,4\r\n".encode("latin-1"))
    assert (found.needs, found.bad_line) == (("encoding",), 3)


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_a_late_byte_is_found_and_named(read, end):
    """Far into a large file, whatever ends its lines."""
    lines = ["Code,Name,Qty", *(f"A-{n},plain item,{n}" for n in range(2, 150_000))]
    content = end.join(lines).encode() + end.encode()
    found, _ = read(content + "A-0,Лампа настольная,1".encode("cp1251"))
    assert (found.needs, found.bad_line) == (("encoding",), 150_000)
    assert found.encodings[0] == "cp1251"
    assert read(content + "A-0,Café,1".encode("cp1252"))[0].needs == ()


def test_a_byte_that_the_chosen_encoding_lacks_is_marked(read):
    """It becomes a lone surrogate, which validation refuses in its row."""
    _, rows = read(HEAD.encode() + b"A-1,La\xffmp,3\r\n", encoding="utf-8")
    assert rows[0].cells[1] == "La\udcffmp"


@pytest.mark.parametrize("codec", ["rot13", "no-such-codec", "unicode_escape", "idna", "zlib"])
def test_only_text_encodings_can_be_chosen(read, codec):
    """A name from outside reaches no other codec."""
    found, _ = read(f"{HEAD}A-1,Lamp,3\r\n", encoding=codec)
    assert found.encoding == "utf-8"


@pytest.mark.parametrize(
    ("content", "delimiter", "name"),
    [
        ("Code;Name;Qty\nA-1;Lamp, tall, white;3\n", ";", "Lamp, tall, white"),
        ("Code\tName\tQty\nA-1\tLamp, 20 W\t3\n", "\t", "Lamp, 20 W"),
        ("Code|Name|Qty\nA-1|Lamp; big, x|3\n", "|", "Lamp; big, x"),
        ("Code,Name,Qty\nA-1,Lamp; big,3\n", ",", "Lamp; big"),
        ("sep=;\nCode;Name;Qty\nA-1;Lamp;3\n", ";", "Lamp"),
        ('"sep=|"\nCode|Name|Qty\nA-1|Lamp|3\n', "|", "Lamp"),
        ("Stock list\n\nCode;Name;Qty\nA-1;Lamp, x;3\n", ";", "Lamp, x"),
        ('Code, Name, Qty\nA-1, "Lamp, tall", 3\n', ",", "Lamp, tall"),
    ],
)
@pytest.mark.parametrize("headers", [("Code", "Name", "Qty"), ()])
def test_the_delimiter_is_found(read, content, delimiter, name, headers):
    """With the importer's names, and without them."""
    found, rows = read(content, headers=headers)
    assert found.delimiter == delimiter
    assert rows[0].cells[1] == name


@pytest.mark.parametrize("headers", [("Name",), ()])
def test_one_column_has_no_delimiter(read, headers):
    """Commas of sentences divide nothing."""
    found, rows = read("Name\nLamp, tall\nDesk, oak\n", headers=headers)
    assert (found.delimiter, rows[1].cells) == ("", ("Desk, oak",))


def test_the_customer_can_name_the_delimiter(read):
    """A choice beats every sign."""
    found, _ = read("Code;Name,Qty\nA-1;x,3\n", delimiter=",", headers=())
    assert [column.header for column in found.columns] == ["Code;Name", "Qty"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_counts_lines(read, end):
    """Rows are numbered by physical lines, also within quotes."""
    lines = ["Code,Name,Qty", 'A-1,"x', 'y",3', "", "A-2,z,4", ""]
    found, rows = read(end.join(lines))
    assert [(row.number, row.cells[1]) for row in rows] == [(2, "x\ny"), (5, "z")]
    assert found.warnings == ("blank_rows:1",)


def test_lines_doubled_by_a_conversion_are_not_blank_rows(read):
    """CR CR LF is what text mode makes of CR LF."""
    found, rows = read("Code,Name,Qty\r\r\nA-1,Lamp,3\r\r\nA-2,Desk,4\r\r\n")
    assert [row.number for row in rows] == [3, 5]
    assert found.warnings == ()


def test_empty_lines_at_the_end_are_not_counted(read):
    """Only rows that more rows follow, or that hold delimiters."""
    found, _ = read(f"{HEAD}A-1,Lamp,3\r\n\r\n , ,\r\n\r\n\r\n")
    assert found.warnings == ("blank_rows:2",)


def test_a_dos_end_mark_is_no_row(read):
    """The byte 0x1A alone on the last line says that the file ends."""
    _, rows = read(f"{HEAD}A-1,Lamp,3\r\n\x1a")
    assert len(rows) == 1


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ('5" pipe', '5" pipe'),
        ('"19"" rack"', '19" rack'),
        ('"19" rack"', '19" rack'),
        ('"Lamp" big', '"Lamp" big'),
        ('"say ""hi"", then go"', 'say "hi", then go'),
        ('""', ""),
        ('"a" "b"', 'a" "b'),
    ],
)
def test_quotes_that_stay_in_their_line_are_read(read, field, text):
    """Inch marks and quotes that somebody forgot to double are text."""
    _, rows = read(f"{HEAD}A-1,{field},3\r\nA-2,Desk,4\r\n")
    assert rows[0].cells == ("A-1", text, "3")
    assert rows[1].cells == ("A-2", "Desk", "4")


@pytest.mark.parametrize(
    ("lines", "opens"),
    [
        (["A-1,Lamp,3", 'A-2,"Desk,4', "A-3,Rug,5"], 3),
        (['A-1,"Lamp,3', "A-2,Desk,4", 'A-3,"Rug",5', "A-4,x,6"], 2),
        (['A-1,"x', 'y",3', 'A-2,"Desk,4', "A-3,Rug,5"], 4),
        (['A-1,"Lamp,3', *["A-2,Desk,4"] * 8, 'A-3,Rug",5', "A-4,x,6"], 2),
        (['A-1,"Lamp'], 2),
    ],
)
def test_a_quote_that_swallows_lines_is_named(read, lines, opens):
    """The line is the one on which the quote opens."""
    with pytest.raises(FileRefused) as refused:
        read("\r\n".join(["Code,Name,Qty", *lines]))
    assert (refused.value.code, refused.value.facts) == ("unclosed_quote", {"line": opens})


def test_two_columns_need_more_lines_to_look_like_records(read):
    """A short note may have one comma in each line; a long one that always has is no note."""
    for count, swallowed in ((4, False), (30, True)):
        content = 'Code,Name\r\nA-1,"oops\r\n' + "A-2,x\r\n" * count + 'A-3,y"\r\n'
        if swallowed:
            with pytest.raises(FileRefused, match="unclosed_quote"):
                read(content)
        else:
            assert len(read(content)[1]) == 1


def test_a_long_note_with_commas_is_no_swallowed_table(read):
    """A field of several lines is fine when its lines are not like the file's rows."""
    note = "\n".join(f"line {n}, and so on" for n in range(60))
    _, rows = read(f'{HEAD}A-1,"{note}",3\r\nA-2,x,4\r\n')
    assert rows[0].cells[1] == note
    assert rows[1].number == 62


def test_ragged_rows_are_rows(read):
    """Short rows stay short, empty extras are nothing, a filled one is a fault of that row."""
    _, rows = read(f"{HEAD}A-1\r\nA-2,Desk,4,,\r\nA-3,Rug,5,extra,more\r\n")
    assert [len(row.cells) for row in rows] == [1, 3, 3]
    assert [(p.code, p.raw, p.position) for p in rows[2].problems] == [
        ("too_many_cells", "extra", None)
    ]


def test_a_blank_header_with_data_is_a_column(read):
    """A delimiter at the end of the header makes room for one."""
    found, _ = read("Code,Name,Qty,\r\nA-1,Lamp,3,extra\r\n")
    assert found.warnings == ("blank_header:D",)
    assert [c.label for c in found.columns] == ["Code", "Name", "Qty", "Column D"]


def test_a_field_over_the_limit_is_its_rows_fault(read):
    """It is cut off, and the other rows are good."""
    limits = Limits(max_field_chars=100)
    _, rows = read(f"{HEAD}A-1,{'x' * 101},3\r\nA-2,Desk,4\r\n", limits=limits)
    assert [(p.code, p.position) for p in rows[0].problems] == [("field_too_long", 2)]
    assert len(rows[0].cells[1]) == 100
    assert rows[1].problems == ()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty_file"),
        (b"\r\n , , \r\n", "empty_file"),
        (b"\xef\xbb\xbf", "empty_file"),
        (b"\xff\xfe\r\0\n\0", "empty_file"),
        (b"Code,Name,Qty\r\n", "no_rows"),
        (b"Code,Name,Qty\r\n,,\r\n\r\n", "no_rows"),
        (b"\0" * 500, "binary_content"),
        (b"\0" * 5, "binary_content"),
        (bytes(n * n * 7919 % 256 for n in range(5000)), "binary_content"),
        (b"<html><table><tr><td>1</td></tr></table></html>", "web_page_not_spreadsheet"),
        (b"\xef\xbb\xbf\r\n<!DOCTYPE html><p>Sign in", "web_page_not_spreadsheet"),
        (b"MIME-Version: 1.0\r\nX-Document-Type: Workbook", "web_page_not_spreadsheet"),
        ("\ufeff<html>".encode("utf-16-le"), "web_page_not_spreadsheet"),
        (b'<?xml version="1.0"?><feed xmlns="x"/>', "not_a_spreadsheet"),
        (b'{"rows": []}', "not_a_spreadsheet"),
        (b'{"url": "https://docs.google.com/open?id=1"}', "unsupported_format"),
        (b"ID;PWXL;N;E\r\nC;Y1;X1;K1", "unsupported_format"),
        (
            b'<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet">',
            "unsupported_format",
        ),
        (b"%PDF-1.7", "not_a_spreadsheet"),
        (b"\x89PNG\r\n\x1a\n", "not_a_spreadsheet"),
        (b"PAR1\x15\x04", "unsupported_format"),
        (b"Rar!\x1a\x07", "not_a_spreadsheet"),
        (b"\x1f\x8b\x08", "not_a_spreadsheet"),
        (",".join(f"h{n}" for n in range(600)).encode() + b"\n1\n", "too_many_columns"),
        (HEAD.encode() + b"," * 599 + b"x\n", "too_many_columns"),
    ],
)
def test_what_is_no_table_is_refused_by_name(read, content, code):
    """Each has its own code."""
    with pytest.raises(FileRefused) as refused:
        read(content)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "header",
    ["ID;Price", "ID3,Name", "PAR1,PAR2", "PK,Name", "RIFF,x", "MZ,y", "BZh9,z", "GIF89a,b"],
)
def test_a_header_like_a_magic_number_is_a_header(read, header):
    """What begins like another format and goes on as text is text."""
    found, rows = read(f"{header}\n1,2\n".replace(",", header[2] if ";" in header else ","))
    assert (len(found.columns), len(rows)) == (2, 1)


def test_too_many_rows_are_refused(read):
    """Blank rows are not counted."""
    limits = Limits(max_rows=3)
    content = HEAD + "A,b,1\r\n,,\r\n" * 3
    assert read(content, limits=limits)[0].row_count == 3
    with pytest.raises(FileRefused, match="too_many_rows"):
        read(content + "A,b,1\r\n", limits=limits)


@pytest.mark.parametrize(
    ("content", "name", "warned"),
    [
        (f"{HEAD}A-1,Lamp,3\r\n", "stock.xlsx", "csv"),
        ("Code\tName\tQty\nA-1\tLamp\t3\n", "stock.xls", "text"),
        ("Code\tName\tQty\nA-1\tLamp\t3\n", "stock.csv", None),
        ("Code;Name;Qty\nA-1;Lamp;3\n", "STOCK.TXT", None),
    ],
)
def test_a_wrong_ending_is_told(read, content, name, warned):
    """The content decides; text files may have any ending of text files."""
    found, _ = read(content, name)
    assert found.warnings == ((f"extension_does_not_match:{warned}",) if warned else ())


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=6), st.sampled_from(",;\t|"))
def test_what_a_csv_writer_wrote_is_read_back(read, table, delimiter):
    """Any text comes through quotes and delimiters unchanged."""
    lines = [("Code", "Name", "Qty"), *(("x", *line[1:]) for line in table)]
    quoted = [[f'"{field.replace(chr(34), chr(34) * 2)}"' for field in line] for line in lines]
    _, rows = read("\r\n".join(delimiter.join(line) for line in quoted))
    assert [row.cells for row in rows] == lines[1:]
