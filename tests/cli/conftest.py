"""The command run in this process: (exit code, standard output, standard error)."""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from replaycases.cli.main import STOPPING, main
from tests.cli.lying import Liar, lane_files

REPOSITORY = Path(__file__).resolve().parents[2]
INCIDENTS = REPOSITORY / "examples" / "incidents"
AFFECTED = REPOSITORY / "examples" / "support-agent" / "affected.json"
FIXED = REPOSITORY / "examples" / "support-agent" / "fixed.json"

Command = Callable[..., tuple[int, str, str]]


def implementation(folder: Path, code: str, version: str) -> Path:
    """The file of an implementation with this code in `replay` of agent.py."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "agent.py").write_text(code)
    spec = {
        "name": "agent",
        "version": version,
        "commit": f"commit-{version}",
        "path": "src",
        "adapter": {"kind": "python", "target": "agent:replay"},
    }
    (folder / "implementation.json").write_text(json.dumps(spec))
    return folder / "implementation.json"


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """The handlers of signals are afterwards what they were."""
    before = {number: signal.getsignal(number) for number in STOPPING}

    def run(*argv: object) -> tuple[int, str, str]:
        try:
            code = main([str(word) for word in argv])
        except SystemExit as usage:
            code = int(usage.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    yield run
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite folder with the refund incident and its controls."""
    shutil.copy(INCIDENTS / "refund-timeout.json", tmp_path)
    shutil.copytree(INCIDENTS / "controls" / "refund-timeout", tmp_path / "controls" / "refund-timeout")
    return tmp_path


@pytest.fixture
def manifests(command: Command, tmp_path: Path) -> tuple[Path, Path]:
    """Files with the manifests of the affected and the fixed version on the refund incident."""
    paths = tmp_path / "old-manifests.json", tmp_path / "new-manifests.json"
    for spec, path in zip((AFFECTED, FIXED), paths, strict=True):
        code, _, err = command("replay", INCIDENTS / "refund-timeout.json", "--implementation", spec, "-o", path)
        assert code == 0, err
    return paths


@pytest.fixture
def good() -> dict[str, bytes]:
    """A lane's files by path, made without a server."""
    return lane_files()


@pytest.fixture
def liars(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Liar]]:
    """Starts a server that lies."""
    monkeypatch.setenv("REPLAYCASES_TOKEN", "rc_the-secret")
    running: list[tuple[Liar, threading.Thread]] = []

    def start() -> Liar:
        liar = Liar()
        thread = threading.Thread(target=liar.server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        running.append((liar, thread))
        return liar

    yield start
    for liar, thread in running:
        liar.server.shutdown()
        thread.join()
        liar.server.server_close()


@pytest.fixture
def liar(liars: Callable[[], Liar]) -> Liar:
    return liars()


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that any user may look into; those of the test run itself are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
