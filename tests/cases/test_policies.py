from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.exceptions import PermissionDenied

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import intake, jobs, policies
from replaycases.cases.models import Case, OutcomeType, Stage
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def actor() -> User:
    return factories.everyone(factories.project())


@pytest.fixture
def case(actor: User) -> Case:
    return factories.case(actor.memberships.first().project, actor)


def _comparison(actor: User, case: Case) -> None:
    old, new = (factories.implementation(case.project, _engineer(case), f"# {n}", version=n) for n in "12")
    jobs.request_comparison(actor, revision=factories.revision(case), old=old, new=new)


def _run_set(actor: User, case: Case) -> None:
    implementation = factories.implementation(case.project, _engineer(case))
    jobs.request_run_set(actor, revision=factories.revision(case), implementation=implementation, size=1)


def _revision(actor: User, case: Case) -> None:
    intake.add_revision(actor, case=case, fixture=factories.fixture(prompt_version="2"))


def _control(actor: User, case: Case) -> None:
    intake.add_control(
        actor,
        revision=factories.revision(case),
        name="confirmed",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.fixture(case_id="control-1"),
    )


def _engineer(case: Case) -> User:
    return factories.person(case.project, Role.WORKFLOW_ENGINEER)


ACTS: dict[str, Callable[[User, Case], None]] = {
    "request_comparison": _comparison,
    "request_run_set": _run_set,
    "add_revision": _revision,
    "add_control": _control,
}


def test_every_action_that_is_offered_is_tried_here(case: Case, actor: User) -> None:
    assert [action.name for action in policies.available_actions(case, actor)] == list(ACTS)


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize("stage", Stage.values)
def test_what_is_offered_is_what_is_done(case: Case, actor: User, stage: str, name: str) -> None:
    Case.objects.filter(pk=case.pk).update(stage=stage)
    offered = {action.name: action for action in policies.available_actions(Case.objects.get(pk=case.pk), actor)}
    assert offered[name].allowed is (stage not in {"retired", "non_replayable"})
    if offered[name].allowed:
        ACTS[name](actor, case)
    else:
        with pytest.raises(policies.InvalidTransition, match=offered[name].why_not):
            ACTS[name](actor, case)


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize("stage", [Stage.QUARANTINED, Stage.RETIRED])
def test_without_the_role_it_is_neither_offered_nor_done(case: Case, stage: Stage, name: str) -> None:
    Case.objects.filter(pk=case.pk).update(stage=stage)
    viewer = factories.person(case.project, Role.VIEWER)
    offered = {action.name: action for action in policies.available_actions(case, viewer)}
    with pytest.raises(PermissionDenied) as refused:
        ACTS[name](viewer, case)
    assert offered[name].why_not == str(refused.value)
