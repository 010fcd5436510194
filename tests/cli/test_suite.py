from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import AFFECTED, FIXED, INCIDENTS, Command

BOTH = ("--old", AFFECTED, "--new", FIXED)


def test_a_fix_with_its_controls_is_verified(command: Command, folder: Path) -> None:
    code, out, _ = command("suite", folder, *BOTH)
    assert code == 0
    assert "verified_red_to_green" in out
    assert "controls passed" in out


def test_a_suite_without_an_old_side_is_a_baseline_only(command: Command, folder: Path) -> None:
    code, out, _ = command("suite", folder, "--new", FIXED)
    assert code == 40
    assert "baseline_only" in out


def test_old_manifests_stand_in_for_an_old_version_that_is_gone(command: Command, folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    command("replay", folder / "refund-timeout.json", "--implementation", AFFECTED, "-o", kept / "refund-timeout.json")
    code, out, _ = command("suite", folder, "--new", FIXED, "--old-manifests", kept)
    assert code == 0
    assert "verified_red_to_green" in out


def test_an_unfixed_version_is_not_comparable_with_itself(command: Command, folder: Path) -> None:
    code, _, _ = command("suite", folder, "--old", AFFECTED, "--new", AFFECTED)
    assert code == 40


def test_a_control_whose_mutation_is_not_seen_fails_the_case(command: Command, folder: Path) -> None:
    control = folder / "controls" / "refund-timeout"
    fixture = json.loads((control / "confirmed.json").read_text())
    index = next(i for i, event in enumerate(fixture["events"]) if event["boundary"] == "tool")
    harmless = [{"op": "add", "path": f"/events/{index}/outcome/value/remark", "value": "harmless"}]
    (control / "confirmed.mutation.json").write_text(json.dumps(harmless))
    code, out, _ = command("suite", folder, *BOTH)
    assert code == 30
    assert "control_failed" in out


def test_a_mutation_of_the_expectation_is_refused_and_fails_the_case(command: Command, folder: Path) -> None:
    mutation = folder / "controls" / "refund-timeout" / "confirmed.mutation.json"
    mutation.write_text(json.dumps([{"op": "remove", "path": "/expected/status"}]))
    code, out, _ = command("suite", folder, *BOTH)
    assert code == 30
    assert "is no recorded answer" in out


def test_a_broken_control_fails_the_case(command: Command, folder: Path) -> None:
    (folder / "controls" / "refund-timeout" / "confirmed.json").write_text("{}")
    code, _, _ = command("suite", folder, *BOTH)
    assert code == 30


def test_two_files_with_one_case_id_fail(command: Command, folder: Path) -> None:
    shutil.copy(folder / "refund-timeout.json", folder / "copy.json")
    code, out, _ = command("suite", folder, *BOTH)
    assert code == 10
    assert "stands in several files" in out


def test_a_case_that_suite_json_names_and_no_file_holds_fails(command: Command, folder: Path) -> None:
    expected = {"refund-timeout": "verified_red_to_green", "gone": "verified_red_to_green"}
    (folder / "suite.json").write_text(json.dumps(expected))
    code, out, _ = command("suite", folder, *BOTH)
    assert code == 10
    assert "gone: is named in suite.json" in out


def test_an_expected_label_exits_0(command: Command, folder: Path) -> None:
    (folder / "suite.json").write_text(json.dumps({"refund-timeout": "not_reproduced"}))
    code, out, _ = command("suite", folder, "--old", FIXED, "--new", AFFECTED)
    assert code == 0
    assert "not_reproduced" in out


def test_a_green_where_another_label_is_expected_fails(command: Command, folder: Path) -> None:
    (folder / "suite.json").write_text(json.dumps({"refund-timeout": "not_reproduced"}))
    code, _, _ = command("suite", folder, *BOTH)
    assert code == 50


def test_an_unknown_expected_label_is_a_usage_error(command: Command, folder: Path) -> None:
    (folder / "suite.json").write_text(json.dumps({"refund-timeout": "green"}))
    code, _, err = command("suite", folder, *BOTH)
    assert code == 2
    assert "verified_red_to_green" in err


def test_an_empty_folder_is_a_usage_error_and_no_pass(command: Command, tmp_path: Path) -> None:
    code, _, err = command("suite", tmp_path, *BOTH)
    assert code == 2
    assert "holds no fixture" in err


def test_one_invalid_fixture_fails_and_the_others_are_still_judged(command: Command, folder: Path) -> None:
    (folder / "broken.json").write_text("{}")
    code, out, _ = command("suite", folder, *BOTH)
    assert code == 10
    assert "verified_red_to_green" in out


def test_junit_puts_validation_and_regression_in_suites_of_their_own(
    command: Command, folder: Path, tmp_path: Path
) -> None:
    (folder / "broken.json").write_text("{}")
    report = tmp_path / "report.xml"
    command("suite", folder, *BOTH, "--junit", report)
    suites = {s.get("name"): s.get("failures") for s in ElementTree.parse(report).getroot()}
    assert suites == {"regression": "0", "validation": "1"}


def test_a_1_0_case_takes_the_rules_beside_it(command: Command, tmp_path: Path) -> None:
    for name in ("email-change-timeout.json", "email-change-timeout.detect.json"):
        shutil.copy(INCIDENTS / name, tmp_path)
    code, out, _ = command("suite", tmp_path, *BOTH, "--json")
    comparison = json.loads(out)["comparisons"][0]
    assert (code, comparison["label"], comparison["controls"]) == (0, "verified_red_to_green", "not run")


@pytest.mark.parametrize("option", ["--controls", "--old-manifests"])
def test_a_named_folder_that_is_not_there_is_a_usage_error_and_not_left_out(
    command: Command, folder: Path, tmp_path: Path, option: str
) -> None:
    code, _, err = command("suite", folder, *BOTH, option, tmp_path / "misspelt")
    assert code == 2
    assert "misspelt: there is no such folder" in err


def test_an_invalid_fixture_is_listed_among_the_comparisons(command: Command, folder: Path) -> None:
    (folder / "broken.json").write_text("{}")
    _, out, _ = command("suite", folder, *BOTH, "--json")
    labels = {comparison["case_id"]: comparison["label"] for comparison in json.loads(out)["comparisons"]}
    assert labels == {"broken.json": "fixture_invalid", "refund-timeout": "verified_red_to_green"}
