"""The child process: its limits, its end, what it may not do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from django.test import override_settings

from fairimport.errors import FileRefused
from fairimport.sheets import ReadOptions, Survey, parent, read, rows
from fairimport.sheets import child as child_process
from fairimport.sheets.limits import Limits
from tests.background import runs, until

TEXT = "Code,Name,Qty\nA-1,Lamp,3\nA-2,Desk,4\n"


@pytest.fixture
def table(tmp_path):
    """A small csv file."""
    path = tmp_path / "table.csv"
    path.write_text(TEXT)
    return path


def child(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let another program stand in for the child."""
    monkeypatch.setattr(parent, "command", lambda: ([sys.executable, "-c", code], dict(os.environ)))


def test_a_file_is_read_by_a_child_and_its_rows_spooled(table, tmp_path):
    """The survey comes back over a pipe, the rows through a file, and nothing is parsed here."""
    spool = tmp_path / "spool"
    found = read(table, filename="table.csv", spool=spool)
    assert [(row.number, row.cells) for _, row in rows(spool)] == [
        (2, ("A-1", "Lamp", "3")),
        (3, ("A-2", "Desk", "4")),
    ]
    assert Survey.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_reading_goes_on_at_an_offset(table, tmp_path):
    """Whoever keeps the offset of a row begins behind it."""
    spool = tmp_path / "spool"
    read(table, filename="table.csv", spool=spool)
    (offset, _), (end, second) = rows(spool)
    assert list(rows(spool, offset)) == [(end, second)]
    assert list(rows(spool, end)) == []


def test_the_limits_are_those_of_the_settings(table):
    """A host may allow more, or less."""
    with override_settings(FAIRIMPORT={"MAX_ROWS": 1}), pytest.raises(FileRefused) as refused:
        read(table, filename="table.csv")
    assert (refused.value.code, refused.value.facts) == ("too_many_rows", {"rows": 2, "limit": 1})


def test_a_file_over_the_size_is_not_opened(table):
    """The child asks the file system first."""
    with pytest.raises(FileRefused, match="file_too_large"):
        read(table, filename="table.csv", limits=Limits(max_upload_mib=0))


def test_memory_ends_as_a_code(tmp_path):
    """A file that needs more than the child may have is too large."""
    path = tmp_path / "a.csv"
    path.write_text("Code\n" + "x" * 60_000_000 + "\n")
    with pytest.raises(FileRefused) as refused:
        read(path, filename="a.csv", limits=Limits(reader_memory_mib=100))
    assert (refused.value.code, refused.value.facts) == ("file_too_large", {"reason": "memory"})


def test_time_ends_as_a_code(table, monkeypatch):
    """A child that does not answer is killed."""
    child("import time; time.sleep(60)", monkeypatch)
    started = time.monotonic()
    with pytest.raises(FileRefused) as refused:
        read(table, filename="table.csv", limits=Limits(reader_wall_s=1))
    assert time.monotonic() - started < 5
    assert refused.value.facts["reason"] == "time"


def test_cpu_time_ends_as_a_code(table, monkeypatch):
    """The kernel ends a child that only computes."""
    code = (
        "import sys, time; from fairimport.sheets.child import bound_cpu; bound_cpu(1)\n"
        "while True: pass"
    )
    child(code, monkeypatch)
    with pytest.raises(FileRefused) as refused:
        read(table, filename="table.csv", limits=Limits(reader_wall_s=30))
    assert refused.value.facts["reason"] == "time"


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.abort()",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "raise SystemExit(3)",
        "print('{\"half\": ', end='')",
        "print('no json')",
        "print('[1]')",
    ],
)
def test_any_death_of_the_child_is_one_clear_code(table, monkeypatch, code):
    """Neither a crash nor rubbish reaches the caller."""
    child(code, monkeypatch)
    with pytest.raises(FileRefused, match="damaged_file"):
        read(table, filename="table.csv")


def test_an_unforeseen_error_is_the_files_fault(table, monkeypatch):
    """A parser that raises anything makes a damaged file, with the error's name only."""
    code = (
        "import fairimport.sheets.child as c\n"
        "def broken(*_): raise RuntimeError('secret cell')\n"
        "c.survey_file = broken; c.main()"
    )
    child(code, monkeypatch)
    with pytest.raises(FileRefused) as refused:
        read(table, filename="table.csv")
    assert refused.value.facts == {"reason": "RuntimeError"}


@pytest.mark.parametrize(
    "action",
    [
        "import socket; socket.create_connection(('127.0.0.1', 1))",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "import os; os.fork()",
        "import os; os.execv('/bin/true', ['true'])",
    ],
)
def test_the_child_reaches_nothing_else(action):
    """No network and no other program, whatever a parser is made to do."""
    code = (
        "from fairimport.sheets.child import confine; from fairimport.sheets.limits import Limits\n"
        f"confine(Limits())\ntry:\n    {action}\nexcept PermissionError: print('forbidden')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.stdout == "forbidden\n", ended.stderr


def test_the_child_needs_no_django():
    """It starts quickly and has no settings to leak."""
    code = "import sys, fairimport.sheets.child; print([m for m in sys.modules if 'django' in m])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_the_child_dies_with_its_parent(table):
    """A killed worker leaves no reader behind."""
    code = (
        "import subprocess, sys\nfrom fairimport.sheets import parent\n"
        "a, e = parent.command()\np = subprocess.Popen(a, env=e, stdin=subprocess.PIPE)\n"
        "print(p.pid, flush=True)\nsys.stdin.read()"
    )
    middle = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    reader = int(middle.stdout.readline())
    time.sleep(0.5)  # it asks the kernel as its first act
    os.kill(middle.pid, signal.SIGKILL)
    middle.wait()
    middle.stdin.close()
    middle.stdout.close()
    assert until(lambda: not runs(reader), 5)


def test_one_child_can_read_many_files(table):
    """Each line is a request, each gets one line; a refusal ends nothing."""
    arguments, environment = parent.command()
    request = {"filename": "a.csv", "options": {}, "limits": Limits().to_json(), "spool": None}
    lines = [json.dumps({**request, "path": p}) for p in (str(table), "/dev/null", str(table))]
    ended = subprocess.run(
        arguments,
        env=environment,
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
    )
    replies = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [next(iter(reply)) for reply in replies] == ["survey", "refused", "survey"]


def test_the_child_imports_nothing_from_where_it_is_started(table, tmp_path, monkeypatch):
    """A module of the host that is called like one of Python's is not run."""
    (tmp_path / "csv.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    assert read(table, filename="table.csv").row_count == 2


def test_options_come_from_a_runs_options():
    """Names that the reader does not know are somebody else's."""
    options = ReadOptions.from_json({"sheet": "Jan", "timezone": "UTC", "encoding": None})
    assert options == ReadOptions(sheet="Jan")
    assert ReadOptions.from_json(options.to_json()) == options


@pytest.mark.parametrize(
    ("error", "code", "facts"),
    [
        (FileRefused("no_rows"), "no_rows", {}),
        (MemoryError(), "file_too_large", {"reason": "memory"}),
        (OSError(27, "File too large"), "unpacks_too_large", {"reason": "disk"}),
        (RecursionError("deep"), "damaged_file", {"reason": "RecursionError"}),
        (KeyError("secret"), "damaged_file", {"reason": "KeyError"}),
    ],
)
def test_every_end_of_reading_has_an_answer(table, monkeypatch, error, code, facts):
    """What a parser may raise is worded once, in the child."""

    def broken(*_):
        raise error

    monkeypatch.setattr(child_process, "survey_file", broken)
    request = {"path": str(table), "filename": "a.csv", "options": {}, "limits": {}}
    assert child_process.answer(request) == {"refused": code, "facts": facts}


def test_an_answer_holds_what_any_database_can(tmp_path):
    """Names and samples of a hostile file are printable."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"Co\0de,Na\xc3\xa9me\nx\0,y\n")
    spool = tmp_path / "spool"
    request = {"path": str(path), "filename": "a.csv", "limits": {}, "spool": str(spool)}
    reply = child_process.answer({**request, "options": {"encoding": "utf-8"}})
    assert "\\u0000" not in json.dumps(reply)
    assert spool.read_bytes().count(b"\n") == 1


def test_a_missing_file_is_no_fault_of_a_file(tmp_path):
    """The caller's mistake is not blamed on the customer."""
    request = {"path": str(tmp_path / "none"), "filename": "a.csv", "options": {}, "limits": {}}
    with pytest.raises(FileNotFoundError):
        child_process.answer(request)
