"""`manage.py fairimport_run`: the customer's way from the shell, with exit codes for scripts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairimport.models import ImportRun
from fairimport.states import State
from tests.acceptance.runs.conftest import csv_of
from tests.background import until

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def run_command(imports, fairworkers, tmp_path):
    """Call the command on a file with one worker running; its exit code and what it printed."""
    fairworkers(1)

    def call(text: str | bytes, *arguments: str, importer: str = "warehouse.Movements"):
        path = tmp_path / "moves.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        command = [sys.executable, "manage.py", "fairimport_run", importer, str(path)]
        done = subprocess.run(
            [*command, "--tenant", "acme", *arguments],
            cwd=ROOT,
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return call


def test_a_good_file_ends_with_0(run_command, imports):
    """And says what became of the rows."""
    code, printed = run_command(csv_of(30), "--wait")
    assert (code, "30 rows = 30 created" in printed) == (0, True), printed
    assert imports.has_each_row_once(ImportRun.objects.get(), 30)


def test_rejected_rows_end_with_1(run_command):
    """Scripts can tell."""
    code, printed = run_command("code,name,qty\na,,1\nb,,x\n", "--wait")
    assert (code, "1 rejected" in printed) == (1, True), printed


def test_a_refused_file_ends_with_2(run_command):
    """With one clear sentence."""
    code, printed = run_command(b"\x89PNG\r\n\x1a\n" + bytes(99))
    assert code == 2
    assert "Traceback" not in printed


def test_an_open_question_ends_with_3(run_command):
    """A required column that nothing looks like; the import is not left behind half-way."""
    code, printed = run_command("x,y\n1,2\n")
    assert (code, "column_mapping" in printed) == (3, True), printed
    assert ImportRun.objects.get().state == State.CANCELLED


def test_an_unknown_importer_is_told_with_those_there_are(run_command):
    """And nothing is uploaded."""
    code, printed = run_command(csv_of(1), importer="warehouse.Nothing")
    assert (code, "warehouse.Movements" in printed) == (2, True)
    assert not ImportRun.objects.exists()


def test_without_wait_it_starts_and_leaves(run_command, imports):
    """The workers go on by themselves."""
    code, printed = run_command(csv_of(20), importer="Movements")
    assert (code, "started" in printed) == (0, True), printed
    until(lambda: ImportRun.objects.get().state == State.FINISHED, 20)
