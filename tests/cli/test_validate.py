from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import INCIDENTS, Command

REFUND = INCIDENTS / "refund-timeout.json"


def changed(tmp_path: Path, **fields: object) -> Path:
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(json.loads(REFUND.read_text()) | fields))
    return path


def test_a_healthy_line_names_case_and_hash_and_claims_nothing_about_the_incident(command: Command) -> None:
    code, out, _ = command("validate", REFUND)
    assert code == 0
    assert "case refund-timeout sha256:" in out
    assert "schema 2.0 valid; nothing is said about the incident" in out


def test_a_broken_fixture_exits_10_and_names_the_field(command: Command, tmp_path: Path) -> None:
    code, out, _ = command("validate", changed(tmp_path, frozen_at="2026-01-01T00:00:00"))
    assert code == 10
    assert "/frozen_at" in out


def test_one_broken_fixture_among_healthy_ones_decides_the_exit_code(command: Command, tmp_path: Path) -> None:
    code, out, _ = command("validate", REFUND, changed(tmp_path, surprise=1))
    assert code == 10
    assert "schema 2.0 valid" in out
    assert "/surprise" in out


@pytest.mark.parametrize(
    ("data", "finding"),
    [
        (b'{"case_id": "x"', "json."),
        (b"\xef\xbb\xbf{}", "json."),
        (b'{"a": "\xff"}', "json."),
        (b'{"a": 1, "a": 2}', "json."),
        (b'{"a": NaN}', "json."),
        (b'{"a": 1e999}', "json."),
        (b'{"a": 9007199254740993}', "json."),
        (b"[" * 100_000, "json."),
        (b'{"a": "' + b"x" * (60 * 1024 * 1024) + b'"}', "json."),
    ],
    ids=["truncated", "bom", "not-utf-8", "duplicate-key", "nan", "1e999", "2^53+1", "depth", "60-MB"],
)
def test_bytes_that_are_no_strict_json_exit_10_with_a_finding(
    command: Command, tmp_path: Path, data: bytes, finding: str
) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    code, out, err = command("validate", path)
    assert code == 10
    assert f"[{finding}" in out
    assert "Traceback" not in out + err


def test_a_missing_file_is_a_usage_error(command: Command, tmp_path: Path) -> None:
    code, out, _ = command("validate", tmp_path / "nothing.json")
    assert code == 2
    assert "cannot be read" in out


def test_an_empty_folder_is_not_a_pass(command: Command, tmp_path: Path) -> None:
    code, _, err = command("validate", tmp_path)
    assert code == 2
    assert "holds no fixture" in err


def test_json_carries_whole_hashes_and_findings(command: Command, tmp_path: Path) -> None:
    _, out, _ = command("validate", REFUND, changed(tmp_path, surprise=1), "--json")
    healthy, broken = json.loads(out)
    assert healthy["valid"] is True
    assert len(healthy["fixture_hash"]) == len("sha256:") + 64
    assert broken["valid"] is False
    assert broken["findings"][0]["pointer"] == "/surprise"


def test_findings_never_print_a_value_of_the_fixture(command: Command, tmp_path: Path) -> None:
    _, out, err = command("validate", changed(tmp_path, frozen_at="canary-7f3a"))
    assert "canary-7f3a" not in out + err


def test_junit_counts_the_failures(command: Command, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    command("validate", REFUND, changed(tmp_path, surprise=1), "--junit", report)
    suite = ElementTree.parse(report).getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("validation", "2", "1")
