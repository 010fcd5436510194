"""The closing checklist: each step once, by somebody who says how they know."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from replaycases.accounts.models import ApiToken, User
from replaycases.accounts.roles import REVIEWS_AGAIN, Role
from replaycases.cases import closing, policies, texts
from replaycases.cases.models import AuditEvent, Case, ClosingItem, ClosingStep, Stage
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> Case:
    project = factories.project()
    return factories.case(project, factories.person(project, Role.RESPONDER))


@pytest.fixture
def owner(case: Case) -> User:
    return factories.person(case.project, Role.INCIDENT_OWNER)


def test_every_step_is_noted_once_in_the_name_of_whoever_looked(case: Case, owner: User) -> None:
    for step in ClosingStep:
        closing.note_step(owner, case=case, step=step, note=f"Looked at {step}.")
        with pytest.raises(policies.InvalidTransition):
            closing.note_step(owner, case=case, step=step, note="Again.")
    done = closing.steps_of(case)
    assert [step.step for step in done] == list(ClosingStep)
    assert [step.item.note for step in done if step.item] == [f"Looked at {step}." for step in ClosingStep]
    assert AuditEvent.objects.filter(case=case, action="closing.step_noted").count() == len(ClosingStep)


@pytest.mark.parametrize("role", [Role.QA, Role.QA_LEAD])
def test_only_the_incident_owner_signs_the_hand_off(case: Case, role: Role) -> None:
    qa = factories.person(case.project, role)
    closing.note_step(qa, case=case, step=ClosingStep.MONITORING, note="The alert fires in staging.")
    with pytest.raises(PermissionDenied):
        closing.note_step(qa, case=case, step=ClosingStep.HAND_OFF, note="Handed off.")
    assert [item.step for item in ClosingItem.objects.all()] == [ClosingStep.MONITORING]


@pytest.mark.parametrize("role", sorted(set(Role) - REVIEWS_AGAIN))
def test_others_note_nothing(case: Case, role: Role) -> None:
    with pytest.raises(PermissionDenied):
        closing.note_step(factories.person(case.project, role), case=case, step=ClosingStep.ROLLOUT, note="Seen.")


def test_a_token_notes_nothing(case: Case, owner: User) -> None:
    owner.token = ApiToken(project=case.project, user=owner, name="ci", prefix="rc_1", expires_at=timezone.now())
    with pytest.raises(PermissionDenied):
        closing.note_step(owner, case=case, step=ClosingStep.ROLLOUT, note="Seen.")


@pytest.mark.parametrize("note", ["", "  \n", "x" * (texts.TEXT_CAP + 1)])
def test_a_step_says_how_it_is_known(case: Case, owner: User, note: str) -> None:
    with pytest.raises(ValidationError):
        closing.note_step(owner, case=case, step=ClosingStep.ROLLOUT, note=note)
    assert not ClosingItem.objects.exists()


def test_a_closed_case_has_no_open_steps(case: Case, owner: User) -> None:
    Case.objects.filter(pk=case.pk).update(stage=Stage.RETIRED)
    with pytest.raises(policies.InvalidTransition):
        closing.note_step(owner, case=case, step=ClosingStep.ROLLOUT, note="Seen.")
