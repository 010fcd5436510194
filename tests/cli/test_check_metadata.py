"""Provenance and expiry of a folder of cases, and of a pulled lane."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from replaycases.fixture.load import load_fixture
from tests import factories
from tests.cli.conftest import Command, implementation
from tests.cli.lying import lane_files, listed, signed

LONG_AGO, FAR_OFF = "2020-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"
IGNORES = json.loads(factories.fixture())["events"][0] | {
    "arguments": {"order": "o-1", "trace": "t"},
    "match": {"ignore": ["/trace"]},
}
RULE = {"seq": 1, "pointer": "/trace", "owner": "payments"}
UNDER = {"policy": {"name": "RC", "version": "2", "digest": "sha256:" + "1" * 64}, "detectors": "1", "waivers": 0}
Write = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cases").mkdir()
    return tmp_path / "cases"


@pytest.fixture
def write(folder: Path) -> Write:
    """A case with metadata that is well, but for what is said; a part that is None is left out."""

    def written(fixture: bytes | None = None, **changes: Any) -> Path:
        data = factories.fixture() if fixture is None else fixture
        loaded = load_fixture(data)
        metadata = {
            "metadata_version": "1",
            "owner": "payments team",
            "classification": "redacted",
            "redaction": {"by": "ida", "at": LONG_AGO, "content_hash": loaded.content_hash, **UNDER},
            "expectation": {"by": "otto", "at": LONG_AGO, "fixture_hash": loaded.fixture_hash},
            **changes,
        }
        (folder / "case.json").write_bytes(data)
        kept = {name: value for name, value in metadata.items() if value is not None}
        (folder / "case.metadata.json").write_text(json.dumps(kept))
        return folder

    return written


def git(folder: Path, *arguments: str, at: str = LONG_AGO) -> str:
    env = {"GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at, "GIT_CONFIG_GLOBAL": os.devnull, "PATH": os.environ["PATH"]}
    names = ["-c", "user.name=n", "-c", "user.email=e@example.invalid"]
    return subprocess.run(
        ["git", *names, *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def parsers(tmp_path: Path) -> Path:
    """An implementation in a repository whose parser was last changed in 2021, in its second commit of three."""
    spec = implementation(tmp_path / "agent", factories.OLD_CODE, "1")
    spec.write_text(json.dumps(json.loads(spec.read_text()) | {"parsers": ["parse.py"]}))
    at = tmp_path / "agent"
    git(at, "init", "-q")
    for year in (2020, 2021, 2022):
        if year < 2022:
            (at / "src" / "parse.py").write_text(f"year = {year}\n")
        (at / "src" / "other.py").write_text(f"year = {year}\n")
        git(at, "add", ".")
        git(at, "commit", "-q", "-m", str(year), at=f"{year}-06-01T00:00:00+00:00")
    return spec


def commit_of(spec: Path, back: int) -> str:
    return git(spec.parent, "rev-parse", f"HEAD~{back}")


def recorded(commit: str | None) -> bytes:
    return factories.fixture(recorded_by={"commit": commit})


# --- a folder -------------------------------------------------------------------------------------------------------


def test_a_case_with_owner_and_approvals_is_well_and_nothing_is_claimed(command: Command, write: Write) -> None:
    code, out, _ = command("check-metadata", write())
    assert code == 0
    assert "refund-claimed sha256:" in out
    assert "nothing is due; nothing is said about the incident" in out


def test_a_case_without_metadata_exits_11(command: Command, write: Write) -> None:
    folder = write()
    (folder / "case.metadata.json").unlink()
    code, out, _ = command("check-metadata", folder)
    assert (code, "no case.metadata.json beside it" in out) == (11, True)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"expectation": {"by": "o", "at": LONG_AGO, "fixture_hash": "sha256:" + "0" * 64}},
            "approved for other bytes",
        ),
        (
            {"redaction": {"by": "i", "at": LONG_AGO, "content_hash": "sha256:" + "0" * 64, **UNDER}},
            "approved for other content",
        ),
        (
            {"redaction": {"by": "i", "at": LONG_AGO, "content_hash": "sha256:" + "0" * 64}},
            "does not name its policy and detectors",
        ),
        ({"redaction": None}, "nobody approved that"),
        ({"classification": "quarantined"}, "raw evidence without an end"),
        ({"classification": "quarantined", "evidence_expires_at": LONG_AGO}, "raw evidence is over"),
        ({"review_due_at": LONG_AGO}, "re-review is due"),
        ({"owner": None}, "'required' at /"),
        ({"owner": ""}, "'minLength' at /owner"),
        ({"team": "x"}, "'additionalProperties' at /"),
        ({"review_due_at": "2026-01-01"}, "/review_due_at is no ISO 8601 time"),
        ({"expectation": {"by": "o", "at": "x", "fixture_hash": "sha256:" + "0" * 64}}, "/expectation/at is no ISO"),
        ({"ignore_rules": [RULE]}, "names a rule that the fixture does not have"),
    ],
)
def test_each_fault_exits_11_and_says_what_to_do(
    changes: dict[str, Any], says: str, command: Command, write: Write
) -> None:
    code, out, _ = command("check-metadata", write(**changes))
    assert code == 11
    assert says in out


@pytest.mark.parametrize(
    ("rules", "code", "says"),
    [
        ([], 11, "has no owner"),
        ([RULE | {"expires_at": LONG_AGO}], 11, "has ended"),
        ([RULE | {"expires_at": FAR_OFF}], 0, "nothing is due"),
        ([RULE], 0, "nothing is due"),
    ],
)
def test_an_ignore_rule_has_an_owner_and_may_have_an_end(
    rules: list[Any], code: int, says: str, command: Command, write: Write
) -> None:
    found, out, _ = command("check-metadata", write(factories.fixture(events=[IGNORES]), ignore_rules=rules))
    assert (found, says in out) == (code, True)


def test_raw_evidence_within_its_time_is_well(command: Command, write: Write) -> None:
    assert command("check-metadata", write(classification="quarantined", evidence_expires_at=FAR_OFF))[0] == 0


def old_schema() -> bytes:
    document = json.loads(factories.fixture())
    event = {"attempt": "a", "tool": "t", "arguments": {}, "outcome": {"type": "result", "value": 1}}
    document |= {"schema_version": "1.0", "tool_events": [event], "expected": {"prohibited_claims": ["It is done."]}}
    del document["events"]
    return json.dumps(document).encode()


def test_an_older_schema_is_said_loudly_and_fails_until_somebody_keeps_it(command: Command, write: Write) -> None:
    code, out, _ = command("check-metadata", write(old_schema()))
    assert (code, "OLDER SCHEMA: recorded in 1.0, the current one is 2.0" in out) == (11, True)
    kept = {"what": "schema", "by": "ida", "at": LONG_AGO, "reason": "The adapter reads it."}
    code, out, _ = command("check-metadata", write(old_schema(), kept=[kept]))
    assert (code, "listed: OLDER SCHEMA" in out) == (0, True)


def test_an_invalid_fixture_exits_10_before_anything_else(command: Command, write: Write) -> None:
    folder = write(review_due_at=LONG_AGO)
    (folder / "another.json").write_text("{}")
    code, out, _ = command("check-metadata", folder)
    assert code == 10
    assert "re-review is due" in out


def test_controls_are_left_to_their_case_and_metadata_is_no_fixture(command: Command, write: Write) -> None:
    folder = write()
    (folder / "controls" / "case").mkdir(parents=True)
    (folder / "controls" / "case" / "ok.json").write_bytes(factories.fixture(case_id="control"))
    assert command("check-metadata", folder)[0] == 0
    assert command("validate", folder)[0] == 0


def test_json_and_junit_say_the_same(command: Command, write: Write, tmp_path: Path) -> None:
    code, out, _ = command("check-metadata", write(review_due_at=LONG_AGO), "--json", "--junit", tmp_path / "j.xml")
    document = json.loads(out)
    assert document["exit_code"] == code == 11
    assert [problem["kind"] for problem in document["cases"][0]["problems"]] == ["expiry"]
    suites = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert [(suite.get("name"), suite.get("failures")) for suite in suites] == [("expiry", "1")]


def test_a_folder_without_cases_is_refused(command: Command, folder: Path) -> None:
    assert command("check-metadata", folder)[0] == 2


# --- recordings and parsers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("back", "code"), [(2, 11), (1, 0), (0, 0)])
def test_a_recording_older_than_the_last_change_of_a_parser_is_flagged(
    back: int, code: int, command: Command, write: Write, parsers: Path
) -> None:
    folder = write(recorded(commit_of(parsers, back)))
    found, out, _ = command("check-metadata", folder, "--implementation", parsers)
    assert found == code
    assert ("OLDER RECORDING: parse.py of agent changed after" in out) is bool(code)
    assert (folder / "case.json").exists()


@pytest.mark.parametrize(
    ("commit", "says"),
    [
        (None, "does not say which commit recorded it"),
        ("f" * 40, "does not have the commit"),
        ("--all", "does not have the commit"),
        ("HEAD", "does not have the commit"),
    ],
)
def test_a_recording_whose_age_nobody_can_tell_is_flagged(
    commit: str | None, says: str, command: Command, write: Write, parsers: Path
) -> None:
    code, out, _ = command("check-metadata", write(recorded(commit)), "--implementation", parsers)
    assert (code, says in out) == (11, True)


@pytest.mark.parametrize(("at", "code"), [("2021-07-01T00:00:00+00:00", 0), ("2021-05-01T00:00:00+00:00", 11)])
def test_a_decision_to_keep_it_holds_until_the_next_change(
    at: str, code: int, command: Command, write: Write, parsers: Path
) -> None:
    kept = {"what": "recording", "by": "ida", "at": at, "reason": "The change is a comment."}
    folder = write(recorded(commit_of(parsers, 2)), kept=[kept])
    assert command("check-metadata", folder, "--implementation", parsers)[0] == code


def test_a_parser_with_changes_that_no_commit_has_makes_every_recording_old(
    command: Command, write: Write, parsers: Path
) -> None:
    kept = {"what": "recording", "by": "ida", "at": FAR_OFF, "reason": "The change is a comment."}
    folder = write(recorded(commit_of(parsers, 0)), kept=[kept])
    (parsers.parent / "src" / "parse.py").write_text("year = 0\n")
    code, out, _ = command("check-metadata", folder, "--implementation", parsers)
    assert (code, "has changes in parse.py that no commit has" in out) == (11, True)


def test_without_declared_parsers_no_history_is_needed(command: Command, write: Write, tmp_path: Path) -> None:
    spec = implementation(tmp_path / "plain", factories.OLD_CODE, "1")
    code, _, err = command("check-metadata", write(), "--implementation", spec)
    assert (code, "none of them declares `parsers`" in err) == (2, True)


def test_a_history_that_is_cut_off_is_refused(command: Command, write: Write, parsers: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{parsers.parent}", "shallow")
    code, _, err = command("check-metadata", write(), "--implementation", tmp_path / "shallow" / "implementation.json")
    assert (code, "Fetch the history" in err) == (2, True)


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside", "missing.py", "", 7])
def test_a_parser_outside_the_folder_is_refused(path: Any, command: Command, write: Write, parsers: Path) -> None:
    parsers.write_text(json.dumps(json.loads(parsers.read_text()) | {"parsers": [path]}))
    code, _, err = command("check-metadata", write(), "--implementation", parsers)
    assert (code, "/parsers/0" in err) == (2, True)


# --- a pulled lane --------------------------------------------------------------------------------------------------


def laid(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_a_pulled_lane_needs_no_metadata_beside_its_files(command: Command, folder: Path) -> None:
    code, out, _ = command("check-metadata", laid(folder, lane_files(b"{}")))
    assert (code, "nothing is due" in out) == (0, True)


def test_a_file_that_was_altered_since_it_was_pulled_exits_11(command: Command, folder: Path) -> None:
    laid(folder, lane_files(b"{}"))
    (folder / "RC-1.json").write_bytes(factories.fixture(input={"order": "o-2"}))
    code, out, _ = command("check-metadata", folder)
    assert (code, "was altered" in out) == (11, True)


def test_a_file_that_the_lane_does_not_list_exits_11(command: Command, folder: Path) -> None:
    laid(folder, lane_files(b"{}"))
    (folder / "more.json").write_bytes(factories.fixture(case_id="more"))
    assert command("check-metadata", folder)[0] == 11


def test_a_case_that_is_flagged_on_the_server_is_listed(command: Command, folder: Path) -> None:
    files = lane_files(b"{}")
    document = json.loads(files["lane.json"])
    document["entries"][0]["flagged"] = True
    code, out, _ = command("check-metadata", laid(folder, {**files, "lane.json": signed(document)}))
    assert (code, "listed: flagged on the server" in out) == (0, True)


@pytest.mark.parametrize(
    ("said", "code", "says"),
    [
        (None, 11, "names no approval of its redaction"),
        ({"content_hash": "sha256:" + "0" * 64}, 11, "the redaction was approved for other content"),
        ({"stands": False}, 0, "listed: the approval of its redaction is void on the server"),
    ],
)
def test_the_approval_that_a_lane_names_is_held_against_the_content(
    said: dict[str, Any] | None, code: int, says: str, command: Command, folder: Path
) -> None:
    files = lane_files(b"{}")
    document = json.loads(files["lane.json"])
    given = document["entries"][0].pop("redaction")
    if said is not None:
        document["entries"][0]["redaction"] = given | said
    found, out, _ = command("check-metadata", laid(folder, {**files, "lane.json": signed(document)}))
    assert (found, says in out) == (code, True)


@pytest.mark.parametrize(("flagged", "code"), [(True, 11), (False, 0)])
def test_an_older_schema_in_a_lane_fails_while_the_server_asks_about_it(
    flagged: bool, code: int, command: Command, folder: Path
) -> None:
    files = lane_files(b"{}") | {"RC-1.json": old_schema()}
    document, loaded = json.loads(files["lane.json"]), load_fixture(old_schema())
    entry = document["entries"][0]
    entry |= {name: getattr(loaded, name) for name in ("case_id", "fixture_hash", "content_hash", "checks_hash")}
    entry["redaction"]["content_hash"] = loaded.content_hash
    entry["flagged"] = flagged
    others = [file for file in entry["files"] if file["path"] != "RC-1.json"]
    entry["files"] = [vars(listed("RC-1.json", old_schema())), *others]
    found, out, _ = command("check-metadata", laid(folder, {**files, "lane.json": signed(document)}))
    assert (found, "OLDER SCHEMA" in out) == (code, True)


def test_the_age_of_a_pulled_recording_is_asked_too(command: Command, folder: Path, parsers: Path) -> None:
    code, out, _ = command("check-metadata", laid(folder, lane_files(b"{}")), "--implementation", parsers)
    assert (code, "does not say which commit recorded it" in out) == (11, True)
