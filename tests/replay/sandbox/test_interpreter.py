"""An interpreter is usable if the confined user can run it; what it needs is mounted, and no more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from replaycases.replay.sandbox.base import EnvironmentUnavailable, Tier
from replaycases.replay.sandbox.interpreter import interpreter_trees, usable_interpreter
from tests.replay.sandbox.confined import ask


@pytest.fixture
def environment(outside: Path) -> Path:
    """A virtual environment over an interpreter that everybody can reach."""
    subprocess.run(
        [str(usable_interpreter()), "-m", "venv", "--without-pip", str(outside / "venv")], check=True, cwd="/"
    )
    return outside / "venv"


def test_without_a_preference_one_that_works_is_found() -> None:
    interpreter = usable_interpreter()
    assert interpreter.is_absolute()
    assert os.access(interpreter, os.X_OK)


def test_a_preferred_one_is_taken_with_its_links(environment: Path) -> None:
    assert usable_interpreter(environment / "bin/python") == environment / "bin/python"


def test_a_preferred_one_out_of_reach_is_refused_and_not_replaced(environment: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root runs the program as another user, who may be kept out")
    environment.chmod(0o700)
    with pytest.raises(EnvironmentUnavailable, match="uid 65534 may not reach"):
        usable_interpreter(environment / "bin/python")


def test_a_missing_one_is_refused_with_what_to_set(outside: Path) -> None:
    with pytest.raises(EnvironmentUnavailable, match="`python`"):
        usable_interpreter(outside / "no/bin/python")


def test_a_link_does_not_open_the_folder_above_it(outside: Path) -> None:
    (outside / "bin").mkdir()
    link = outside / "bin/python"
    link.symlink_to(usable_interpreter())
    assert outside not in interpreter_trees(link)


def test_a_program_that_is_no_python_is_refused(outside: Path) -> None:
    (outside / "bin").mkdir()
    (outside / "bin/python").write_text("#!/bin/sh\n", encoding="utf-8")
    (outside / "bin/python").chmod(0o755)
    with pytest.raises(EnvironmentUnavailable, match="no Python installation"):
        usable_interpreter(outside / "bin/python")


def test_a_virtual_environment_brings_its_base(environment: Path) -> None:
    trees = interpreter_trees(environment / "bin/python")
    assert trees[0] == environment
    assert (environment / "bin/python").resolve().parent.parent in trees


def test_a_virtual_environment_works_inside(tier: Tier, environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (next(environment.glob("lib/python*/site-packages")) / "installed.py").write_text("answer = 42", encoding="utf-8")
    python = environment / "bin/python"
    monkeypatch.setattr("tests.replay.sandbox.confined.usable_interpreter", lambda: python)
    code = "import installed, shutil; print(json.dumps([installed.answer, sys.prefix, shutil.which('python3')]))"
    assert ask(tier, code) == [42, str(environment), str(environment / "bin/python3")]


def test_the_running_interpreter_has_trees() -> None:
    assert Path(sys.executable).resolve().parent.parent in interpreter_trees(Path(sys.executable))
