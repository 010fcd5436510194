"""Results from elsewhere: kept as what they are, for what was given out, and read by no gate."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

import replaycases
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import ci_results, lane_export
from replaycases.cases.ci_results import Reported, ReportedResult, ReportRefused
from replaycases.cases.gates import GatesClosed, gates_of
from replaycases.cases.models import AuditEvent, Case, CiReport, CiResult, Lane, LaneEntry, LaneName, LeftBy
from tests import factories

GREEN = "verified_red_to_green"


@pytest.fixture
def project(db: None) -> Project:
    return factories.project()


@pytest.fixture
def cases(project: Project, everyone: User) -> list[Case]:
    return [
        factories.case(project, everyone, factories.fixture(case_id=name, input={"order": name})) for name in ("a", "b")
    ]


@pytest.fixture
def reported(project: Project, everyone: User, cases: list[Case]) -> Reported:
    """A good report of a lane with two cases, as it was given out."""
    lane = Lane.objects.create(project=project, name=LaneName.BLOCKING)
    for case in cases:
        LaneEntry.objects.create(
            lane=lane, case=case, revision=factories.revision(case), entered_by=everyone, entered_at=timezone.now()
        )
    index = lane_export.take(everyone, lane=lane).index
    return Reported(
        lane_digest=index.digest,
        implementation={"name": "agent", "version": "3", "commit": "c", "digest": "sha256:" + "0" * 64},
        exit_code=0,
        build_url="https://ci.example/1",
        results=[
            ReportedResult(readable_id=entry.readable_id, fixture_hash=entry.fixture_hash, label=GREEN)
            for entry in index.entries
        ],
    )


def receive(actor: User, project: Project, reported: Reported) -> tuple[CiReport, bool]:
    return ci_results.receive(actor, project=project, lane=LaneName.BLOCKING, reported=reported)


def test_a_report_is_kept_with_a_result_a_case(
    project: Project, everyone: User, cases: list[Case], reported: Reported
) -> None:
    report, new = receive(everyone, project, reported)
    assert new
    assert set(report.results.values_list("revision", "label")) == {(case.current_revision_id, GREEN) for case in cases}
    assert (report.exit_code, report.lane_digest) == (0, reported.lane_digest)
    assert AuditEvent.objects.get(action="ci_report.received").object_hash == report.digest


def test_the_same_report_again_is_the_one_that_is_kept(project: Project, everyone: User, reported: Reported) -> None:
    first, _ = receive(everyone, project, reported)
    assert receive(everyone, project, reported) == (first, False)
    assert receive(everyone, project, replace(reported, build_url="https://ci.example/2"))[1]
    assert CiReport.objects.count() == 2


def test_a_case_without_a_result_is_kept_as_one_without_a_label(
    project: Project, everyone: User, cases: list[Case], reported: Reported
) -> None:
    partial = replace(reported, results=reported.results[:1], exit_code=10)
    receive(everyone, project, partial)
    missing = CiResult.objects.get(revision=cases[1].current_revision_id)
    assert (missing.label, missing.reason) == ("", "The report has no result for it.")


@pytest.mark.parametrize("labels", [[GREEN], [GREEN, "still_failing"], [GREEN, ""], [GREEN, "undetermined"]])
def test_exit_code_0_is_refused_where_the_labels_do_not_bear_it(
    project: Project, everyone: User, reported: Reported, labels: list[str]
) -> None:
    results = [replace(one, label=label) for one, label in zip(reported.results, labels, strict=False)]
    with pytest.raises(ReportRefused, match="RC-2 has none") as refused:
        receive(everyone, project, replace(reported, results=results))
    assert refused.value.pointer == "/exit_code"
    assert not CiReport.objects.exists()


def test_exit_code_0_is_refused_for_a_lane_without_cases(project: Project, everyone: User, reported: Reported) -> None:
    LaneEntry.objects.update(left_at=timezone.now(), left_by=LeftBy.DEMOTED)
    empty = replace(reported, lane_digest=lane_export.take(everyone, lane=Lane.objects.get()).index.digest, results=[])
    with pytest.raises(ReportRefused, match="holds no case") as refused:
        receive(everyone, project, empty)
    assert refused.value.pointer == "/exit_code"
    assert not CiReport.objects.exists()
    assert receive(everyone, project, replace(empty, exit_code=2))[1]


def test_no_number_of_green_reports_opens_what_one_set_of_our_own_runs_opens(project: Project) -> None:
    team = factories.people(project)
    case = factories.nonblocking(team)
    lane = Lane.objects.get(name=LaneName.NONBLOCKING)
    before = gates_of(case, "blocking", actor=team.qa)
    entry = lane_export.take(team.engineer, lane=lane).index
    green = [
        ReportedResult(readable_id=one.readable_id, fixture_hash=one.fixture_hash, label=GREEN) for one in entry.entries
    ]
    side = case.provenance.fixed
    for build in range(lane.minimum_history):
        ci_results.receive(
            team.engineer,
            project=project,
            lane=LaneName.NONBLOCKING,
            reported=Reported(
                lane_digest=entry.digest,
                implementation={"name": side.name, "version": side.version, "commit": "", "digest": side.digest},
                exit_code=0,
                build_url=f"https://ci.example/{build}",
                results=green,
            ),
        )
    assert CiResult.objects.filter(label=GREEN).count() == lane.minimum_history
    assert gates_of(factories.fresh(case), "blocking", actor=team.qa) == before
    with pytest.raises(GatesClosed):
        factories.promoted(team, case, LaneName.BLOCKING)
    factories.with_history(team, case)
    factories.promoted(team, case, LaneName.BLOCKING)


def test_a_lane_digest_that_was_never_given_out_is_refused(
    project: Project, everyone: User, reported: Reported
) -> None:
    with pytest.raises(ReportRefused, match="never given out"):
        receive(everyone, project, replace(reported, lane_digest="sha256:" + "1" * 64))


def test_the_digest_of_another_projects_lane_is_refused(everyone: User, reported: Reported) -> None:
    other = factories.project("XX")
    somebody = factories.everyone(other)
    Lane.objects.create(project=other, name=LaneName.BLOCKING)
    with pytest.raises(ReportRefused, match="never given out"):
        receive(somebody, other, reported)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"readable_id": "RC-9"}, "RC-9 did not stand in the lane"),
        ({"readable_id": "RC-2"}, "RC-2 has more than one result"),
        ({"fixture_hash": "sha256:" + "2" * 64}, "RC-1 was run on another fixture"),
    ],
)
def test_a_result_for_what_was_not_given_out_is_refused_by_name(
    project: Project, everyone: User, reported: Reported, changes: dict[str, str], said: str
) -> None:
    first, second = reported.results
    with pytest.raises(ReportRefused, match=said):
        receive(everyone, project, replace(reported, results=[replace(first, **changes), second]))
    assert not CiReport.objects.exists()


def test_a_report_is_taken_from_who_may_ask_for_replays(project: Project, reported: Reported) -> None:
    with pytest.raises(PermissionDenied):
        receive(factories.person(project, Role.VIEWER, Role.ADMINISTRATOR), project, reported)
    assert receive(factories.person(project, Role.WORKFLOW_ENGINEER), project, reported)[1]


def test_no_gate_and_nothing_that_moves_a_case_knows_results_from_elsewhere() -> None:
    package = Path(replaycases.__file__).parent
    knowing = set()
    for path in package.rglob("*.py"):
        if "migrations" in path.parts:
            continue
        tree = ast.parse(path.read_text())
        words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        words |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        words |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        strings = {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        if words & {"CiReport", "CiResult", "ci_results", "ci_reports"} or any(
            text.startswith(("ci_results", "ci_reports")) for text in strings
        ):
            knowing.add(str(path.relative_to(package)))
    cases = {name for name in knowing if name.startswith("cases/")}
    assert cases <= {
        "cases/ci_results.py",
        "cases/models/__init__.py",
        "cases/models/ci_result.py",
        "cases/immutability.py",
        "cases/read_only_admin.py",
        "cases/admin.py",
    }
    assert "cases/ci_results.py" in cases
