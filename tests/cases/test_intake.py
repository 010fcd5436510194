from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import intake, policies
from replaycases.cases.models import Case, Control, OutcomeType, Payload, Stage
from replaycases.fixture.findings import FixtureInvalid
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def actor() -> User:
    return factories.everyone(factories.project())


@pytest.fixture
def case(actor: User) -> Case:
    return factories.case(actor.memberships.first().project, actor)


def test_a_case_begins_in_quarantine_with_its_first_revision(case: Case) -> None:
    assert (case.readable_id, case.stage, case.case_id) == ("RC-1", Stage.QUARANTINED, "refund-claimed")
    assert factories.revision(case).number == 1


def test_numbers_count_in_each_project(actor: User, case: Case) -> None:
    again = factories.case(case.project, actor, factories.fixture(case_id="other"))
    elsewhere = factories.project("OTHER")
    foreign = factories.case(elsewhere, factories.everyone(elsewhere))
    assert (again.readable_id, foreign.readable_id) == ("RC-2", "OTHER-1")


def test_an_invalid_fixture_leaves_nothing_behind(actor: User) -> None:
    project = actor.memberships.first().project
    with pytest.raises(FixtureInvalid):
        factories.case(project, actor, b'{"schema_version": "2.0"}')
    assert not Case.objects.exists()
    assert not Payload.objects.exists()


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_failure_statement_is_refused(actor: User, text: str) -> None:
    with pytest.raises(ValidationError):
        intake.create_case(
            actor,
            project=actor.memberships.first().project,
            title="t",
            incident_id="i",
            trigger=text,
            prohibited_outcome="p",
            deciding_evidence="d",
            fixture=factories.fixture(),
            detect=None,
        )
    assert not Case.objects.exists()


def test_text_that_a_column_cannot_hold_is_shown_as_escapes(actor: User) -> None:
    case = intake.create_case(
        actor,
        project=actor.memberships.first().project,
        title="nul \x00 lone \ud800",
        incident_id="i",
        trigger="t",
        prohibited_outcome="p",
        deciding_evidence="d",
        fixture=factories.fixture(),
    )
    assert Case.objects.get(pk=case.pk).title == "nul \\u0000 lone \\ud800"


def test_only_a_responder_creates_cases(actor: User) -> None:
    project = actor.memberships.first().project
    with pytest.raises(PermissionDenied):
        factories.case(project, factories.person(project, Role.WORKFLOW_ENGINEER))


def test_a_new_revision_becomes_the_current_one_and_leaves_the_first(actor: User, case: Case) -> None:
    first = factories.revision(case)
    second = intake.add_revision(actor, case=case, fixture=factories.fixture(incident_id="INC-2"))
    case.refresh_from_db()
    assert case.current_revision == second
    assert second.number == 2
    assert list(case.revisions.order_by("number")) == [first, second]


def test_a_revision_of_another_case_is_refused(actor: User, case: Case) -> None:
    with pytest.raises(ValidationError):
        intake.add_revision(actor, case=case, fixture=factories.fixture(case_id="other"))


@pytest.mark.parametrize(
    ("mutation", "finding"),
    [
        (b'[{"op": "replace", "path": "/events/9/outcome", "value": 1}]', "mutation.invalid"),
        (b'{"op": "replace"}', "mutation.invalid"),
        (b'[{"op": "remove", "path": "/expected/required_disclosures"}]', "mutation.invalid"),
        (b"[", "mutation.invalid"),
    ],
)
def test_a_mutation_that_does_not_fit_its_control_is_refused(
    actor: User, case: Case, mutation: bytes, finding: str
) -> None:
    with pytest.raises(FixtureInvalid) as refused:
        intake.add_control(
            actor,
            revision=factories.revision(case),
            name="c",
            outcome_type=OutcomeType.SUCCESS,
            fixture=factories.fixture(case_id="c"),
            mutation=mutation,
        )
    assert refused.value.findings[0].id.startswith(finding)
    assert not Control.objects.exists()


def test_actions_say_who_may_and_why_not(actor: User, case: Case) -> None:
    assert all(action.allowed for action in policies.available_actions(case, actor))
    viewer = factories.person(case.project, Role.VIEWER)
    assert all("needs the role" in action.why_not for action in policies.available_actions(case, viewer))


def test_a_closed_case_has_no_actions(actor: User, case: Case) -> None:
    case.stage = Stage.RETIRED
    assert not any(action.allowed for action in policies.available_actions(case, actor))
