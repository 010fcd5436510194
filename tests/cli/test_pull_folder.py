"""The folder that a lane is pulled into appears whole or not at all, and takes nobody's place."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.lying import Liar, with_file, zipped

COMMAND = [sys.executable, "-m", "replaycases.cli.main"]
ON_A_FULL_DISK = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
from replaycases.cli.main import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def words(liar: Liar, good: dict[str, bytes], tmp_path: Path) -> list[str]:
    """What pulls a good lane into tmp_path/lane."""
    liar.zip = zipped(good)
    return ["pull", "--server", liar.url, "--project", "RC", str(tmp_path / "lane")]


def test_a_folder_that_is_there_and_empty_is_filled(command: Command, words: list[str], tmp_path: Path) -> None:
    (tmp_path / "lane").mkdir()
    assert command(*words)[0] == 0
    assert (tmp_path / "lane" / "lane.json").exists()


@pytest.mark.parametrize(
    "take",
    [
        lambda lane: lane.write_text("mine"),
        lambda lane: os.mkfifo(lane),
        lambda lane: lane.symlink_to(lane.parent / "nowhere"),
        lambda lane: ((lane.parent / "mine").mkdir(), lane.symlink_to(lane.parent / "mine")),
        lambda lane: (lane.mkdir(), (lane / "lane.json").write_text("an older one")),
    ],
    ids=["a file", "a pipe", "a dangling link", "a link to an empty folder", "an older lane"],
)
def test_what_stands_in_the_folders_place_is_left_alone_and_the_server_is_not_asked(
    command: Command, liar: Liar, words: list[str], tmp_path: Path, take: Callable[[Path], object]
) -> None:
    take(tmp_path / "lane")
    before = [(path, path.lstat().st_ino) for path in sorted(tmp_path.rglob("*"))]
    code, _, err = command(*words)
    assert code == 2
    assert "Name a folder that is not there yet" in err
    assert [(path, path.lstat().st_ino) for path in sorted(tmp_path.rglob("*"))] == before
    assert liar.asked == []


def test_a_folder_that_cannot_be_made_is_a_usage_error(command: Command, words: list[str], tmp_path: Path) -> None:
    code, _, err = command(*words[:-1], tmp_path / "nobody" / "made" / "lane")
    assert code == 2
    assert "cannot be written" in err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_somebody_makes_meanwhile_is_left_alone(
    command: Command, liar: Liar, words: list[str], tmp_path: Path
) -> None:
    def theirs() -> None:
        (tmp_path / "lane").mkdir()
        (tmp_path / "lane" / "kept.txt").write_text("mine")

    liar.meanwhile = theirs
    code, _, err = command(*words)
    assert code == 2
    assert "cannot be written" in err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["kept.txt", "lane"]


def test_of_two_pulls_into_one_folder_one_is_laid_down_and_the_other_says_that_it_was_not(
    command: Command, liar: Liar, words: list[str], tmp_path: Path
) -> None:
    others: list[int] = []

    def another() -> None:
        liar.meanwhile = lambda: None
        others.append(subprocess.run([*COMMAND, *words], check=False, capture_output=True).returncode)

    liar.meanwhile = another
    code, _, err = command(*words)
    assert (code, others) == (2, [0])
    assert "cannot be written" in err
    assert [path.name for path in tmp_path.iterdir()] == ["lane"]
    assert (tmp_path / "lane" / "lane.json").exists()


@pytest.mark.parametrize(
    "data", [random.Random(1).randbytes(50_000), b" " * 50_000], ids=["of the download", "of what was in it"]
)
def test_on_a_full_disk_nothing_is_laid_down_and_the_disk_is_named(
    words: list[str], liar: Liar, good: dict[str, bytes], tmp_path: Path, data: bytes
) -> None:
    """Spaces come small and do not fit when they are laid down; what cannot be compressed does not even come."""
    liar.zip = zipped(with_file(good, "old/RC-1/1.manifest.json", data))
    run = subprocess.run(
        [sys.executable, "-c", ON_A_FULL_DISK, "10000", *words], check=False, capture_output=True, text=True
    )
    assert run.returncode == 2
    assert "lane: cannot be written: File too large" in run.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_pull_that_is_stopped_leaves_nothing_behind(
    liar: Liar, words: list[str], tmp_path: Path, number: signal.Signals
) -> None:
    asked, stopped = threading.Event(), threading.Event()
    liar.meanwhile = lambda: (asked.set(), stopped.wait())[0]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as pulling:
        assert asked.wait(60)
        assert len(list(tmp_path.iterdir())) == 1
        pulling.send_signal(number)
        out, err = pulling.communicate(timeout=30)
    stopped.set()
    assert (pulling.returncode, out, err) == (128 + number, b"", b"stopped\n")
    assert list(tmp_path.iterdir()) == []
