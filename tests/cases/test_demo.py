from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from replaycases.accounts.models import Membership, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import comparing, demo, demo_cases, demo_walk, events, executing, gates, lifecycle
from replaycases.cases.management.commands import demo as demo_command
from replaycases.cases.models import (
    AuditEvent,
    Case,
    CaseOwner,
    Comparison,
    Control,
    Implementation,
    LaneEntry,
    Proposal,
    Run,
    RunState,
    Stage,
)
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(300)]

WITH_FIXTURE = [incident for incident in demo_cases.INCIDENTS if incident.source]


def _demo(*options: str) -> str:
    said = io.StringIO()
    call_command("demo", *options, stdout=said)
    return said.getvalue()


def _one(monkeypatch: pytest.MonkeyPatch, goal: str) -> None:
    """Only the demo's case that rests there."""
    chosen = tuple(incident for incident in demo_cases.INCIDENTS if incident.goal == goal)
    assert len(chosen) == 1
    for module in (demo, demo_walk):
        monkeypatch.setattr(module, "INCIDENTS", chosen)


def _walk() -> None:
    """As with a worker: until nothing is left that could come of itself."""
    while (state := demo_walk.advance()) != "settled":
        if state == "waiting":
            _replay()


def _replay() -> None:
    for run in Run.objects.filter(state=RunState.QUEUED).order_by("number"):
        executing.look_at(run.pk, worker="here")
    comparing.refresh_waiting()


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    settings.EMBEDDED = True


def test_the_demo_asks_for_a_comparison_of_every_incident_with_a_fixture() -> None:
    _demo()
    assert Case.objects.count() == len(demo_cases.INCIDENTS)
    assert Comparison.objects.count() == len(WITH_FIXTURE)
    assert Implementation.objects.count() == 2
    assert Control.objects.filter(mutation=None).count() == 0
    assert Run.objects.count() == 2 * (2 * len(WITH_FIXTURE) + 2 * Control.objects.count())
    assert events.verify() == []


def test_every_role_is_held_and_nobody_may_both_make_and_approve() -> None:
    _demo()
    held = {name: set(Membership.objects.filter(user__username=name).values_list("role", flat=True)) for name in NAMES}
    assert set().union(*held.values()) == set(Role)
    makes, approves = {Role.RESPONDER, Role.WORKFLOW_ENGINEER}, {Role.PRIVACY_REVIEWER, Role.INCIDENT_OWNER, Role.QA}
    assert not [name for name, roles in held.items() if roles & makes and roles & approves]


def test_every_boundary_of_a_case_with_a_fixture_has_an_owner() -> None:
    _demo()
    assert CaseOwner.objects.count() == 5 * len(WITH_FIXTURE)
    assert not Team.objects.filter(members=None).exists()


def test_loading_the_demo_again_changes_nothing_and_prints_the_same_logins() -> None:
    first = _demo()
    before = [model.objects.count() for model in (User, Case, Comparison, Run, Team, AuditEvent)]
    assert _demo() == first
    assert [model.objects.count() for model in (User, Case, Comparison, Run, Team, AuditEvent)] == before


def test_the_printed_password_logs_everybody_in() -> None:
    password = _demo().rsplit(maxsplit=1)[-1]
    assert all(User.objects.get(username=name).check_password(password) for name in NAMES)


def test_on_a_database_of_its_own_nobody_gets_a_password_unless_asked(settings: Any) -> None:
    settings.EMBEDDED = False
    assert "password" not in _demo()
    assert not any(user.has_usable_password() for user in User.objects.all())
    assert "password" in _demo("--logins")


def test_a_password_that_somebody_changed_stays() -> None:
    _demo()
    user = User.objects.get(username="qa")
    user.set_password("something else entirely")
    user.save()
    _demo()
    user.refresh_from_db()
    assert user.check_password("something else entirely")


# --- on their way ---------------------------------------------------------------------------------------------------


def test_without_replays_only_what_needs_none_goes_on() -> None:
    _demo()
    assert demo_walk.advance() == "moved"
    assert demo_walk.advance() == "waiting"
    closed = {Stage.RETIRED, Stage.NON_REPLAYABLE}
    assert set(Case.objects.values_list("stage", flat=True)) == {Stage.QUARANTINED, *closed}
    assert not LaneEntry.objects.exists()
    assert Proposal.objects.get(kind="extension").state == "pending"


def test_whoever_takes_it_on_says_once_what_it_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker is busy for a while, and then comes."""
    _one(monkeypatch, "in_review")
    _demo()
    pauses = itertools.chain([lambda: None, lambda: None], itertools.repeat(_replay))
    monkeypatch.setattr(demo_command, "sleep", lambda seconds: next(pauses)())
    assert _demo("--advance").count("wait for their replays") == 1
    case = Case.objects.select_related("current_revision").get()
    assert (case.stage, factories.revision(case).number) == (Stage.IN_REVIEW, 2)
    privacy = User.objects.get(username="privacy")
    assert not any(gate.blocks for gate in gates.gates_of(case, "redaction_approved", actor=privacy))


def test_without_a_demo_there_is_nothing_to_take_on() -> None:
    _demo("--advance")
    assert not Case.objects.exists()


def test_a_case_comes_to_blocking_and_out_of_it_by_those_who_may(monkeypatch: pytest.MonkeyPatch) -> None:
    _one(monkeypatch, "demoted")
    _demo()
    _walk()
    assert list(LaneEntry.objects.order_by("entered_at").values_list("lane__name", "left_by")) == [
        ("nonblocking", "promoted"),
        ("blocking", "demoted"),
        ("nonblocking", ""),
    ]
    by = dict(AuditEvent.objects.exclude(actor=None).values_list("action", "actor__username"))
    assert by["case.submitted"] == "responder"
    assert by["redaction.approved"] == by["control.approved"] == "privacy"
    assert by["expectation.approved"] == "owner"
    assert by["lane.promoted"] == "qa"
    assert by["lane.demoted"] == "lead"
    assert events.verify() == []


def test_what_somebody_changed_is_not_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    _one(monkeypatch, "redaction_approved")
    _demo()
    _walk()
    case = Case.objects.get()
    assert case.stage == Stage.REDACTION_APPROVED
    lifecycle.send_back(User.objects.get(username="privacy"), case=case, reason="Look again.")
    assert demo_walk.advance() == "settled"
    case.refresh_from_db()
    assert case.stage == Stage.IN_REVIEW


NAMES = [name for name, _, _ in demo.PEOPLE]
