"""What is offered is what is done: one table behind pages, API, admin and bulk alike."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from copy import deepcopy
from datetime import datetime, timedelta
from typing import get_args

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.utils import timezone

from replaycases.accounts.models import ApiToken, Membership, User
from replaycases.accounts.roles import Role
from replaycases.cases import (
    available,
    closing,
    comments,
    dependency,
    details,
    flags,
    intake,
    jobs,
    lifecycle,
    policies,
    proposals,
    redacting,
    redaction_rows,
    waivers,
)
from replaycases.cases.available import available_actions
from replaycases.cases.models import Acceptance, Boundary, Case, ClosingStep, FlagReason, LaneName, OutcomeType, Stage
from replaycases.cases.policies import ActionName
from tests import factories

pytestmark = pytest.mark.django_db

PERSONS = {name for name, rule in policies.RULES.items() if rule.by_person}


def somebody_elses() -> Case:
    """With what every action needs."""
    of = factories.people(factories.project())
    made = factories.quarantined(of)
    flags.raise_flag(of.qa, case=made, reason=FlagReason.DRIFTED, detail="The lookup answers otherwise now.")
    return factories.fresh(made)


@pytest.fixture(scope="module")
def built(made_once: Callable[[Callable[[], Case]], Case]) -> Case:
    return made_once(somebody_elses)


@pytest.fixture
def case(built: Case) -> Case:
    return deepcopy(built)


@pytest.fixture
def actor(case: Case) -> User:
    """Holds every role and made nothing of the case."""
    return factories.everyone(case.project)


def _soon() -> datetime:
    return timezone.now() + timedelta(days=60)


def _statement(actor: User, case: Case) -> None:
    said = {name: text for name, text in factories.STATEMENT.items() if name != "incident_id"}
    details.edit_statement(actor, case=case, reported_symptom="No money came.", **said)


def _comparison(actor: User, case: Case) -> None:
    old, new = case.provenance.affected, case.provenance.fixed
    jobs.request_comparison(actor, revision=factories.revision(case), old=old, new=new)


def _run_set(actor: User, case: Case) -> None:
    jobs.request_run_set(actor, revision=factories.revision(case), implementation=case.provenance.affected, size=1)


def _control(actor: User, case: Case) -> None:
    intake.add_control(
        actor,
        revision=factories.revision(case),
        name="rejected",
        outcome_type=OutcomeType.REJECTION,
        fixture=factories.fixture(case_id="control-2"),
    )


def _seen(case: Case) -> dict[str, str]:
    return {"fixture_hash": factories.revision(case).fixture_hash}


def _approve_control(actor: User, case: Case) -> None:
    control = factories.revision(case).controls.get()
    lifecycle.approve_control(actor, control=control, fixture_hash=control.fixture_hash)


def _return_redaction(actor: User, case: Case) -> None:
    seen = factories.revision(case)
    lifecycle.return_redaction(
        actor, case=case, revision=seen.number, content_hash=seen.content_hash, note="A name is left."
    )


def _return_expectation(actor: User, case: Case) -> None:
    seen = factories.revision(case)
    lifecycle.return_expectation(
        actor, case=case, revision=seen.number, fixture_hash=seen.fixture_hash, note="It misses the status."
    )


def _approve_redaction(actor: User, case: Case) -> None:
    seen = factories.revision(case)
    lifecycle.approve_redaction(actor, case=case, revision=seen.number, content_hash=seen.content_hash)


def _redact(actor: User, case: Case) -> None:
    redacting.redact(actor, case=case, seen_revision=1)


def _waive(actor: User, case: Case) -> None:
    """Nothing is open here: who may ask is told so."""
    looked = redaction_rows.require_newest(factories.revision(case))
    until = timezone.now() + timedelta(days=3)
    with suppress(ValidationError):
        waivers.ask(actor, redaction=looked, findings=["f" * 64], reason="It is made up.", until=until)


def _approve_expectation(actor: User, case: Case) -> None:
    seen = factories.revision(case)
    lifecycle.approve_expectation(
        actor, case=case, revision=seen.number, checks_hash=seen.checks_hash, fixture_hash=seen.fixture_hash
    )


ACTS: dict[ActionName, Callable[[User, Case], object]] = {
    "edit_statement": _statement,
    "edit_details": lambda actor, case: details.set_owners(
        actor, case=case, owners={Boundary.PRIVACY: case.created_by}
    ),
    "confirm_containment": lambda actor, case: details.confirm_containment(actor, case=case, note="Keys changed."),
    "state_acceptance": lambda actor, case: dependency.state(
        actor,
        case=case,
        revision_number=factories.revision(case).number,
        acceptance=Acceptance.UNKNOWN,
        **_seen(case),
    ),
    "request_comparison": _comparison,
    "request_run_set": _run_set,
    "add_revision": lambda actor, case: intake.add_revision(
        actor, case=case, fixture=factories.fixture(expected=factories.EXPECTED_MORE)
    ),
    "add_control": _control,
    "comment": lambda actor, case: comments.add(
        actor, revision=factories.revision(case), pointer="/input", text="Is this a name?"
    ),
    "submit": lambda actor, case: lifecycle.submit(actor, case=case, **_seen(case)),
    "redact": _redact,
    "waive": _waive,
    "approve_redaction": _approve_redaction,
    "return_redaction": _return_redaction,
    "approve_expectation": _approve_expectation,
    "return_expectation": _return_expectation,
    "approve_control": _approve_control,
    "mark_reproduced": lambda actor, case: lifecycle.mark_reproduced(actor, case=case, **_seen(case)),
    "promote": lambda actor, case: lifecycle.promote(actor, case=case, lane=LaneName.NONBLOCKING, **_seen(case)),
    "propose_demotion": lambda actor, case: proposals.propose_demotion(
        actor, case=case, reason="It flickers.", until=_soon(), owner=actor
    ),
    "propose_retirement": lambda actor, case: proposals.propose_retirement(actor, case=case, reason="Covered."),
    "propose_override": lambda actor, case: proposals.propose_override(
        actor, case=case, gate="red", reason="The old service is gone.", until=_soon()
    ),
    "propose_extension": lambda actor, case: proposals.propose_extension(
        actor, case=case, reason="The vendor still looks.", until=_soon()
    ),
    "send_back": lambda actor, case: lifecycle.send_back(actor, case=case, reason="Look again."),
    "mark_non_replayable": lambda actor, case: lifecycle.mark_non_replayable(
        actor, case=case, reason="It cannot be recorded.", missing="The vendor's answer."
    ),
    "reopen": lambda actor, case: lifecycle.reopen(actor, case=case, reason="The answer was found."),
    "raise_flag": lambda actor, case: flags.raise_flag(
        actor, case=case, reason=FlagReason.POLICY_CHANGED, detail="Refunds are limited now."
    ),
    "review_again": lambda actor, case: flags.review_again(actor, case=case, note="It still holds."),
    "close_step": lambda actor, case: closing.note_step(
        actor, case=case, step=ClosingStep.MONITORING, note="The alert fired in the drill."
    ),
}
# What a person may try, and what its gates, or what it is about, may still refuse.
GATED = {"submit", "approve_redaction", "mark_reproduced", "promote", "propose_override"}


def offered(case: Case, actor: User, name: ActionName) -> policies.Action:
    return {action.name: action for action in available_actions(case, actor)}[name]


def test_every_action_that_is_offered_is_tried_here(case: Case, actor: User) -> None:
    shown = [action.name for action in available_actions(case, actor)]
    assert shown == list(ACTS) == list(get_args(ActionName))


@pytest.mark.parametrize("name", ACTS)
def test_what_is_offered_is_what_is_done_in_every_stage(case: Case, actor: User, name: ActionName) -> None:
    for stage in Stage:
        Case.objects.filter(pk=case.pk).update(stage=stage)
        now = factories.fresh(case)
        why_not = offered(now, actor, name).why_not
        assert _refusal(name, actor, now) == why_not or (name in GATED and not why_not)


def _refusal(name: ActionName, actor: User, case: Case) -> str:
    """What trying it is answered with; "" if it was done. Nothing is kept."""
    kept = transaction.savepoint()
    try:
        ACTS[name](actor, case)
    except (policies.InvalidTransition, PermissionDenied) as refused:
        return str(refused)
    finally:
        transaction.savepoint_rollback(kept)
    return ""


@pytest.mark.parametrize("name", ACTS)
def test_without_the_role_it_is_neither_offered_nor_done(case: Case, name: ActionName) -> None:
    viewer = factories.person(case.project, Role.VIEWER)
    for stage in (Stage.QUARANTINED, Stage.REPRODUCED, Stage.RETIRED):
        Case.objects.filter(pk=case.pk).update(stage=stage)
        now = factories.fresh(case)
        why_not = offered(now, viewer, name).why_not
        assert "needs the role" in why_not
        # Who may not read the evidence is told that first.
        assert name == "comment" or _refusal(name, viewer, now) == why_not


def test_a_superuser_without_roles_and_a_member_of_another_project_do_nothing(case: Case) -> None:
    root = User.objects.create_superuser("root", "root@example.invalid", "a long enough password")
    foreign = factories.everyone(factories.project("OTHER"))
    for name in ACTS:
        for stranger in (root, foreign):
            assert "needs the role" in offered(case, stranger, name).why_not
            assert _refusal(name, stranger, case)


@pytest.mark.parametrize("stage", Stage)
def test_a_token_never_decides(case: Case, actor: User, stage: Stage) -> None:
    by_token(actor, case)
    Case.objects.filter(pk=case.pk).update(stage=stage)
    now = factories.fresh(case)
    for name in PERSONS:
        assert offered(now, actor, name).why_not == policies.BY_PERSON
        assert _refusal(name, actor, now) == policies.BY_PERSON


def by_token(actor: User, case: Case) -> None:
    """From now on it is a program that acts for them."""
    actor.token = ApiToken(project=case.project, user=actor, name="nightly", prefix="rc_12345678")


def test_what_only_people_do_are_the_decisions() -> None:
    decisions = {name for name in ACTS if name.startswith(("approve", "return", "promote", "propose", "confirm"))}
    assert decisions < PERSONS
    assert {"send_back", "mark_non_replayable", "reopen", "review_again", "close_step"} < PERSONS


@pytest.mark.parametrize("name", [name for name, rule in policies.RULES.items() if rule.second_eyes])
def test_nobody_approves_their_own_work(case: Case, name: ActionName) -> None:
    captured, edited = case.created_by, factories.everyone(case.project)
    for role in Role:
        Membership.objects.get_or_create(project=case.project, user=captured, role=role)
    fixture = factories.fixture(expected=factories.EXPECTED_MORE)
    intake.add_revision(edited, case=case, fixture=fixture)
    for stage in Stage:
        Case.objects.filter(pk=case.pk).update(stage=stage)
        now = factories.fresh(case)
        for own in (captured, edited):
            assert offered(now, own, name).why_not.endswith("Somebody else approves it.")
            assert name == "approve_control" or _refusal(name, own, now) == offered(now, own, name).why_not


def test_who_left_the_project_or_was_switched_off_does_nothing_more(case: Case) -> None:
    leaver, closed = factories.person(case.project, Role.QA), factories.person(case.project, Role.QA)
    assert offered(case, leaver, "send_back").why_not == "The case is quarantined. " + _ONLY_APPROVED
    Membership.objects.filter(user=leaver).delete()
    User.objects.filter(pk=closed.pk).update(is_active=False)  # `closed` was read before and does not know
    for gone in (leaver, closed):
        assert "needs the role" in offered(case, gone, "send_back").why_not


@pytest.mark.parametrize("name", ["approve_expectation", "return_expectation"])
def test_who_may_not_read_the_revision_is_not_offered_to_decide_about_it(name: ActionName) -> None:
    of = factories.people(factories.project("WAITS"))
    waiting = factories.in_review(of)
    assert offered(waiting, of.owner, name).why_not.startswith("Quarantined evidence is shown only to")
    with pytest.raises(PermissionDenied, match="Quarantined evidence"):
        policies.require(waiting, of.owner, name)
    factories.approve_redaction(of, waiting)
    assert offered(factories.fresh(waiting), of.owner, name).allowed


_ONLY_APPROVED = "This is possible only while it is redaction approved or reproduced."


def test_actions_that_hang_on_who_and_when_alone_ask_two_queries(
    case: Case, actor: User, django_assert_num_queries: Callable[[int], AbstractContextManager[object]]
) -> None:
    around = {
        *available.GATED,
        *available.PROPOSALS,
        "approve_expectation",
        "promote",
        "review_again",
        "mark_non_replayable",
    }
    plain = [name for name in policies.RULES if name not in around or name == "approve_expectation"]
    with django_assert_num_queries(2):
        told = available_actions(case, actor, only=plain)
    assert [action.name for action in told] == plain


def test_all_actions_together_ask_few_queries(
    case: Case, actor: User, django_assert_max_num_queries: Callable[[int], AbstractContextManager[object]]
) -> None:
    with django_assert_max_num_queries(8):
        told = available_actions(case, actor)
    assert [action.name for action in told] == list(policies.RULES)
