from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.accounts.models import Project, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import (
    counting,
    decisions,
    figures,
    flags,
    immutability,
    intake,
    lane_health,
    lifecycle,
    needed_cases,
    needs,
    recipients,
    redaction_rows,
)
from replaycases.cases.models import (
    Boundary,
    Case,
    CaseOwner,
    Comparison,
    DecisionKind,
    DecisionOutcome,
    DependencyStatement,
    FixtureRevision,
    FlagReason,
    Notification,
    NotificationKind,
    ProjectFigures,
    Proposal,
    ProposalKind,
    Stage,
    StatementEdit,
)
from replaycases.cases.needed_cases import Section
from tests import factories

pytestmark = pytest.mark.django_db
VERIFIED = "verified_red_to_green"


@pytest.fixture
def case(project: Project, responder: User) -> Case:
    return factories.case(project, responder)


def another(case: Case, **columns: Any) -> Case:
    made = factories.case(
        case.project, case.created_by, factories.fixture(case_id=f"case-{case.project.cases.count()}")
    )
    return now(made, **columns)


def now(case: Case, **columns: Any) -> Case:
    Case.objects.filter(pk=case.pk).update(**columns)
    case.refresh_from_db()
    return case


def ids(user: User, section: Section) -> list[str]:
    return [row.readable_id for row in needs.of(user).lists[section]]


def decide(case: Case, by: User, kind: DecisionKind, outcome: DecisionOutcome) -> None:
    seen = factories.revision(case)
    found = redaction_rows.newest(seen)
    decisions.record(by, revision=seen, kind=kind, outcome=outcome, note="So it is.", redaction=found)


def in_hours(hours: int) -> Any:
    return timezone.now() + timedelta(hours=hours)


# --- only what concerns the person ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "sections"),
    [
        (Role.VIEWER, set()),
        (Role.ADMINISTRATOR, set()),
        (Role.RESPONDER, {"returned", "drafts", "reproductions", "expiring"}),
        (Role.WORKFLOW_ENGINEER, {"returned", "reproductions"}),
        (Role.PRIVACY_REVIEWER, {"reviews", "waivers", "looks", "controls", "returned", "expiring"}),
        (Role.SECURITY_OWNER, {"uncontained", "waivers", "expiring"}),
        (Role.INCIDENT_OWNER, {"expectations", "flagged"}),
        (Role.DEPENDENCY_OWNER, {"dependencies"}),
        (Role.QA, {"reproductions", "ready", "flagged"}),
    ],
)
def test_a_person_sees_the_lists_of_their_roles(project: Project, role: Role, sections: set[str]) -> None:
    assert set(needs.of(factories.person(project, role)).lists) == sections


def test_another_project_is_not_looked_into(case: Case) -> None:
    now(case, stage=Stage.IN_REVIEW, flagged=True, evidence_expires_at=in_hours(1))
    stranger = factories.everyone(factories.project("XX"))
    found = needs.of(stranger)
    assert not any(found.lists.values())
    assert found.tallies == []


def test_a_superuser_sees_every_count_and_is_asked_nothing(case: Case) -> None:
    root = User.objects.create_superuser("root", "root@example.invalid")
    found = needs.of(root)
    assert (found.lists, found.proposals) == ({}, None)
    assert [(tally.stage, tally.cases) for tally in found.tallies] == [("quarantined", 1)]


# --- the lists ------------------------------------------------------------------------------------------------------


def test_reviews_come_soonest_end_first_and_those_without_an_end_last(case: Case, reviewer: User) -> None:
    now(case, stage=Stage.IN_REVIEW, evidence_expires_at=None)
    another(case, stage=Stage.IN_REVIEW, evidence_expires_at=in_hours(9))
    another(case, stage=Stage.IN_REVIEW, evidence_expires_at=in_hours(2))
    another(case)
    assert ids(reviewer, "reviews") == ["RC-3", "RC-2", "RC-1"]


def test_ones_own_work_is_listed_as_needing_another_reviewer_and_is_no_item_of_ones_own(
    project: Project, responder: User, reviewer: User
) -> None:
    now(factories.case(project, responder, on_behalf_of=reviewer), stage=Stage.IN_REVIEW)
    found = needs.of(reviewer)
    assert [row.own_work for row in found.lists["reviews"]] == [True]
    assert found.count == 0
    other = factories.person(project, Role.PRIVACY_REVIEWER)
    assert [row.own_work for row in needs.of(other).lists["reviews"]] == [False]


def test_a_returned_revision_waits_for_its_author_and_no_longer_for_the_reviewer(
    case: Case, responder: User, reviewer: User
) -> None:
    now(case, stage=Stage.IN_REVIEW)
    decide(case, reviewer, DecisionKind.REDACTION, DecisionOutcome.RETURNED)
    assert ids(reviewer, "reviews") == []
    assert [(row.readable_id, row.why) for row in needs.of(responder).lists["returned"]] == [("RC-1", "redaction")]
    decide(case, reviewer, DecisionKind.REDACTION, DecisionOutcome.APPROVED)
    assert ids(responder, "returned") == []


@pytest.mark.parametrize("kind", [DecisionKind.REDACTION, DecisionKind.EXPECTATION])
def test_what_was_returned_waits_for_its_author_until_the_next_revision(
    case: Case, responder: User, owner: User, kind: DecisionKind
) -> None:
    now(case, stage=Stage.IN_REVIEW)
    decide(case, owner, kind, DecisionOutcome.RETURNED)
    returned = [(row.readable_id, row.why) for row in needs.of(responder).lists["returned"]]
    assert returned == [("RC-1", kind)]
    assert (ids(owner, "expectations") == []) == (kind == DecisionKind.EXPECTATION)
    assert ids(factories.person(case.project, Role.RESPONDER), "returned") == []
    other = factories.person(case.project, Role.RESPONDER)
    intake.add_revision(responder, case=case, fixture=factories.fixture(input={"order": "o-2"}), on_behalf_of=other)
    assert ids(responder, "returned") == []
    assert ids(owner, "expectations") == ["RC-1"]
    decide(factories.fresh(case), owner, kind, DecisionOutcome.RETURNED)
    assert [ids(person, "returned") for person in (responder, other)] == [["RC-1"], ["RC-1"]]


def test_a_decision_of_an_older_revision_says_nothing_of_the_current_one(
    case: Case, responder: User, reviewer: User
) -> None:
    first = factories.revision(case)
    intake.add_revision(responder, case=case, fixture=factories.fixture(input={"order": "o-2"}))
    now(case, stage=Stage.IN_REVIEW)
    kept = {"kind": DecisionKind.REDACTION, "note": "So it is."}
    decisions.record(reviewer, revision=first, outcome=DecisionOutcome.RETURNED, **kept)
    assert (ids(responder, "returned"), ids(reviewer, "reviews")) == ([], ["RC-1"])


def test_a_draft_waits_for_who_captured_it_until_it_is_submitted(case: Case, responder: User) -> None:
    other = factories.person(case.project, Role.RESPONDER)
    assert (ids(responder, "drafts"), ids(other, "drafts")) == (["RC-1"], [])
    second = factories.fixture(case_id="second")
    factories.case(case.project, responder, second, on_behalf_of=other)
    assert ids(other, "drafts") == ["RC-2"]
    now(case, stage=Stage.IN_REVIEW)
    assert ids(responder, "drafts") == ["RC-2"]


def test_a_draft_says_what_it_waits_for(project: Project) -> None:
    of = factories.people(project)
    case = factories.case(project, of.responder)

    def step() -> str:
        return needs.of(of.responder).lists["drafts"][0].why

    assert step() == "confirmation"
    now(case, security_incident=True)
    assert step() == "containment"
    revision = case.current_revision
    now(case, current_revision=None)
    assert step() == "fixture"
    now(case, current_revision=revision, security_incident=False)
    factories.describe(of, case)
    factories.replayed(of, case)
    assert step() == "submission"
    Comparison.objects.update(old_red=None)
    assert step() == "red"
    Comparison.objects.update(computed_at=None, document=None, label="", old_red=None)
    assert step() == "running"


def test_an_expectation_waits_until_it_is_approved_and_again_once_that_is_void(case: Case, owner: User) -> None:
    assert ids(owner, "expectations") == []
    for stage in (Stage.IN_REVIEW, Stage.REDACTION_APPROVED, Stage.REPRODUCED):
        now(case, stage=stage)
        assert ids(owner, "expectations") == ["RC-1"]
    decide(case, owner, DecisionKind.EXPECTATION, DecisionOutcome.APPROVED)
    assert ids(owner, "expectations") == []
    decisions.void_kinds(case, [DecisionKind.EXPECTATION], "Sent back.")
    assert ids(owner, "expectations") == ["RC-1"]


def test_an_expectation_that_somebody_else_owns_is_not_asked_of_everybody(
    case: Case, project: Project, owner: User
) -> None:
    now(case, stage=Stage.IN_REVIEW)
    member = factories.person(project, Role.INCIDENT_OWNER)
    team = Team.objects.create(project=project, name="Refunds")
    team.members.add(member)
    CaseOwner.objects.create(case=case, boundary=Boundary.PROHIBITED_OUTCOME, team=team)
    assert (ids(owner, "expectations"), ids(member, "expectations")) == ([], ["RC-1"])


def test_nobody_is_asked_for_the_expectation_of_their_own_work(project: Project, responder: User, owner: User) -> None:
    now(factories.case(project, responder, on_behalf_of=owner), stage=Stage.IN_REVIEW)
    assert ids(owner, "expectations") == []


def test_nobody_is_asked_for_the_expectation_that_they_stated_themselves(case: Case, owner: User) -> None:
    now(case, stage=Stage.IN_REVIEW)
    StatementEdit.objects.create(case=case, editor=owner)
    StatementEdit.objects.create(case=case, editor=factories.person(case.project, Role.INCIDENT_OWNER))
    assert ids(owner, "expectations") == []


@pytest.mark.parametrize("role", [Role.WORKFLOW_ENGINEER, Role.RESPONDER, Role.QA])
def test_what_is_approved_waits_for_who_may_mark_it_as_reproduced(case: Case, role: Role) -> None:
    person = factories.person(case.project, role)
    now(case, stage=Stage.IN_REVIEW, expectation_approved=True)
    assert ids(person, "reproductions") == []
    now(case, stage=Stage.REDACTION_APPROVED, expectation_approved=False)
    assert ids(person, "reproductions") == []  # it waits for the incident owner
    now(case, expectation_approved=True)
    assert ids(person, "reproductions") == ["RC-1"]
    now(case, stage=Stage.REPRODUCED)
    assert ids(person, "reproductions") == []


def test_what_is_to_be_marked_as_reproduced_says_whether_the_failure_was_seen(project: Project) -> None:
    of = factories.people(project)
    case = now(factories.case(project, of.responder), stage=Stage.REDACTION_APPROVED, expectation_approved=True)

    def step() -> str:
        return needs.of(of.engineer).lists["reproductions"][0].why

    assert step() == "confirmation"
    factories.describe(of, case)
    factories.replayed(of, case)
    assert step() == "reproduction"
    Comparison.objects.update(old_red=False)
    assert step() == "red"


def test_a_control_waits_for_a_reviewer_whose_work_neither_it_nor_the_case_is(case: Case, reviewer: User) -> None:
    engineer = factories.person(case.project, Role.WORKFLOW_ENGINEER, Role.PRIVACY_REVIEWER)
    case.created_by.memberships.create(project=case.project, role=Role.PRIVACY_REVIEWER)  # whose work it is
    controls = [factories.control(factories.revision(case), engineer, name=name) for name in ("one", "two")]
    assert ids(reviewer, "controls") == []  # it is in quarantine
    for stage in (Stage.REDACTION_APPROVED, Stage.REPRODUCED):
        now(case, stage=stage)
        assert [(row.readable_id, row.why) for row in needs.of(reviewer).lists["controls"]] == [("RC-1", "2")]
        assert [ids(user, "controls") for user in (engineer, case.created_by)] == [[], []]
    now(case, lane="blocking")  # they may come when a revision stands there
    assert ids(reviewer, "controls") == ["RC-1"]
    for left, control in zip(("1", None), controls, strict=True):
        factories.released(control)
        lifecycle.approve_control(reviewer, control=control, fixture_hash=control.fixture_hash)
        assert next((row.why for row in needs.of(reviewer).lists["controls"]), None) == left


@pytest.mark.parametrize("stage", [Stage.REDACTION_APPROVED, Stage.REPRODUCED])
def test_what_the_fixture_leaves_open_is_asked_of_the_dependencys_owner(
    case: Case, project: Project, stage: Stage
) -> None:
    vendor = factories.person(project, Role.DEPENDENCY_OWNER)
    case.created_by.memberships.create(project=project, role=Role.DEPENDENCY_OWNER)  # whose work it is
    revision = factories.revision(case)
    immutability.remove("default")

    def asked(answers: int, tools: list[str] | None) -> list[str]:
        FixtureRevision.objects.update(authored_answers=answers, unstated_tools=tools)
        return [row.why for row in needs.of(vendor).lists["dependencies"]]

    def say(**confirmed: bool) -> None:
        said = {"acceptance": "unknown", "said_by": vendor, "said_at": timezone.now(), **confirmed}
        DependencyStatement.objects.create(case=case, revision=revision, **said)

    assert asked(1, ["lookup"]) == []  # it is in quarantine
    now(case, stage=stage, expectation_approved=True)
    found = [asked(*fixture) for fixture in ((1, ["lookup"]), (1, []), (0, ["lookup"]), (0, []), (0, None))]
    assert found == [["answers and effects"], ["answers"], ["effects"], [], []]
    assert ids(case.created_by, "dependencies") == []
    say(authored_confirmed=True)
    assert asked(1, ["lookup"]) == ["effects"]
    say(authored_confirmed=True, no_effect_confirmed=True)
    assert asked(1, ["lookup"]) == []
    say(no_effect_confirmed=True)  # the newest counts
    assert asked(1, ["lookup"]) == ["answers"]


def test_an_expectation_that_is_not_approved_comes_before_what_a_dependencys_owner_confirms(case: Case) -> None:
    now(case, stage=Stage.REDACTION_APPROVED)  # they may not read it yet
    immutability.remove("default")
    FixtureRevision.objects.update(authored_answers=1)
    assert ids(factories.person(case.project, Role.DEPENDENCY_OWNER), "dependencies") == []


def test_of_two_windows_no_more_are_listed_than_of_one_list(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    vendor = factories.person(case.project, Role.DEPENDENCY_OWNER)
    now(case, stage=Stage.REDACTION_APPROVED, expectation_approved=True)
    another(case, stage=Stage.REPRODUCED, expectation_approved=True)
    immutability.remove("default")
    FixtureRevision.objects.update(authored_answers=1)
    assert sorted(ids(vendor, "dependencies")) == ["RC-1", "RC-2"]
    monkeypatch.setattr(needed_cases, "MOST", 1)
    assert ids(vendor, "dependencies") == ["RC-1"]


@pytest.mark.parametrize(
    ("columns", "listed"),
    [
        ({"stage": Stage.REPRODUCED, "verdict": VERIFIED}, True),
        ({"stage": Stage.REPRODUCED, "verdict": VERIFIED, "lane": "nonblocking"}, True),
        ({"stage": Stage.REPRODUCED, "verdict": VERIFIED, "lane": "blocking"}, False),
        ({"stage": Stage.REPRODUCED, "verdict": "near_miss"}, False),
        ({"stage": Stage.REDACTION_APPROVED, "verdict": VERIFIED}, False),
    ],
)
def test_ready_is_what_is_reproduced_verified_and_not_blocking_yet(
    case: Case, qa: User, columns: dict[str, Any], listed: bool
) -> None:
    now(case, **columns)
    assert bool(ids(qa, "ready")) is listed
    assert sum(tally.ready for tally in needs.of(qa).tallies) == listed


def test_a_security_incident_waits_for_the_security_owner_until_it_is_contained(case: Case, project: Project) -> None:
    security = factories.person(project, Role.SECURITY_OWNER)
    assert ids(security, "uncontained") == []
    now(case, security_incident=True)
    assert ids(security, "uncontained") == ["RC-1"]
    now(case, contained_at=timezone.now(), contained_by=security, containment_note="Keys rotated.")
    assert ids(security, "uncontained") == []


def test_evidence_that_ends_or_ended_is_listed_the_most_overdue_first(case: Case, responder: User) -> None:
    now(case, evidence_expires_at=in_hours(24 * 8))
    another(case, evidence_expires_at=in_hours(5))
    another(case, evidence_expires_at=in_hours(-5))
    assert ids(responder, "expiring") == ["RC-3", "RC-2"]


def test_a_flagged_case_is_listed_with_its_reason(case: Case, qa: User) -> None:
    flags.raise_flag(None, case=case, reason=FlagReason.DRIFTED, detail="One field is gone.")
    assert [(row.readable_id, row.why) for row in needs.of(qa).lists["flagged"]] == [("RC-1", "drifted")]


def test_proposals_wait_for_those_who_may_confirm_them_and_not_for_who_made_them(
    case: Case, project: Project, reviewer: User, qa: User, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def propose(kind: ProposalKind, gate: str = "") -> Proposal:
        return Proposal.objects.create(
            case=case,
            kind=kind,
            gate=gate,
            revision=factories.revision(case),
            reason="It must be.",
            until=in_hours(48),
            proposed_by=reviewer,
            proposed_at=timezone.now(),
        )

    extension, red = propose(ProposalKind.EXTENSION), propose(ProposalKind.OVERRIDE, "red")
    security = factories.person(project, Role.SECURITY_OWNER)
    asked = {user: needs.of(user).proposals for user in (reviewer, security, owner, qa)}
    assert asked == {reviewer: [], security: [extension], owner: [red], qa: []}
    case.created_by.memberships.create(project=project, role=Role.INCIDENT_OWNER)
    assert needs.of(case.created_by).proposals == []
    assert needs.of(factories.person(project, Role.VIEWER)).proposals is None
    monkeypatch.setattr(needs, "MOST", 1)
    retirement = propose(ProposalKind.RETIREMENT)
    assert needs.of(qa).proposals == [retirement]  # the older ones, which are not theirs, take no place in the list


def test_a_waiver_waits_for_who_may_agree_and_did_not_ask_for_it(case: Case, project: Project, reviewer: User) -> None:
    for finding in ("0", "1"):
        factories.waiver(case, reviewer, finding=finding * 64)
    security = factories.person(project, Role.SECURITY_OWNER)
    case.created_by.memberships.create(project=project, role=Role.PRIVACY_REVIEWER)  # whose work it is
    assert [(row.readable_id, row.why) for row in needs.of(security).lists["waivers"]] == [("RC-1", "2")]
    assert [ids(user, "waivers") for user in (reviewer, case.created_by)] == [[], []]
    assert "waivers" not in needs.of(factories.person(project, Role.QA)).lists
    factories.waiver(another(case), reviewer, until=in_hours(-1))
    assert ids(security, "waivers") == ["RC-1"]  # the time of the other one has passed
    factories.redacted_revision(case.created_by, case, factories.fixture(input={"order": "o-2"}))
    assert ids(security, "waivers") == []  # it was of another revision


def test_a_changed_verdict_stays_until_it_is_seen(case: Case, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (NotificationKind.VERDICT_CHANGED, NotificationKind.FLAGGED):
        recipients.notify([owner.pk], case=case, kind=kind, occasion=kind, text="RC-1: it changed.")
    found = needs.of(owner)
    assert ([one.kind for one in found.changed], found.unread) == (["verdict_changed"], 2)
    monkeypatch.setattr(needs, "MOST", 1)
    assert len(needs.of(owner).changed) == 1  # the newer message of another kind takes no place in the list
    Notification.objects.update(read_at=timezone.now())
    assert needs.of(owner).changed == []


def test_counts_stand_by_stage_and_lane(case: Case, qa: User) -> None:
    another(case, stage=Stage.REPRODUCED, lane="blocking", flagged=True)
    another(case, stage=Stage.IN_REVIEW, lane="blocking", evidence_expires_at=in_hours(3))
    found = {(t.stage, t.lane): (t.cases, t.flagged, t.ending) for t in needs.of(qa).tallies}
    assert found == {
        ("quarantined", ""): (1, 0, 0),
        ("reproduced", "blocking"): (1, 1, 0),
        ("in_review", "blocking"): (1, 0, 1),
    }


def test_a_long_list_is_cut_and_costs_no_more_queries(
    case: Case, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = factories.everyone(project)
    monkeypatch.setattr(needed_cases, "MOST", 3)
    now(case, stage=Stage.IN_REVIEW, flagged=True, evidence_expires_at=in_hours(1))
    with CaptureQueriesContext(connection) as few:
        needs.of(person)
    cache.clear()
    for _ in range(4):
        another(case, stage=Stage.IN_REVIEW, flagged=True, evidence_expires_at=in_hours(1))
    with CaptureQueriesContext(connection) as many:
        found = needs.of(person)
    assert [len(found.lists[name]) for name in ("reviews", "flagged", "expiring")] == [3, 3, 3]
    assert len(many) == len(few) == 8


def test_counts_may_be_a_minute_old_and_lists_are_not(case: Case, qa: User) -> None:
    assert [tally.stage for tally in needs.of(qa).tallies] == ["quarantined"]
    now(case, stage=Stage.REPRODUCED, verdict=VERIFIED)
    found = needs.of(qa)
    assert ([tally.stage for tally in found.tallies], len(found.lists["ready"])) == (["quarantined"], 1)


def test_what_was_counted_lately_is_shown_and_counted_again_once_it_is_old(case: Case, qa: User) -> None:
    now(case, stage=Stage.IN_REVIEW, flagged=True, evidence_expires_at=in_hours(3))
    counting.look()
    counted = needs.of(qa).tallies
    assert [(t.stage, t.cases, t.flagged, t.ending, t.ready) for t in counted] == [("in_review", 1, 1, 1, 0)]
    now(case, stage=Stage.REPRODUCED, verdict=VERIFIED)
    cache.clear()
    assert needs.of(qa).tallies == counted
    ProjectFigures.objects.update(counted_at=timezone.now() - figures.KEPT)
    cache.clear()
    assert [(tally.stage, tally.ready) for tally in needs.of(qa).tallies] == [("reproduced", 1)]


def test_lanes_of_one_name_in_several_projects_are_counted_together(project: Project) -> None:
    at = timezone.now().replace(microsecond=0)
    ran = {"lane": "blocking", "day": at.date(), "held": 2, "violated": 0, "undetermined": 1, "environment": 0}
    other = factories.project("XX")
    for of, last in ((project, at), (other, at - timedelta(hours=1))):
        day = asdict(lane_health.Day(**ran, last=last))
        ProjectFigures.objects.create(project=of, counted_at=at, tallies=[], health=[day])
    both = lane_health.of(frozenset({project.pk, other.pk}))
    assert both == [lane_health.Day(**{**ran, "held": 4, "undetermined": 2}, last=at)]
    assert lane_health.of(frozenset({other.pk}))[0].last == at - timedelta(hours=1)


def test_lanes_that_never_ran_have_no_health(project: Project) -> None:
    assert lane_health.of(frozenset({project.pk})) == []
