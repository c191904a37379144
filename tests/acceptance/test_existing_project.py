"""Somebody with a project of their own follows the README."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from demo_site.servers import RedisServer
from tests.acceptance.readme import Step, steps_of

SECTION = "Add it to your project"


@dataclass
class Project:
    """A new Django project in an environment that has nothing but the wheel."""

    folder: Path
    python: Path
    env: dict[str, str]
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def run(self, *command: str, expect: int = 0) -> str:
        """Run a command in the project and return what it said."""
        done = subprocess.run(
            self._words(command),
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == expect, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def follow(self, step: Step) -> None:
        """Do what one step of the README says."""
        path = self.folder / step.about
        if step.verb == "append":
            path.write_text(f"{path.read_text()}\n{step.text}\n")
        elif step.verb == "write":
            path.write_text(f"{step.text}\n")
        elif step.verb == "run":
            code = int(step.about.removeprefix("exit code ") or 0)
            for command in step.commands:
                self.run(*command, expect=code)
        else:
            assert step.verb == "start"
            self.started += [self._start(command) for command in step.commands]

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / "worker.log").open("wb") as log:
            return subprocess.Popen(
                self._words(command), cwd=self.folder, env=self.env, stdout=log, stderr=log
            )

    def _words(self, command: tuple[str, ...] | list[str]) -> list[str]:
        return [str(self.python) if word == "python" else word for word in command]


@pytest.fixture
def project(wheel: Path, redis_server: RedisServer, tmp_path: Path) -> Iterator[Project]:
    """`django-admin startproject mysite` with an app `shop`, before anything was added."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    programs = tmp_path / "venv" / "bin"
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    env = {**kept, "REDIS_URL": redis_server.url}
    folder = tmp_path / "work"
    folder.mkdir()
    made = Project(folder, programs / "python", env)
    made.run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
    made.run(str(programs / "django-admin"), "startproject", "mysite", ".")
    made.run("python", "manage.py", "startapp", "shop")
    settings = folder / "mysite" / "settings.py"
    settings.write_text(settings.read_text() + '\nINSTALLED_APPS += ["shop"]\n')
    yield made
    for process in made.started:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def test_the_readme_brings_an_import_into_an_existing_project(project: Project) -> None:
    """Each snippet is applied as the page says, and the file's good rows are in the table."""
    steps = steps_of(SECTION)
    assert {step.verb for step in steps} == {"append", "write", "run", "start"}
    for step in steps:
        project.follow(step)
    project.run("python", "manage.py", "check", "--fail-level", "WARNING")
    rows = (
        "from shop.models import InvoiceLine as L; print(*L.objects.values_list('number', 'due'))"
    )
    said = project.run("python", "manage.py", "shell", "-v", "0", "-c", rows)
    assert "'A-1', datetime.date(2026, 1, 31)" in said
    assert "'A-2', datetime.date(2026, 2, 28)" in said
    assert "A-3" not in said


def test_the_readme_has_every_addition() -> None:
    """Apps, queue, settings, urls, importer, resolver, worker: the page leaves nothing out."""
    text = "\n".join(step.text for step in steps_of(SECTION))
    for addition in (
        '"django_rq", "fairimport"',
        "RQ_QUEUES",
        "FAIRIMPORT",
        "fairimport.urls",
        "@register",
        "def tenant_of",
        "fairworker",
        "fairimport_run",
    ):
        assert addition in text
