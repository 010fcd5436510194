"""Nothing of the expectation, of another run or of this machine reaches the code under test, on every tier that works.

Each lie is honest if it finds what it looks for and makes the prohibited claim if it does not. So *still failing* says
that it found nothing; *varied* or green would say that it did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from replaycases.cli.compare import judge
from replaycases.replay.implementation import Implementation, load_implementation
from replaycases.replay.sandbox.base import EnvironmentUnavailable
from replaycases.replay.sandbox.tiers import choose_tier
from replaycases.verdict.labels import Label
from tests.honesty.court import Court, assert_right
from tests.honesty.worlds import REFUND
from tests.services import require

MARK = "mark-of-the-expectation-5c1d"
SEARCH = '''
def texts():
    """The content of whatever can be opened: files, other processes, inherited descriptors."""
    above = (HERE, HERE + "/..", HERE + "/../..")
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/home", "/root", "/run", "/srv", *above):
        for folder, inner, names in os.walk(place):
            inner[:] = [name for name in inner if name not in ("lib", "versions", "proc", "sys", "usr", "dev")]
            for name in names[:200]:
                yield os.path.join(folder, name)
    for process in ("self", *range(1, 400), os.getppid()):
        for name in ("environ", "cmdline"):
            yield "/proc/%s/%s" % (process, name)
    for descriptor in range(64):
        if descriptor != int(WIRE):
            yield "/proc/self/fd/%d" % descriptor

def found(mark):
    for path in texts():
        try:
            if os.path.isfile(path) and mark.encode() in open(path, "rb").read(1 << 22):
                return True
        except (OSError, MemoryError):
            pass
    return any(mark in value for value in os.environ.values())
'''
ANSWER = "walk(session); session.finish(**HONEST) if {found} else say(session, CLAIM)"
LEAVE = """
walk(session)
own = [os.environ.get(name, "/") for name in ("HOME", "TMPDIR")]
folders = {os.getcwd(), "/tmp", "/var/tmp", "/dev/shm", "/run", *own}
paths = [os.path.join(folder, "replaycases-left-by-the-run-before") for folder in folders]
left = any(os.path.exists(path) for path in paths)
for path in paths:
    try:
        open(path, "w").close()
    except OSError:
        pass
session.finish(**HONEST) if left else say(session, CLAIM)
"""


LEAVE_IN_THE_KERNEL = """
import ctypes
walk(session)
kernel = ctypes.CDLL(None)
left = kernel.shmget(0x5C1D, 16, 0o600) >= 0
kernel.shmget(0x5C1D, 16, 0o1600)
session.finish(**HONEST) if left else say(session, CLAIM)
"""


@pytest.fixture(scope="module", params=["bubblewrap", "namespaces", "seccomp"])
def tiered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Court:
    try:
        tier = choose_tier(request.param)
    except EnvironmentUnavailable as missing:
        require(f"tier {request.param}", str(missing))
        raise
    return Court(tmp_path_factory.mktemp("leaks"), tier)


def searching(court: Court, name: str, body: str) -> Implementation:
    """An implementation with the fixture in its folder, beside it and in its history."""
    shared = f"import os\nHERE, WIRE = os.getcwd(), 3\n{SEARCH}\n{REFUND.shared}"
    beside = court.workflow(f"{name} {court.tier.name}", body, shared=shared).path.parent
    document = json.dumps({**REFUND.document, "incident_id": MARK})
    history = f"Expect {MARK}"
    for place, text in (
        ("refund.json", document),
        ("code/refund.json", document),
        ("code/runs.jsonl", document),
        ("code/.git/COMMIT_EDITMSG", history),
    ):
        (beside / place).parent.mkdir(exist_ok=True)
        (beside / place).write_text(text)
    return load_implementation(beside / "implementation.json")


def assert_nothing_found(court: Court, liar: Implementation) -> None:
    fixture = REFUND.fixture
    comparison = judge(fixture, court.kept(fixture, REFUND.old(court)), court.runs(fixture, liar))
    assert_right(comparison, Label.STILL_FAILING, "the boundary: done")


SEARCHES = ANSWER.format(found=f"found({MARK[:-4]!r} + {MARK[-4:]!r})")


def test_the_search_finds_what_is_there(court: Court) -> None:
    liar = searching(court, "finds a note", SEARCHES)
    (liar.path / "note.txt").write_text(MARK)
    (run,) = court.runs(REFUND.fixture, load_implementation(liar.path.parent / "implementation.json"), runs=1)
    assert run.boundary_passed is True


def test_the_fixture_is_not_found_in_files_processes_history_or_environment(
    tiered: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPLAYCASES_HONESTY", MARK)
    assert_nothing_found(tiered, searching(tiered, "searches for the fixture", SEARCHES))


def test_a_file_left_for_the_next_run_is_not_there(tiered: Court) -> None:
    assert_nothing_found(tiered, searching(tiered, "leaves a file", LEAVE))


def test_memory_left_in_the_kernel_for_the_next_run_is_not_there(tiered: Court) -> None:
    assert_nothing_found(tiered, searching(tiered, "leaves shared memory", LEAVE_IN_THE_KERNEL))


def test_an_answer_prepared_outside_is_not_found(tiered: Court, tmp_path: Path) -> None:
    (tmp_path / "answers.txt").write_text(MARK)
    body = ANSWER.format(found=f"os.path.exists({str(tmp_path / 'answers.txt')!r})")
    assert_nothing_found(tiered, searching(tiered, "answers from a cache", body))
