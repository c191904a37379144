"""Hostile files end as one clear code: nothing hangs, nothing grows, nothing else is touched."""

from __future__ import annotations

import resource
import struct
import time
import zipfile

import pytest

from fairimport.errors import FileRefused
from fairimport.sheets import ReadOptions, read, rows
from fairimport.sheets.limits import Limits
from tests.sheetfiles import MAIN, ods, ods_rows, pack, rows_xml, sheet_xml, strings_xml, xlsx

HEAD = ["Code", "Name", "Qty"]
ONE = rows_xml([HEAD, ["A-1", "Lamp", 3]])
SMALL = Limits(max_unpacked_mib=8, reader_cpu_s=10, reader_wall_s=20)
SHARED = '<c t="s"><v>0</v></c>'


def refusal(path, **limits):
    """The code with which a child refuses the file, within five seconds and no memory of ours."""
    chosen = Limits(**{**SMALL.to_json(), **limits})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    with pytest.raises(FileRefused) as refused:
        read(path, filename=path.name, options=ReadOptions(headers=tuple(HEAD)), limits=chosen)
    assert time.monotonic() - started < 5 + limits.get("reader_wall_s", 0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
    return refused.value.code


def test_a_zip_bomb_is_refused_by_its_directory(tmp_path):
    """S1: nothing is unpacked to know it."""
    path = xlsx(tmp_path / "b.xlsx", sheet_xml("<row><c><v>1</v></c></row>" * 400_000))
    assert path.stat().st_size < 40_000
    assert refusal(path) == "unpacks_too_large"


def test_a_dense_file_is_refused_by_its_ratio(tmp_path):
    """S1: also below the size that is allowed."""
    path = xlsx(tmp_path / "b.xlsx", sheet_xml("<row><c><v>1</v></c></row>" * 450_000))
    assert refusal(path, max_unpacked_mib=100, max_unpack_ratio=100) == "unpacks_too_large"


def test_a_monster_string_is_bounded(tmp_path):
    """S2: one text of 30 MB, used once, is no more than a cell that is too long."""
    path = xlsx(
        tmp_path / "b.xlsx",
        sheet_xml(rows_xml([HEAD, ["A-1", SHARED, 3]])),
        strings=["A" * 30_000_000],
    )
    limits = Limits(max_unpack_ratio=10_000, reader_memory_mib=512)
    spool = tmp_path / "spool"
    read(path, filename="b.xlsx", spool=spool, limits=limits)
    (row,) = [row for _, row in rows(spool)]
    assert [(p.code, p.position) for p in row.problems] == [("field_too_long", 2)]
    assert len(row.cells[1]) == limits.max_field_chars


def test_one_long_string_in_every_cell_is_bounded(tmp_path):
    """S2: what is written is limited too, not only what is read."""
    table = rows_xml([HEAD, *[[SHARED, SHARED, SHARED]] * 3000])
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(table), strings=["A" * 900_000])
    spool = tmp_path / "spool"
    with pytest.raises(FileRefused, match="unpacks_too_large"):
        read(path, filename="b.xlsx", spool=spool, limits=Limits(max_unpacked_mib=16))
    assert spool.stat().st_size <= 4 * 16 * 1024 * 1024


def test_a_value_in_the_last_corner_allocates_nothing(tmp_path):
    """S3: the sheet is 16,384 columns wide, and that is said."""
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    assert refusal(xlsx(tmp_path / "b.xlsx", sheet_xml(ONE + far))) == "too_many_columns"


def test_one_far_row_is_one_row(tmp_path):
    """S4: the million rows between are nothing."""
    far = rows_xml([["A-2", "Desk", 4]], 1_048_576)
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(ONE + far))
    found = read(path, filename="b.xlsx", limits=SMALL)
    assert (found.row_count, found.warnings) == (2, ("blank_rows:1048573",))


@pytest.mark.parametrize("dimension", ['<dimension ref="A1:XFD1048576"/>', ""])
def test_a_lying_or_missing_dimension_costs_nothing(tmp_path, dimension):
    """S5, S6: it is not looked at."""
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(ONE, before=dimension))
    assert read(path, filename="b.xlsx", limits=SMALL).row_count == 1


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(10))
DOCTYPES = {
    "laughs": f"<!DOCTYPE x [{LAUGHS}]>",
    "quadratic": f'<!DOCTYPE x [<!ENTITY a "{"a" * 100_000}">]>',
    "external": '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
    "harmless": "<!DOCTYPE x>",
    "remote": '<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">',
}


@pytest.mark.parametrize("doctype", DOCTYPES.values(), ids=DOCTYPES)
@pytest.mark.parametrize(
    "part", ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/workbook.xml", "xl/styles.xml"]
)
def test_no_doctype_is_ever_read(tmp_path, doctype, part):
    """S7, S8: in no part of a workbook."""
    book = xlsx(tmp_path / "a.xlsx", sheet_xml(ONE), strings=["x"], formats=[14])
    with zipfile.ZipFile(book) as source:
        content = source.read(part).decode()
        others = {
            n: source.read(n) for n in source.namelist() if n not in (part, "[Content_Types].xml")
        }
    path = pack(tmp_path / "b.xlsx", {**others, part: doctype + content.replace("Lamp", "&a;")})
    assert refusal(path) == "unsafe_xml"


def test_no_doctype_in_ods_either(tmp_path):
    """S7: the same parser reads OpenDocument."""
    path = ods(tmp_path / "a.ods", ods_rows([HEAD, ["A-1", "Lamp", 3]]))
    with zipfile.ZipFile(path) as source:
        content = source.read("content.xml").decode()
    mime = "application/vnd.oasis.opendocument.spreadsheet"
    path = pack(tmp_path / "b.ods", {"mimetype": mime, "content.xml": DOCTYPES["laughs"] + content})
    assert refusal(path) == "unsafe_xml"


@pytest.mark.parametrize("name", ["../../etc/x", "xl/../../x", "..\\x"])
def test_names_that_climb_are_refused(tmp_path, name):
    """S9: though nothing is ever extracted."""
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(ONE), parts={name: "x"})
    assert refusal(path) == "damaged_file"


def test_names_that_stand_twice_are_refused(tmp_path):
    """S9: two readers could see two workbooks."""
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(ONE))
    with zipfile.ZipFile(path, "a") as target:
        target.writestr("XL/workbook.xml", "<workbook/>")
    assert refusal(path) == "damaged_file"


@pytest.mark.parametrize("claimed", [10, 10_000_000])
def test_a_directory_that_lies_about_sizes_is_damage(tmp_path, claimed):
    """S10: never more bytes than it claims."""
    path = xlsx(tmp_path / "b.xlsx", sheet_xml("<row><c><v>1</v></c></row>" * 300_000))
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as source:
        real = source.getinfo("xl/worksheets/sheet1.xml").file_size
    packed = struct.pack("<I", real)
    while (at := content.find(packed)) >= 0:
        content[at : at + 4] = struct.pack("<I", claimed)
    path.write_bytes(content)
    wanted = "damaged_file" if claimed < 1000 else "unpacks_too_large"
    assert refusal(path) == wanted


def test_members_that_share_bytes_are_refused(tmp_path):
    """S10: overlapping members unpack to far more than there is (CVE-2024-0450)."""
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(ONE), parts={"a.xml": "x" * 99, "b.xml": "y" * 99})
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as source:
        first, second = (source.getinfo(n).header_offset for n in ("a.xml", "b.xml"))
    directory = content.rfind(b"b.xml") - 46
    assert struct.unpack_from("<I", content, directory + 42)[0] == second
    struct.pack_into("<I", content, directory + 42, first)
    path.write_bytes(content)
    assert refusal(path) == "damaged_file"


def test_encrypted_members_are_named(tmp_path):
    """S16: a zip with a password is a protected file."""
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(ONE))
    content = bytearray(path.read_bytes())
    at = content.find(b"PK\x01\x02")
    content[at + 8] |= 1
    path.write_bytes(content)
    assert refusal(path) == "password_protected"


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.numbers", {"Index/Document.iwa": "x"}, "unsupported_format"),
        ("a.xlsx", {"readme.txt": "x"}, "not_a_spreadsheet"),
        ("a.xlsx", {"xl/worksheets/sheet1.xml": "x"}, "damaged_file"),
        ("a.ods", {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<x/>"},
         "not_a_spreadsheet"),
        ("a.ods", {"mimetype": "application/vnd.oasis.opendocument.spreadsheet",
                   "META-INF/manifest.xml": "<m:encryption-data/>", "content.xml": "x"},
         "password_protected"),
    ],
)  # fmt: skip
def test_other_zips_are_named(tmp_path, name, content, code):
    """S17: each by what it is."""
    assert refusal(pack(tmp_path / name, content)) == code


def test_a_text_document_is_no_workbook(tmp_path):
    """S17: Word's files are packages too."""
    word = f'<w:document xmlns:w="{MAIN}"/>'
    path = xlsx(tmp_path / "a.xlsx", sheet_xml(ONE), parts={"xl/workbook.xml": word})
    assert refusal(path) == "not_a_spreadsheet"


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.95, 0.999])
def test_an_upload_that_was_cut_off_is_damage(tmp_path, share):
    """S17: wherever it ends."""
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(rows_xml([HEAD, *[["A", "b", 1]] * 500])))
    content = path.read_bytes()
    path.write_bytes(content[: max(int(len(content) * share), 4)])
    assert refusal(path) == "damaged_file"


def test_an_old_container_without_a_workbook_is_named(tmp_path):
    """S16, S17: by the names in its directory."""
    magic = bytes.fromhex("d0cf11e0a1b11ae1").ljust(30, b"\0") + b"\x09\0"

    def entry(name):
        text = (name + "\0").encode("utf-16-le")
        return text.ljust(64, b"\0") + struct.pack("<HB", len(text), 2) + bytes(61)

    for name, code in (
        ("EncryptedPackage", "password_protected"),
        ("WordDocument", "not_a_spreadsheet"),
        ("Workbook", "damaged_file"),
    ):
        path = tmp_path / "b.xls"
        path.write_bytes(magic.ljust(512, b"\0") + entry(name) * 4)
        assert refusal(path) == code


def test_macros_and_links_are_never_touched(tmp_path):
    """S18, S19: values are read, whatever else is in the package."""
    row = rows_xml([HEAD, ["A-1", '<c t="str"><f>[1]Other!A1</f><v>cached</v></c>', 3]])
    parts = {"xl/vbaProject.bin": b"\0" * 9, "xl/externalLinks/externalLink1.xml": "<broken"}
    path = xlsx(tmp_path / "b.xlsm", sheet_xml(row), parts=parts)
    spool = tmp_path / "spool"
    assert read(path, filename="b.xlsm", spool=spool, limits=SMALL).warnings == ()
    assert [r.cells for _, r in rows(spool)] == [("A-1", "cached", 3)]


def test_deep_nesting_is_refused(tmp_path):
    """No workbook needs two hundred levels."""
    deep = "<x>" * 5000 + "</x>" * 5000
    assert refusal(xlsx(tmp_path / "b.xlsx", sheet_xml(ONE, after=deep))) == "unsafe_xml"


def test_a_million_attributes_or_names_end_in_time(tmp_path):
    """Whatever they cost, they cost it within the limits."""
    many = "".join(f' a{n}="1"' for n in range(20_000))
    names = "".join(f"<n{n}/>" for n in range(100_000))
    for strange in (f"<x{many}/>", names):
        path = xlsx(tmp_path / "b.xlsx", sheet_xml(ONE, after=strange))
        assert read(path, filename="b.xlsx", limits=SMALL).row_count == 1


def test_repeated_rows_of_ods_are_counted_not_built(tmp_path):
    """A run of two thousand million rows is refused; of blank ones it is nothing."""
    row = '<table:table-row table:number-rows-repeated="{}">{}</table:table-row>'
    cell = '<table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell>'
    head = ods_rows([HEAD, ["A-1", "Lamp", 3]])
    path = ods(tmp_path / "a.ods", head + row.format(2_000_000_000, cell))
    assert refusal(path) == "too_many_rows"
    path = ods(tmp_path / "b.ods", head + row.format(2_000_000_000, "<table:table-cell/>"))
    assert read(path, filename="b.ods", limits=SMALL).row_count == 1


def test_repeated_cells_of_ods_are_counted_not_built(tmp_path):
    """A value that is repeated to the last column is too wide."""
    kind = 'table:number-columns-repeated="16384" office:value-type="string"'
    cell = f"<table:table-cell {kind}><text:p>x</text:p></table:table-cell>"
    path = ods(tmp_path / "a.ods", ods_rows([HEAD]) + f"<table:table-row>{cell}</table:table-row>")
    assert refusal(path) == "too_many_columns"


def test_stairs_of_widths_end_in_time(tmp_path):
    """The expression for usual rows grows a few times only."""
    lines = [[None] * n + [1] for n in range(250)] * 3
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(rows_xml([["x"], *lines])))
    assert read(path, filename="b.xlsx", limits=SMALL).row_count == 750


def test_an_unbalanced_quote_in_a_large_file_is_named_at_once(tmp_path):
    """S24: the rest of the file is not collected."""
    path = tmp_path / "b.csv"
    path.write_text('Code,Name,Qty\nA-1,"oops,3\n' + "A-2,Desk,4\n" * 400_000)
    assert refusal(path) == "unclosed_quote"


def test_a_giant_field_is_its_rows_fault(tmp_path):
    """S26: also on a line of its own length."""
    path = tmp_path / "b.csv"
    path.write_text("Code,Name,Qty\nA-1," + "z" * 5_000_000 + ",3\nA-2,Desk,4\n")
    spool = tmp_path / "spool"
    read(path, filename="b.csv", spool=spool, limits=SMALL)
    found = [row for _, row in rows(spool)]
    assert [p.code for row in found for p in row.problems] == ["field_too_long"]
    assert found[1].cells == ("A-2", "Desk", "4")


def test_a_line_of_quotes_ends_in_time(tmp_path):
    """No expression backtracks without end."""
    path = tmp_path / "b.csv"
    for field in ('"' + '""x"' * 20_000, '" "' * 20_000, '"a"b' * 20_000, '"' * 60_001):
        path.write_text(f"Code,Name,Qty\nA-1,{field},3\nA-2,Desk,4\n")
        try:
            read(path, filename="b.csv", limits=SMALL)
        except FileRefused as refused:
            assert refused.code == "unclosed_quote"  # noqa: PT017  (either end is right)


def test_mass_assignment_headers_are_only_texts(tmp_path):
    """S30: names of attributes are labels like any other."""
    path = tmp_path / "b.csv"
    path.write_text("id,ID,__class__,tenant_id,is_staff\n1,2,3,4,5\n")
    found = read(path, filename="b.csv", limits=SMALL)
    assert [c.label for c in found.columns] == [
        "id",
        "ID (2)",
        "__class__",
        "tenant_id",
        "is_staff",
    ]
    assert found.warnings == ("duplicate_header:A,B",)


def test_shared_strings_that_nobody_uses_cost_memory_only_once(tmp_path):
    """A table of strings is held within the child's memory."""
    strings = strings_xml(f"string {n}" for n in range(100_000))
    path = xlsx(
        tmp_path / "b.xlsx", sheet_xml(ONE), strings=[], parts={"xl/sharedStrings.xml": strings}
    )
    limits = Limits(reader_memory_mib=256)
    assert read(path, filename="b.xlsx", limits=limits).row_count == 1


@pytest.mark.parametrize("encoding", ["rot13", "no-such", "utf-7", "zlib", "x" * 500])
def test_an_encoding_that_xml_does_not_know_is_damage(tmp_path, encoding):
    """Found by fuzzing: expat asks Python for a codec of this name."""
    xml = f'<?xml version="1.0" encoding="{encoding}"?>' + sheet_xml(ONE.replace("A-1", "\u00e9"))
    path = xlsx(tmp_path / "b.xlsx", "", parts={"xl/worksheets/sheet1.xml": xml})
    assert refusal(path) == "damaged_file"


def test_filling_one_range_over_the_sheet_ends_in_time(tmp_path):
    """Found by fuzzing: rows that only exist inside a range were surveyed one by one."""
    after = '<mergeCells><mergeCell ref="A2:XFD1048576"/></mergeCells>'
    path = xlsx(tmp_path / "b.xlsx", sheet_xml(ONE, after=after))
    options = ReadOptions(fill_merged=True, headers=tuple(HEAD))
    limits = Limits(max_rows=2000, reader_cpu_s=10)
    with pytest.raises(FileRefused, match="too_many_rows"):
        read(path, filename="b.xlsx", options=options, limits=limits)
