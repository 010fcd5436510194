"""What reaches a terminal, a CI log or a pipe."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import AFFECTED, INCIDENTS, Command

REFUND = INCIDENTS / "refund-timeout.json"
HOSTILE = "x\x1b[2J\x9b\u202e\x07\r"


def refund_with(tmp_path: Path, **fields: object) -> Path:
    path = tmp_path / "case.json"
    path.write_text(json.dumps(json.loads(REFUND.read_text()) | fields))
    return path


def controls_in(text: str) -> set[str]:
    return {character for character in text if not character.isprintable() and character != "\n"}


@pytest.mark.parametrize("machine", [[], ["--json"]], ids=["people", "machines"])
def test_no_control_or_direction_character_of_a_fixture_reaches_the_terminal(
    command: Command, tmp_path: Path, machine: list[str]
) -> None:
    path = refund_with(tmp_path, case_id=HOSTILE)
    for words in (["validate", path], ["replay", path, "--implementation", AFFECTED]):
        code, out, err = command(*words, *machine)
        assert code == 0, err
        assert not controls_in(out + err)
    unknown = refund_with(tmp_path, **{HOSTILE: 1})
    code, out, err = command("validate", unknown, *machine)
    assert (code, controls_in(out + err)) == (10, set())


def test_machines_get_the_same_values_as_were_recorded(command: Command, tmp_path: Path) -> None:
    _, out, _ = command("validate", refund_with(tmp_path, case_id=HOSTILE + "ü漢😀"), "--json")
    assert json.loads(out)[0]["case_id"] == HOSTILE + "ü漢😀"


def test_a_name_in_a_fixture_cannot_start_a_line_with_a_command_for_the_ci_system(
    command: Command, tmp_path: Path
) -> None:
    for name in ("::error::x", "x\n::error::x", "x\n  ::error::x"):
        _, out, err = command("validate", refund_with(tmp_path, case_id=name))
        assert "::error::x" in out
        assert not [line for line in (out + err).splitlines() if line.lstrip().startswith("::")]


def test_standard_error_of_a_workflow_reaches_the_terminal_harmless(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    (tmp_path / "code").mkdir()
    source = f"import sys\nsys.stderr.write({HOSTILE!r} + '\\n::error::x\\n')\nraise SystemExit(1)\n"
    (tmp_path / "code" / "w.py").write_text(source)
    spec = tmp_path / "implementation.json"
    adapter = {"kind": "python", "target": "w:replay"}
    spec.write_text(json.dumps({"name": "n", "version": "1", "commit": "c", "path": "code", "adapter": adapter}))
    for words in (["replay", REFUND, "--implementation", spec], ["init", "--check", spec]):
        code, out, err = command(*words)
        assert code == 60
        assert "::error::x" in err
        assert not controls_in(out + err)
        assert not [line for line in err.splitlines() if line.lstrip().startswith("::")]


def run(*words: object, before: str = "", **environment: str) -> subprocess.CompletedProcess[bytes]:
    script = f"exec {sys.executable} -m replaycases.cli.main {' '.join(map(str, words))} {before}"
    return subprocess.run(["/bin/sh", "-c", script], capture_output=True, env=os.environ | environment, timeout=60)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("machine", ["", "--json"])
def test_output_that_cannot_be_written_is_said_and_is_no_success(machine: str) -> None:
    ended = run("validate", REFUND, machine, before=">/dev/full")
    assert ended.returncode == 2
    assert b"standard output: cannot be written" in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert b"Exception" not in ended.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_change_no_exit_code(closed: str) -> None:
    for words, code in ((("validate", REFUND), 0), (("replay", REFUND, "--implementation", AFFECTED), 0)):
        ended = run(*words, before=closed)
        assert (ended.returncode, ended.stderr) == (code, b"")


def test_a_terminal_that_knows_only_ascii_is_served(tmp_path: Path) -> None:
    path = refund_with(tmp_path, case_id="ü漢😀")
    ended = run("validate", path, PYTHONIOENCODING="ascii")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"\\u6f22" in ended.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "words", [("validate", REFUND, "--junit"), ("replay", REFUND, "--implementation", AFFECTED, "-o")]
)
def test_a_file_that_could_not_be_written_whole_is_not_left_behind(
    command: Command, tmp_path: Path, words: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def runs_out_of_space(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", runs_out_of_space)
    target = tmp_path / "written"
    code, _, err = command(*words, target)
    assert code == 2
    assert "No space left on device" in err
    assert not target.exists()


def test_a_file_in_whose_writing_a_signal_came_is_not_left_behind(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
        signal.raise_signal(signal.SIGTERM)
        return len(data)

    monkeypatch.setattr(Path, "write_bytes", stopped)
    code, _, err = command("validate", REFUND, "--junit", tmp_path / "written")
    assert (code, err) == (128 + signal.SIGTERM, "stopped\n")
    assert not (tmp_path / "written").exists()


TWICE = """
import signal, sys
from replaycases.cli import main, validate

def run(options):
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        print("undone")

validate.run = run
sys.exit(main.main(["validate", "x"]))
"""


def test_a_second_signal_does_not_break_into_what_the_first_one_undoes() -> None:
    ended = subprocess.run([sys.executable, "-c", TWICE], check=False, capture_output=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (128 + signal.SIGINT, b"undone\n", b"stopped\n")


COMPILES = """
import signal, sys
from replaycases.cli import main, validate

def run(options):
    signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    compile("x = 1234567890123 ** 2\\n" * 100_000, "code", "exec")
    print("compiled")
    return 0

validate.run = run
sys.exit(main.main(["validate", "x"]))
"""


def test_a_signal_that_comes_while_code_is_compiled_stops_the_command() -> None:
    ended = subprocess.run([sys.executable, "-c", COMPILES], check=False, capture_output=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (128 + signal.SIGALRM, b"", b"stopped\n")
