"""A pulled lane is judged as it was listed, whatever stands in its folder, and results tell of this run alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests import factories
from tests.cli.conftest import Command, implementation
from tests.cli.lying import lane_files, listed, signed, with_file

COMMAND = [sys.executable, "-m", "replaycases.cli.main"]
OLD, CONTROL = "old/RC-1/1.manifest.json", "controls/RC-1/1-confirmed.json"
MUTATION = "controls/RC-1/1-confirmed.mutation.json"
UNKNOWN = "sha256:" + "0" * 64


@pytest.fixture
def affected(tmp_path: Path) -> Path:
    return implementation(tmp_path / "affected", factories.OLD_CODE, "1")


@pytest.fixture
def fixed(tmp_path: Path) -> Path:
    return implementation(tmp_path / "fixed", factories.FIXED_CODE, "3")


@pytest.fixture
def good(command: Command, affected: Path, tmp_path: Path) -> dict[str, bytes]:
    """A lane's files on which a fix is verified."""
    (tmp_path / "case.json").write_bytes(factories.fixture())
    code, _, err = command(
        "replay", tmp_path / "case.json", "--implementation", affected, "--runs", 2, "-o", tmp_path / "old.json"
    )
    assert code == 0, err
    first, second = json.loads((tmp_path / "old.json").read_text())
    files = lane_files(json.dumps(first).encode())
    document, another = json.loads(files["lane.json"]), json.dumps(second).encode()
    document["entries"][0]["files"].append(vars(listed("old/RC-1/2.manifest.json", another)))
    return {**files, "old/RC-1/2.manifest.json": another, "lane.json": signed(document)}


def lay(files: dict[str, bytes], folder: Path) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def lane(good: dict[str, bytes], tmp_path: Path) -> Path:
    return lay(good, tmp_path / "lane")


@pytest.fixture
def judge(command: Command, fixed: Path, tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """The exit code and what was said. Where results were written, they and JUnit tell the same."""

    def run(lane: Path, *more: object, new: Path = fixed) -> tuple[int, str]:
        results, junit = tmp_path / "results.json", tmp_path / "lane.xml"
        code, out, err = command("suite", lane, "--new", new, "-o", results, "--junit", junit, *more)
        assert results.exists() == junit.exists()
        if results.exists():
            document, root = json.loads(results.read_text()), ElementTree.parse(junit).getroot()
            assert document["exit_code"] == code
            failed = [row["name"] for row in document["rows"] if row["code"]]
            assert sum(int(suite.get("failures", "")) for suite in root) == len(failed)
            assert sum(int(suite.get("tests", "")) for suite in root) == len(document["rows"])
            assert bool(failed) == bool(code)
        return code, out + err

    return run


def test_a_good_lane_is_verified(judge: Callable[..., tuple[int, str]], lane: Path) -> None:
    code, said = judge(lane)
    assert (code, "controls passed" in said) == (0, True)


# --- a folder that is not as it was pulled --------------------------------------------------------------------------


def huge(lane: Path) -> None:
    with (lane / "RC-1.json").open("wb") as file:
        file.truncate(1 << 40)


def in_place(lane: Path, make: Callable[[Path], object], path: str = "RC-1.json") -> None:
    (lane / path).unlink()
    make(lane / path)


DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "not text": (lambda lane: (lane / "RC-1.json").write_bytes(b"\xff\xfe"), "RC-1.json was altered"),
    "huge": (huge, "RC-1.json was altered"),
    "a pipe": (lambda lane: in_place(lane, os.mkfifo), "RC-1.json is missing"),
    "a folder": (lambda lane: in_place(lane, Path.mkdir), "RC-1.json is missing"),
    "a link to itself": (lambda lane: in_place(lane, lambda p: p.symlink_to(p.name)), "RC-1.json cannot be read"),
    "other rules": (lambda lane: (lane / "RC-1.detect.json").write_text("{}"), "RC-1.detect.json: is not listed"),
    "a name that is no text": (
        lambda lane: Path(os.fsdecode(os.fsencode(lane) + b"/\xff.json")).write_text("{}"),
        ".json: is not listed",
    ),
    "no index": (lambda lane: (lane / "lane.json").unlink(), "this folder was pulled"),
    "a folder for an index": (lambda lane: in_place(lane, Path.mkdir, "lane.json"), "this folder was pulled"),
    "an index that is no text": (lambda lane: (lane / "lane.json").write_bytes(b"\xff"), "is not strict JSON"),
    "an empty index": (lambda lane: (lane / "lane.json").write_bytes(b""), "is not strict JSON"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("old", [False, True], ids=["with the old side that came along", "with an old side of its own"])
def test_a_folder_that_is_not_as_it_was_pulled_fails(
    judge: Callable[..., tuple[int, str]], lane: Path, affected: Path, damage: str, old: bool
) -> None:
    act, said = DAMAGES[damage]
    act(lane)
    code, out = judge(lane, *(["--old", affected] if old else []))
    assert code == 10
    assert said in out


def test_only_the_controls_that_are_listed_are_run(
    judge: Callable[..., tuple[int, str]], good: dict[str, bytes], tmp_path: Path
) -> None:
    """A linked folder is not looked through for files that nobody listed: what is in it must not stand for controls."""
    document = json.loads(good["lane.json"])
    document["entries"][0]["controls"] = []
    kept = {name: data for name, data in good.items() if not name.startswith("controls/")}
    lane = lay({**kept, "lane.json": signed(document)}, tmp_path / "lane")
    lay({name: good[name] for name in (CONTROL, MUTATION)}, tmp_path / "elsewhere")
    (lane / "controls").symlink_to(tmp_path / "elsewhere" / "controls")
    assert "controls not run" in judge(lane)[1]


# --- an index that does not fit its files, signed anew --------------------------------------------------------------


def without(entry: dict[str, Any], path: str) -> None:
    [control] = entry["controls"]
    control["files"] = [file for file in control["files"] if file["path"] != path]


INDEXES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "another control": (lambda entry: entry["controls"][0].update(fixture_hash=UNKNOWN), "its fixture_hash is not"),
    "other rules": (lambda entry: entry["controls"][0].update(checks_hash=UNKNOWN), "its checks_hash is not"),
    "another mutation": (lambda entry: entry["controls"][0].update(mutated_hash=UNKNOWN), "its mutated_hash is not"),
    "no mutation": (lambda entry: without(entry, MUTATION), "its mutated_hash is not"),
    "no control": (lambda entry: without(entry, CONTROL), "not one fixture for a control of RC-1: confirmed"),
    "two in one": (lambda entry: entry["controls"].append({**entry["controls"][0]}), "2 times"),
    "a control of nobody": (
        lambda entry: (entry["files"].extend(entry["controls"][0]["files"]), entry["controls"].clear()),
        "among controls, and no control for it",
    ),
    "a control that is the case": (
        lambda entry: entry["controls"][0]["files"].append(entry["files"].pop(0)),
        "not one fixture for a control of RC-1: confirmed",
    ),
}


@pytest.mark.parametrize("change", INDEXES)
def test_a_control_that_is_not_as_listed_fails_its_case(
    judge: Callable[..., tuple[int, str]], good: dict[str, bytes], tmp_path: Path, change: str
) -> None:
    act, said = INDEXES[change]
    document = json.loads(good["lane.json"])
    act(document["entries"][0])
    lane = lay({**good, "lane.json": signed(document)}, tmp_path / "lane")
    listed_paths = json.dumps(document["entries"])
    for name in (CONTROL, MUTATION):
        if f'"{name}"' not in listed_paths:
            (lane / name).unlink()
    code, out = judge(lane)
    assert code == 10
    assert said in out


def test_a_case_without_an_expectation_fails(
    judge: Callable[..., tuple[int, str]], good: dict[str, bytes], tmp_path: Path
) -> None:
    nothing = {**json.loads(factories.fixture()), "expected": {}}
    lane = lay(with_file(good, "RC-1.json", json.dumps(nothing).encode()), tmp_path / "lane")
    code, out = judge(lane)
    assert code == 10
    assert "the fixture is invalid" in out


# --- a new version that does not get through ------------------------------------------------------------------------

BROKEN = {
    "raises": ("def replay(session):\n    raise SystemError('no')\n", 50),
    "exits": ("import os\ndef replay(session):\n    os._exit(0)\n", 50),
    "says nothing": ("def replay(session):\n    pass\n", 50),
    "does not load": ("import nothing_of_this_name\ndef replay(session):\n    pass\n", 60),
    "has no entry": ("", 60),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_version_that_breaks_is_no_pass(
    judge: Callable[..., tuple[int, str]], lane: Path, tmp_path: Path, how: str
) -> None:
    code, expected = BROKEN[how]
    given, said = judge(lane, new=implementation(tmp_path / "broken", code, "4"))
    assert given == expected
    assert "verified" not in said


def test_one_case_that_breaks_keeps_no_other_from_being_judged_and_decides(
    judge: Callable[..., tuple[int, str]], good: dict[str, bytes], tmp_path: Path
) -> None:
    document = json.loads(good["lane.json"])
    second = factories.fixture(case_id="another")
    entry = json.loads(json.dumps(document["entries"][0]).replace("RC-1", "RC-2"))
    entry |= {"files": [vars(listed("RC-2.json", second))], "controls": [], "case_id": "another"}
    document["entries"].insert(0, entry)
    lane = lay({**good, "RC-2.json": second, "lane.json": signed(document)}, tmp_path / "lane")
    code, said = judge(lane)
    assert code == 10
    assert "RC-2: its fixture_hash is not the one that the index lists" in said
    assert "verified_red_to_green" in said


# --- results of this run, or none -----------------------------------------------------------------------------------


@pytest.mark.parametrize("refused", [("--isolation", "nothing"), ("--controls", "/"), ("--old", "/nowhere")])
def test_a_suite_that_is_refused_leaves_no_results_of_an_earlier_one(
    judge: Callable[..., tuple[int, str]], command: Command, lane: Path, tmp_path: Path, refused: tuple[str, ...]
) -> None:
    """Or what runs next would push a green of another version for it."""
    assert judge(lane)[0] == 0
    assert (tmp_path / "results.json").exists()
    assert judge(lane, *refused)[0] in (2, 60)
    assert not (tmp_path / "results.json").exists()
    code, _, err = command("push-results", tmp_path / "results.json", "--server", "http://localhost:1")
    assert code == 2
    assert "cannot be read" in err


def test_earlier_results_behind_a_link_go_too(
    judge: Callable[..., tuple[int, str]], lane: Path, tmp_path: Path
) -> None:
    (tmp_path / "kept.json").write_text("{}")
    (tmp_path / "results.json").symlink_to("kept.json")
    assert judge(lane, "--isolation", "nothing")[0] == 60
    assert not (tmp_path / "kept.json").exists()


@pytest.mark.parametrize(
    "words", ["suite {0} --new {1} -o {1}", "replay {0}/RC-1.json --implementation {1} -o {0}/RC-1.json"]
)
def test_what_a_command_reads_is_not_written_over(command: Command, lane: Path, fixed: Path, words: str) -> None:
    before = fixed.read_bytes(), (lane / "RC-1.json").read_bytes()
    code, _, err = command(*words.format(lane, fixed).split())
    assert code == 2
    assert "is read by this command" in err
    assert (fixed.read_bytes(), (lane / "RC-1.json").read_bytes()) == before


@pytest.mark.parametrize("words", [(), ("--old-manifests", "kept")])
def test_manifests_are_not_written_over_what_is_read(
    command: Command, good: dict[str, bytes], lane: Path, fixed: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """They are called as the cases are, and as the old side's manifests."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "RC-1.json").write_bytes(good[OLD])
    read = tmp_path / "kept" if words else lane
    before = (read / "RC-1.json").read_bytes()
    given = [tmp_path / word if word == "kept" else word for word in words]
    code, _, err = command("suite", lane, "--new", fixed, "--manifests", read, *given)
    assert (code, (read / "RC-1.json").read_bytes()) == (2, before)
    assert "is read by this command" in err


# A workflow with a child that can be seen from outside by its name.
SLEEPER = """
import os, sys, time

def replay(session):
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", "a child of the workflow"])
    time.sleep(600)
"""


def started_by(process: int) -> dict[int, bytes]:
    """The processes below this one that are there now, with what they were called as. One in a namespace of its own is
    below it all the same."""
    parents, called = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            called[int(place.name)] = (place / "cmdline").read_bytes()
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
    below = {process}
    while more := {child for child, parent in parents.items() if parent in below} - below:
        below |= more
    return {child: called[child] for child in below - {process}}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_suite_that_is_stopped_leaves_no_process_no_folder_and_no_results(
    lane: Path, tmp_path: Path, open_to_all: Path, number: signal.Signals
) -> None:
    new = implementation(tmp_path / "slow", SLEEPER, "5")
    results, junit = tmp_path / "results.json", tmp_path / "lane.xml"
    results.write_text("an earlier one")
    words = [*COMMAND, "suite", str(lane), "--new", str(new), "-o", str(results), "--junit", str(junit)]
    environment = os.environ | {"TMPDIR": str(open_to_all)}
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        while b"a child of the workflow" not in b" ".join((started := started_by(running.pid)).values()):
            assert running.poll() is None
        running.send_signal(number)
        out, err = running.communicate(timeout=30)
    assert os.listdir(open_to_all) == []
    assert (running.returncode, out, err) == (128 + number, b"", b"stopped\n")
    assert (results.exists(), junit.exists()) == (False, False)
    assert not [name for process, name in started.items() if Path("/proc", str(process)).exists()]
