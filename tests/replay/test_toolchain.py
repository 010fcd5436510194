"""The interpreter is asked inside the sandbox, once, and again when its packages changed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from replaycases.replay import toolchain
from replaycases.replay.sandbox.base import EnvironmentUnavailable, Tier
from replaycases.replay.sandbox.identity import open_to_sandbox
from replaycases.replay.sandbox.interpreter import usable_interpreter
from replaycases.replay.toolchain import describe
from tests.replay.implementations import sandbox


@pytest.fixture(scope="module")
def tier() -> Tier:
    return sandbox()


@pytest.fixture
def environment() -> Iterator[Path]:
    """A virtual environment that the sandbox's user can reach."""
    folder = Path(tempfile.mkdtemp())
    subprocess.run([usable_interpreter(), "-m", "venv", "--without-pip", folder / "env"], check=True)
    open_to_sandbox(folder)
    yield folder / "env"
    shutil.rmtree(folder)


def install(environment: Path, name: str, version: str) -> None:
    packages = next(environment.glob("lib/python3*/site-packages"))
    info = packages / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    open_to_sandbox(environment)


def test_an_environment_without_packages_has_no_lock(tier: Tier, environment: Path) -> None:
    found = describe(tier, environment / "bin" / "python")
    assert found.version.startswith("3.")
    assert (found.lock, found.time_machine) == (None, False)


def test_the_lock_follows_what_is_installed(tier: Tier, environment: Path) -> None:
    python = environment / "bin" / "python"
    install(environment, "some_agent", "1.0")
    first = describe(tier, python).lock
    install(environment, "other", "2.0")
    second = describe(tier, python).lock
    assert first is not None
    assert second not in (None, first)


def test_it_is_asked_once(tier: Tier, environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = environment / "bin" / "python"
    first = describe(tier, python)
    monkeypatch.setattr(toolchain, "_asked", lambda *_: pytest.fail("asked again"))
    assert describe(tier, python) is first


def test_an_interpreter_that_talks_nonsense_is_unavailable(tier: Tier, environment: Path) -> None:
    packages = next(environment.glob("lib/python3*/site-packages"))
    (packages / "noise.pth").write_text("import os; os.write(1, b'noise'); os._exit(0)\n")
    open_to_sandbox(environment)
    with pytest.raises(EnvironmentUnavailable, match="did not say what it is"):
        describe(tier, environment / "bin" / "python")
