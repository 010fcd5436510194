"""What a service would refuse for what stands around the case is not offered, and the reason is the service's own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import comments, details, intake, lifecycle, proposals
from replaycases.cases.available import available_actions
from replaycases.cases.models import Case, LaneName
from replaycases.cases.policies import ActionName, InvalidTransition
from tests import factories
from tests.factories import People

pytestmark = pytest.mark.django_db


@pytest.fixture
def of() -> People:
    return factories.people(factories.project())


def told(case: Case, actor: User, name: ActionName) -> str:
    [action] = available_actions(factories.fresh(case), actor, only={name})
    return action.why_not


def refused(does: Callable[..., object], actor: User, **said: object) -> str:
    with pytest.raises(InvalidTransition) as found:
        does(actor, **said)
    return str(found.value)


def without_affected(of: People, case: Case) -> None:
    links = dict.fromkeys(("incident_url", "trace_id", "trace_url", "covering_test"), "")
    details.edit_provenance(of.engineer, case=case, affected=None, fixed=None, **links)


def test_a_case_without_its_affected_version_is_not_submitted(of: People) -> None:
    case = factories.case(of.project, of.responder)
    seen = factories.revision(case).fixture_hash
    why = told(case, of.responder, "submit")
    assert "The affected version is not recorded." in why
    assert refused(lifecycle.submit, of.responder, case=case, fixture_hash=seen) == why


def test_a_case_that_nobody_answers_for_is_not_closed(of: People) -> None:
    case = factories.case(of.project, of.responder)
    why = told(case, of.qa, "mark_non_replayable")
    said = {"reason": "No clock.", "missing": "Its clock."}
    assert "Name an owner first" in why
    assert refused(lifecycle.mark_non_replayable, of.qa, case=case, **said) == why


def test_no_revision_is_offered_once_the_time_of_the_evidence_is_over(of: People) -> None:
    case = factories.case(of.project, of.responder)
    Case.objects.filter(pk=case.pk).update(evidence_expires_at=timezone.now() - timedelta(hours=1))
    why = told(case, of.responder, "add_revision")
    assert "The time of this case's raw evidence is over." in why
    fixture = factories.fixture(input={})
    assert refused(intake.add_revision, of.responder, case=factories.fresh(case), fixture=fixture) == why


def test_what_waits_already_is_not_offered_again_and_an_open_comment_closes_an_approval(of: People) -> None:
    case = factories.in_review(of)
    assert not told(case, of.lead, "propose_retirement")
    proposals.propose_retirement(of.lead, case=case, reason="The workflow is gone.")
    why = told(case, of.lead, "propose_retirement")
    assert refused(proposals.propose_retirement, of.lead, case=case, reason="Again.") == why
    assert "You have not looked at" in told(case, of.privacy, "approve_redaction")
    comments.add(of.privacy, revision=factories.revision(case), pointer="", text="And here.")
    assert "Unresolved comments: 1." in told(case, of.privacy, "approve_redaction")


def test_what_is_approved_is_not_offered_again_nor_a_step_of_a_case_that_lost_its_affected_version(of: People) -> None:
    case = factories.redaction_approved(of)
    revision = factories.revision(case)
    seen = revision.fixture_hash
    assert not told(case, of.owner, "approve_expectation")
    factories.approve_expectation(of, case)
    said = {"revision": revision.number, "fixture_hash": seen, "checks_hash": revision.checks_hash}
    why = told(case, of.owner, "approve_expectation")
    assert refused(lifecycle.approve_expectation, of.owner, case=case, **said) == why
    assert not told(case, of.engineer, "mark_reproduced")
    without_affected(of, case)
    why = told(case, of.engineer, "mark_reproduced")
    assert refused(lifecycle.mark_reproduced, of.engineer, case=case, fixture_hash=seen) == why
    Case.objects.filter(pk=case.pk).update(stage="reproduced")
    why = told(case, of.qa, "promote")
    assert "the affected version" in why
    case = factories.fresh(case)
    assert refused(lifecycle.promote, of.qa, case=case, lane=LaneName.NONBLOCKING, fixture_hash=seen) == why
