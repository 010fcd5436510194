from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from replaycases.accounts.models import ApiToken, Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import flags, redaction_policies
from replaycases.cases.models import (
    AuditEvent,
    Case,
    FlagReason,
    Lane,
    LaneEntry,
    Proposal,
    ProposalKind,
    ReviewFlag,
)
from replaycases.cases.policies import InvalidTransition
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(project: Project) -> Case:
    return factories.case(project, factories.person(project, Role.RESPONDER))


def in_lane(case: Case, name: str = "blocking", *, demotion: Proposal | None = None) -> LaneEntry:
    lane, _ = Lane.objects.get_or_create(project=case.project, name=name)
    Case.objects.filter(pk=case.pk).update(stage="reproduced", lane=name)
    case.refresh_from_db()
    return LaneEntry.objects.create(
        lane=lane,
        case=case,
        revision=factories.revision(case),
        entered_by=case.created_by,
        entered_at=timezone.now(),
        demotion=demotion,
    )


def demoted(case: Case, qa: User, **ago: int) -> Proposal:
    """It came down from blocking until that long ago."""
    left = in_lane(case)
    proposal = Proposal.objects.create(
        case=case,
        kind=ProposalKind.DEMOTION,
        reason="It varies.",
        lane_entry=left,
        owner=qa,
        until=timezone.now() - timedelta(**ago),
        proposed_by=qa,
        proposed_at=timezone.now(),
    )
    Proposal.objects.filter(pk=proposal.pk).update(
        state="confirmed", decided_by=case.created_by, decided_at=timezone.now()
    )
    LaneEntry.objects.filter(pk=left.pk).update(left_at=timezone.now(), left_by="demoted")
    in_lane(case, "nonblocking", demotion=proposal)
    return proposal


def open_reasons(case: Case) -> list[str]:
    return sorted(case.flags.filter(cleared_at=None).values_list("reason", flat=True))


# --- raising --------------------------------------------------------------------------------------------------------


def test_a_flag_stands_on_the_case_and_in_the_audit_chain(case: Case, qa: User) -> None:
    flags.raise_flag(qa, case=case, reason=FlagReason.DRIFTED, detail="One field is gone.")
    case.refresh_from_db()
    assert case.flagged
    assert open_reasons(case) == ["drifted"]
    assert AuditEvent.objects.get(action="case.flagged").case == case


def test_a_flagged_blocking_case_keeps_blocking(case: Case, qa: User) -> None:
    entry = in_lane(case)
    flags.raise_flag(qa, case=case, reason=FlagReason.POLICY_CHANGED, detail="Refund policy 12.")
    case.refresh_from_db()
    entry.refresh_from_db()
    assert (case.lane, case.stage, entry.left_at) == ("blocking", "reproduced", None)


def test_a_second_flag_of_one_reason_is_refused_to_a_person_and_nothing_to_the_system(case: Case, qa: User) -> None:
    first = flags.raise_flag(qa, case=case, reason=FlagReason.DRIFTED, detail="One field is gone.")
    with pytest.raises(InvalidTransition, match="already"):
        flags.raise_flag(qa, case=case, reason=FlagReason.DRIFTED, detail="Again.")
    assert flags.raise_flag(None, case=case, reason=FlagReason.DRIFTED, detail="Again.") == first
    assert AuditEvent.objects.filter(action="case.flagged").count() == 1


@pytest.mark.parametrize("role", [Role.VIEWER, Role.ADMINISTRATOR])
def test_who_only_looks_raises_no_flag(case: Case, project: Project, role: Role) -> None:
    with pytest.raises(PermissionDenied):
        flags.raise_flag(factories.person(project, role), case=case, reason=FlagReason.DRIFTED, detail="Drift.")
    assert open_reasons(case) == []


@pytest.mark.parametrize(
    ("reason", "detail"),
    [(FlagReason.DRIFTED, "  "), (FlagReason.DRIFTED, "x" * 4001), (FlagReason.DEMOTION_ENDED, "x")],
)
def test_a_person_says_why_and_leaves_the_calendar_to_the_system(
    case: Case, qa: User, reason: FlagReason, detail: str
) -> None:
    with pytest.raises(ValidationError):
        flags.raise_flag(qa, case=case, reason=reason, detail=detail)


# --- reviewing again ------------------------------------------------------------------------------------------------


def test_a_re_review_clears_every_flag_and_sets_the_next_date(case: Case, qa: User) -> None:
    for reason in (FlagReason.DRIFTED, FlagReason.POLICY_CHANGED):
        flags.raise_flag(qa, case=case, reason=reason, detail="Changed.")
    flags.review_again(qa, case=case, note="The fixture still holds what decides.")
    case.refresh_from_db()
    assert not case.flagged
    assert open_reasons(case) == []
    assert case.review_due_at is not None
    assert timedelta(days=179) < case.review_due_at - timezone.now() <= timedelta(days=180)
    assert set(case.flags.values_list("clearing_note", "cleared_by")) == {
        ("The fixture still holds what decides.", qa.pk)
    }
    assert "drifted, policy_changed" in AuditEvent.objects.get(action="case.reviewed_again").before


def test_an_unflagged_case_is_not_reviewed_again_and_a_note_is_asked_for(case: Case, qa: User) -> None:
    with pytest.raises(InvalidTransition):
        flags.review_again(qa, case=case, note="Fine.")
    flags.raise_flag(qa, case=case, reason=FlagReason.DRIFTED, detail="Drift.")
    with pytest.raises(ValidationError):
        flags.review_again(qa, case=case, note=" ")
    assert open_reasons(case) == ["drifted"]


def test_who_reviews_redactions_alone_notes_nothing_where_no_flag_asks_about_one(case: Case, project: Project) -> None:
    Case.objects.filter(pk=case.pk).update(flagged=True)  # It says so still, and every flag is cleared.
    with pytest.raises(PermissionDenied, match="needs the role"):
        flags.review_again(factories.person(project, Role.PRIVACY_REVIEWER), case=case, note="Fine.")
    assert factories.fresh(case).review_due_at is None


def test_who_reviews_redactions_alone_clears_what_asks_about_one_and_leaves_the_next_date(
    case: Case, project: Project, qa: User
) -> None:
    due = timezone.now() + timedelta(hours=1)
    Case.objects.filter(pk=case.pk).update(review_due_at=due)
    flags.raise_flag(qa, case=case, reason=FlagReason.POLICY_CHANGED, detail="Changed.")
    flags.review_again(factories.person(project, Role.PRIVACY_REVIEWER), case=case, note="Nothing new is found.")
    assert (open_reasons(case), factories.fresh(case).review_due_at) == ([], due)


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ({"open": [factories.FOUND]}, r"Open findings in revision 1: 1 e-mail\. .* let them stand"),
        ({"lost": 2}, r"Relations between values of revision 1 were lost: 2\. .* no waiver lets that stand"),
    ],
)
@pytest.mark.parametrize("reason", sorted(flags.OF_REDACTION))
def test_a_re_review_of_a_redaction_is_refused_while_something_stands_in_its_way(
    case: Case, qa: User, reason: FlagReason, found: dict[str, Any], says: str
) -> None:
    Case.objects.filter(pk=case.pk).update(stage="redaction_approved")
    factories.look(case, **found)
    flags.raise_flag(None, case=case, reason=reason, detail="Changed.")
    with pytest.raises(InvalidTransition, match=says):
        flags.review_again(qa, case=case, note="Fine.")
    factories.look(case, open=[], lost=0)
    flags.review_again(qa, case=case, note="Fine.")


def test_a_re_review_is_refused_while_something_is_open_in_an_earlier_revision_that_stands_in_a_lane(
    case: Case, qa: User
) -> None:
    in_lane(case, "nonblocking")
    factories.look(case, open=[factories.FOUND])
    factories.redacted_revision(case.created_by, case, factories.fixture(input={"message": "Where is it?"}))
    Case.objects.filter(pk=case.pk).update(stage="in_review")
    flags.raise_flag(None, case=case, reason=FlagReason.WAIVER_ENDED, detail="Ended.")
    with pytest.raises(InvalidTransition, match=r"Open findings in revision 1: 1 e-mail\. It stands in nonblocking"):
        flags.review_again(qa, case=case, note="Fine.")
    LaneEntry.objects.filter(case=case).update(left_at=timezone.now(), left_by="succeeded")
    flags.review_again(qa, case=case, note="Fine.")


def test_a_new_policy_flags_a_case_back_in_review_while_a_revision_of_it_stands_in_a_lane(
    case: Case, project: Project
) -> None:
    in_lane(case, "nonblocking")
    Case.objects.filter(pk=case.pk).update(stage="in_review")
    reviewer = factories.person(project, Role.PRIVACY_REVIEWER)
    redaction_policies.save(reviewer, project=project, data={"dates": "shift"}, note="Dates too.", seen=0)
    assert open_reasons(case) == ["policy_changed"]


def test_a_token_reviews_nothing_again(case: Case, qa: User) -> None:
    flags.raise_flag(qa, case=case, reason=FlagReason.DRIFTED, detail="Drift.")
    qa.token = ApiToken(project=case.project, user=qa, prefix="rc_x")
    with pytest.raises(PermissionDenied, match="token"):
        flags.review_again(qa, case=case, note="Fine.")
    assert open_reasons(case) == ["drifted"]


# --- the calendar ---------------------------------------------------------------------------------------------------


def test_a_review_date_that_passed_raises_one_flag(case: Case, qa: User) -> None:
    Case.objects.filter(pk=case.pk).update(review_due_at=timezone.now() - timedelta(hours=1))
    assert [flags.look(), flags.look()] == [1, 0]
    assert open_reasons(case) == ["review_date_passed"]
    flags.review_again(qa, case=case, note="Fine.")
    assert flags.look() == 0


def test_a_date_to_come_and_a_closed_case_raise_none(case: Case) -> None:
    Case.objects.filter(pk=case.pk).update(review_due_at=timezone.now() + timedelta(hours=1))
    assert flags.look() == 0
    Case.objects.filter(pk=case.pk).update(review_due_at=timezone.now() - timedelta(hours=1), stage="retired")
    assert flags.look() == 0


def test_a_case_in_a_lane_gets_a_review_date(case: Case) -> None:
    in_lane(case)
    flags.look()
    case.refresh_from_db()
    assert case.review_due_at is not None
    assert case.review_due_at - timezone.now() > timedelta(days=179)


def test_the_end_of_a_demotion_raises_one_flag_and_no_more_once_it_was_answered(case: Case, qa: User) -> None:
    demoted(case, qa, days=1)
    assert [flags.look(), flags.look()] == [1, 0]
    assert open_reasons(case) == ["demotion_ended"]
    flags.review_again(qa, case=case, note="Still mended elsewhere.")
    assert flags.look() == 0
    assert ReviewFlag.objects.filter(case=case).count() == 1


def test_the_end_of_a_demotion_beside_a_later_revision_raises_a_flag(case: Case, qa: User) -> None:
    demoted(case, qa, days=1)
    # The stay in nonblocking is the later revision's own, not one that the demotion made.
    LaneEntry.objects.filter(case=case, left_at=None).update(left_at=timezone.now(), left_by="succeeded")
    in_lane(case, "nonblocking")
    assert flags.look() == 1
    assert open_reasons(case) == ["demotion_ended"]


def test_a_demotion_that_was_answered_by_promotion_raises_none(case: Case, qa: User) -> None:
    demoted(case, qa, days=1)
    in_lane(case)
    assert flags.look() == 0


def test_a_demotion_that_runs_raises_none(case: Case, qa: User) -> None:
    demoted(case, qa, days=-1)
    assert flags.look() == 0


def test_a_recording_older_than_the_newest_schema_is_flagged_once_there_is_one(
    case: Case, qa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert flags.look() == 0
    monkeypatch.setattr(flags, "NEWER_SCHEMAS", ("2.1",))
    assert [flags.look(), flags.look()] == [1, 0]
    flags.review_again(qa, case=case, note="Nothing new applies.")
    assert flags.look() == 0
