from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.cases.deployment import REPOSITORY, alive, tree
from tests.services import free_port, until

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def serving(sqlite_template: Path, tmp_path: Path) -> tuple[subprocess.Popen[str], int]:
    (tmp_path / "replaycases.sqlite3").write_bytes(sqlite_template.read_bytes())
    port = free_port()
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "REPLAYCASES_VAR": str(tmp_path)}
    command = [sys.executable, "manage.py", "serve", "--port", str(port)]
    process = subprocess.Popen(
        command, cwd=REPOSITORY, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    yield process, port
    process.kill()
    process.wait()
    process.stdout.close()


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as response:
            return response.status == 200
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_ends_web_and_worker_and_leaves_no_process(
    serving: tuple[subprocess.Popen[str], int], number: signal.Signals
) -> None:
    process, port = serving
    until(lambda: _answers(port), process)
    everything = tree(process.pid)
    assert len(everything) >= 5
    process.send_signal(number)
    assert process.wait(40) == 0
    assert not [pid for pid in everything if alive(pid)]


def test_mails_lead_to_the_port_that_is_served(serving: tuple[subprocess.Popen[str], int]) -> None:
    process, port = serving
    until(lambda: _answers(port), process)
    said = f"REPLAYCASES_BASE_URL=http://localhost:{port}".encode()
    children = [Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") for pid in tree(process.pid) - {process.pid}]
    assert children
    assert all(said in environ for environ in children)


def test_children_stop_when_the_supervisor_is_killed(serving: tuple[subprocess.Popen[str], int]) -> None:
    process, port = serving
    until(lambda: _answers(port), process)
    everything = tree(process.pid)
    assert len(everything) >= 5
    process.kill()
    process.wait()
    until(lambda: not any(alive(pid) for pid in everything))


def test_a_taken_port_is_named_and_nothing_is_started(serving: tuple[subprocess.Popen[str], int]) -> None:
    process, port = serving
    until(lambda: _answers(port), process)
    second = subprocess.run(
        [sys.executable, "manage.py", "serve", "--port", str(port)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert second.returncode == 1
    assert f"Port {port} cannot be used" in second.stderr
