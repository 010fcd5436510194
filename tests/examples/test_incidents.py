"""The worked incidents, replayed against both versions of the support agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from replaycases.replay.implementation import Implementation
from replaycases.verdict.comparison import Comparison
from replaycases.verdict.labels import Label
from tests.examples.pairs import (
    EXAMPLES,
    control_paths,
    control_result,
    implementations,
    read_fixture,
    require_isolation,
    verdict,
    verified,
)

INCIDENTS = EXAMPLES / "incidents"
CASES = sorted(path for path in INCIDENTS.glob("*.json") if not path.name.endswith((".detect.json", "suite.json")))
CONTROLS = [control for case in CASES for control in control_paths(case)]
REFUND, SHIPMENT, RECOVERY = "refund-timeout", "shipment-created-twice", "recovery-handoff-clock-change"


@pytest.fixture(scope="module")
def versions() -> tuple[Implementation, Implementation]:
    require_isolation()
    return implementations(EXAMPLES / "support-agent")


def judged(case: Path, versions: tuple[Implementation, Implementation]) -> Comparison:
    affected, fixed = versions
    results = tuple(control_result(path, fixed) for path in control_paths(case))
    return verdict(read_fixture(case), affected, fixed, controls=results)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_every_incident_is_verified_red_to_green_with_its_controls(
    case: Path, versions: tuple[Implementation, Implementation]
) -> None:
    comparison = judged(case, versions)
    assert (comparison.label, comparison.controls) == (Label.VERIFIED_RED_TO_GREEN, "passed"), comparison.reason


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_the_affected_version_against_itself_is_never_green(
    case: Path, versions: tuple[Implementation, Implementation]
) -> None:
    affected, _ = versions
    fixture = read_fixture(case)
    assert verdict(fixture, affected, affected).label is Label.NOT_COMPARABLE


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_with_the_sides_swapped_the_incident_is_not_reproduced(
    case: Path, versions: tuple[Implementation, Implementation]
) -> None:
    affected, fixed = versions
    assert verdict(read_fixture(case), fixed, affected).label is Label.NOT_REPRODUCED


@pytest.mark.parametrize("path", CONTROLS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_control_holds_and_a_check_of_it_is_violated_when_mutated(
    path: Path, versions: tuple[Implementation, Implementation]
) -> None:
    result = control_result(path, versions[1])
    assert (result.passed, result.reason) == (True, "held, and seen to fail when mutated")


def test_the_fixture_of_an_incident_is_named_after_its_case() -> None:
    assert {REFUND, SHIPMENT, RECOVERY} <= {path.stem for path in CASES}
    assert all(read_fixture(path).case_id == path.stem for path in CASES)


def test_nothing_is_remarked_on_but_what_the_minimal_shape_leaves_out() -> None:
    remarks = {(path.stem, finding.id) for path in [*CASES, *CONTROLS] for finding in read_fixture(path).warnings}
    assert remarks == {("email-change-timeout", "expected.no-positive-check")}


def test_the_key_that_the_retry_lost_stays_absent_in_the_recording() -> None:
    first, retry = (e for e in read_fixture(INCIDENTS / f"{SHIPMENT}.json").events if e.tool == "shipments.create")
    assert "idempotency_key" not in retry.arguments
    assert retry.alternatives[0].arguments["idempotency_key"] == first.arguments["idempotency_key"]


def test_only_the_fixed_retry_uses_the_authored_answer(versions: tuple[Implementation, Implementation]) -> None:
    fixture = read_fixture(INCIDENTS / f"{SHIPMENT}.json")
    old, new = (verified(fixture, version)[0].manifest for version in versions)
    assert (len(old["authored_used"]), len(new["authored_used"])) == (0, 1)
    counted = [manifest["action_counts"]["create_shipment"] for manifest in (old, new)]
    assert counted == [{"min": 2, "max": 2}, {"min": 1, "max": 1}]


def test_the_recovery_case_names_the_policy_that_it_was_decided_by(
    versions: tuple[Implementation, Implementation],
) -> None:
    fixture = read_fixture(INCIDENTS / f"{RECOVERY}.json")
    outcome = verified(fixture, versions[1])[0].manifest["raw_outcome"]
    assert [policy["sha256"] for policy in outcome["policies_used"]] == [fixture.policies[0]["sha256"]]
    assert (fixture.locale, fixture.time_zone) == ("de-AT", "Europe/Vienna")


def test_the_controls_around_the_clock_change_stand_one_second_before_and_after_it() -> None:
    instants = [read_fixture(INCIDENTS / "controls" / RECOVERY / f"{name}.json").frozen_at
                for name in ("just-before", "just-after")]  # fmt: skip
    assert instants == ["2025-03-30T01:59:59+01:00", "2025-03-30T03:00:01+02:00"]
