from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import AFFECTED, FIXED, INCIDENTS, Command

REFUND = INCIDENTS / "refund-timeout.json"
Files = tuple[Path, Path]


def edited(path: Path, edit: object) -> Path:
    documents = json.loads(path.read_text())
    edit(documents)  # type: ignore[operator]
    path.write_text(json.dumps(documents))
    return path


def test_replay_exits_0_when_its_runs_completed_even_where_the_boundary_is_violated(command: Command) -> None:
    code, out, _ = command("replay", REFUND, "--implementation", AFFECTED)
    assert code == 0
    assert out.count("boundary violated, run completed") == 2


def test_a_replay_line_names_case_hash_version_and_boundary(command: Command) -> None:
    _, out, _ = command("replay", REFUND, "--implementation", FIXED, "--runs", "1")
    version = json.loads(FIXED.read_text())["version"]
    assert out.startswith("refund-timeout sha256:")
    assert f" {version}: boundary held" in out


@pytest.fixture
def unimportable(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "agent.py").write_text("import a_module_that_is_not_there\n")
    spec = tmp_path / "implementation.json"
    adapter = {"kind": "python", "target": "agent:replay"}
    spec.write_text(json.dumps({"name": "x", "version": "1", "commit": "c", "path": "code", "adapter": adapter}))
    return spec


def test_an_implementation_that_cannot_be_imported_exits_60_and_shows_its_traceback(
    command: Command, unimportable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    code, out, err = command("replay", REFUND, "--implementation", unimportable)
    assert code == 60
    assert "run adapter_error" in out
    assert "a_module_that_is_not_there" in err


def test_a_ci_log_never_holds_what_the_workflow_printed(
    command: Command, unimportable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    _, out, err = command("replay", REFUND, "--implementation", unimportable)
    assert "a_module_that_is_not_there" not in out + err
    assert "stands in the manifest" in err


def test_replay_of_an_invalid_fixture_exits_10_before_anything_runs(command: Command, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    code, out, _ = command("replay", bad, "--implementation", tmp_path / "never-read.json")
    assert code == 10
    assert out == ""


def test_replay_junit_has_a_test_case_for_each_run(command: Command, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    command("replay", REFUND, "--implementation", AFFECTED, "--junit", report)
    suite = ElementTree.parse(report).getroot()[0]
    assert [case.get("name") for case in suite] == ["refund-timeout run 0", "refund-timeout run 1"]
    assert (suite.get("name"), suite.get("failures")) == ("replay", "0")


def test_an_unknown_isolation_tier_exits_60_and_says_what_to_set(command: Command) -> None:
    code, _, err = command("replay", REFUND, "--implementation", FIXED, "--isolation", "wishful")
    assert code == 60
    assert "REPLAYCASES_ISOLATION" in err


def test_compare_of_red_and_green_is_verified_and_says_that_no_controls_ran(command: Command, manifests: Files) -> None:
    code, out, _ = command("compare", *manifests, "--fixture", REFUND)
    assert code == 0
    assert "verified_red_to_green" in out
    assert "controls not run" in out
    assert "first divergence" in out


def test_compare_the_wrong_way_round_is_not_reproduced(command: Command, manifests: Files) -> None:
    old, new = manifests
    code, out, _ = command("compare", new, old, "--fixture", REFUND)
    assert code == 20
    assert "not_reproduced" in out


def test_compare_of_a_version_with_itself_is_not_comparable(command: Command, manifests: Files) -> None:
    code, out, _ = command("compare", manifests[0], manifests[0], "--fixture", REFUND)
    assert code == 40
    assert "not_comparable" in out


def test_compare_against_another_fixture_is_not_comparable(command: Command, manifests: Files) -> None:
    code, out, _ = command("compare", *manifests, "--fixture", INCIDENTS / "shipment-created-twice.json")
    assert code == 40
    assert "fixture_hash" in out or "case_id" in out


def test_a_forged_boundary_is_not_believed(command: Command, manifests: Files) -> None:
    old, new = manifests
    forged = new.with_name("forged.json")
    forged.write_bytes(old.read_bytes())
    edited(forged, lambda runs: [run.update(boundary_passed=True) for run in runs])
    code, out, _ = command("compare", old, forged, "--fixture", REFUND)
    assert code == 40
    assert "boundary_passed" in out


def test_true_as_a_string_is_not_comparable(command: Command, manifests: Files) -> None:
    old, new = manifests
    edited(new, lambda runs: [run.update(boundary_passed="true") for run in runs])
    code, out, _ = command("compare", old, new, "--fixture", REFUND)
    assert code == 40
    assert "/boundary_passed" in out


def test_one_result_a_side_is_undetermined(command: Command, manifests: Files) -> None:
    old, new = manifests
    for path in manifests:
        edited(path, lambda runs: (runs.pop(), [run["run"]["set"].update(size=1) for run in runs]))
    code, out, _ = command("compare", old, new, "--fixture", REFUND)
    assert code == 50
    assert "undetermined" in out


def test_an_old_side_without_results_is_a_baseline_only(command: Command, manifests: Files) -> None:
    old, new = manifests
    edited(old, lambda runs: runs.clear())
    code, out, _ = command("compare", old, new, "--fixture", REFUND)
    assert code == 40
    assert "baseline_only" in out


def test_compare_json_says_green_only_for_the_verified_pair(command: Command, manifests: Files) -> None:
    old, new = manifests
    _, green, _ = command("compare", old, new, "--fixture", REFUND, "--json")
    _, other, _ = command("compare", new, old, "--fixture", REFUND, "--json")
    assert (json.loads(green)["green"], json.loads(other)["green"]) == (True, False)


def test_a_verified_pair_states_prompt_delta_authored_answers_and_skipped_events_even_where_there_are_none(
    command: Command, manifests: Files
) -> None:
    _, out, _ = command("compare", *manifests, "--fixture", REFUND)
    assert "prompt delta 0.000, authored answers used 0, optional events skipped 0" in out


def test_compare_with_an_invalid_fixture_still_writes_what_machines_read(
    command: Command, manifests: Files, tmp_path: Path
) -> None:
    bad, report = tmp_path / "bad.json", tmp_path / "report.xml"
    bad.write_text("{}")
    code, out, err = command("compare", *manifests, "--fixture", bad, "--json", "--junit", report)
    assert (code, json.loads(out)["label"]) == (10, "fixture_invalid")
    assert "schema.missing-field" in err
    assert [suite.get("name") for suite in ElementTree.parse(report).getroot()] == ["validation"]


@pytest.mark.parametrize("option", ["--junit", "-o"])
def test_a_report_that_cannot_be_written_is_a_usage_error(
    command: Command, manifests: Files, tmp_path: Path, option: str
) -> None:
    nowhere = tmp_path / "gone" / "report"
    if option == "-o":
        code, _, err = command("replay", REFUND, "--implementation", FIXED, "--runs", "1", "-o", nowhere)
    else:
        code, _, err = command("compare", *manifests, "--fixture", REFUND, "--junit", nowhere)
    assert code == 2
    assert f"{nowhere}: cannot be written" in err
