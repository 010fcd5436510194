"""Names of things that are no files, and files without an end, are refused at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from replaycases.cli import reading
from tests.cli.conftest import AFFECTED, INCIDENTS, Command

REFUND = INCIDENTS / "refund-timeout.json"


@pytest.fixture(params=["pipe", "device", "endless", "long name"])
def no_file(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(reading, "LARGEST", 1 << 20)
    path = tmp_path / "named.json"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "device":
        path.symlink_to("/dev/zero")
    elif request.param == "endless":
        path.write_bytes(b"")
        os.truncate(path, 1 << 40)
    else:
        path = Path("x" * 5000)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("validate", "{}"),
        ("validate", REFUND, "--detect", "{}"),
        ("replay", "{}", "--implementation", AFFECTED),
        ("replay", REFUND, "--implementation", "{}"),
        ("compare", "{}", REFUND, "--fixture", REFUND),
        ("compare", REFUND, REFUND, "--fixture", "{}"),
        ("import", "{}"),
        ("import", REFUND, "--supplied", "{}"),
        ("suite", "{}", "--new", AFFECTED),
        ("init", "{}"),
    ],
)
def test_what_is_no_file_is_refused_as_usage_and_never_waited_for(
    command: Command, no_file: Path, words: tuple[object, ...]
) -> None:
    code, out, err = command(*(no_file if word == "{}" else word for word in words))
    assert code == 2
    assert no_file.name[:20] in out + err


def test_a_pipe_among_the_fixtures_of_a_folder_is_refused_with_the_others_judged(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_bytes(REFUND.read_bytes())
    os.mkfifo(tmp_path / "b.json")
    code, out, _ = command("validate", tmp_path)
    assert code == 2
    assert "a.json: case refund-timeout" in out
    assert "b.json: cannot be read: not a regular file" in out


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("words", [("validate",), ("suite", "--new", AFFECTED)], ids=["validate", "suite"])
def test_a_folder_that_may_not_be_listed_is_not_passed_over(
    command: Command, open_to_all: Path, words: tuple[object, ...]
) -> None:
    """Fixtures that nobody could see would else be fixtures that nobody missed."""
    closed = open_to_all / "closed"
    closed.mkdir()
    for path in (open_to_all / "a.json", closed / "b.json"):
        path.write_bytes(REFUND.read_bytes())
    closed.chmod(0o311)
    os.seteuid(65534)
    try:
        code, _, err = command(words[0], closed if words[0] == "suite" else open_to_all, *words[1:])
    finally:
        os.seteuid(0)
    assert code == 2
    assert "cannot be listed" in err
