from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import IntegrityError, transaction
from django.db.models import Model
from django.test import override_settings
from django.utils import timezone

from replaycases.accounts.models import Membership, Project, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import events, flags, inbox, incident_reports, mailing, notifying, people, proposals, recipients
from replaycases.cases.models import (
    Boundary,
    Case,
    CaseOwner,
    Decision,
    DependencyStatement,
    FlagReason,
    IncidentReport,
    Notification,
    NotificationCursor,
    NotificationKind,
    Proposal,
    ProposalKind,
)
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(project: Project, responder: User) -> Case:
    return factories.case(project, responder)


def happened(case: Case, action: str, actor: User | None = None, subject: Model | None = None, **after: str) -> None:
    with transaction.atomic():
        events.record(
            actor=actor,
            action=action,
            subject=subject or case,
            project=case.project,
            case=case,
            after=after,
        )


def submitted(case: Case, by: User) -> None:
    Case.objects.filter(pk=case.pk).update(stage="in_review")
    happened(case, "case.submitted", by)


def told(user: User) -> list[str]:
    return sorted(Notification.objects.filter(user=user).values_list("text", flat=True))


REVIEW = "RC-1: a redaction review waits."
EXPECTATION = "RC-1: an expectation waits for its approval."


FINDING = "RC: a finding was reported, and waits for a responder."


# --- who is told what -----------------------------------------------------------------------------------------------


def test_a_submitted_case_tells_reviewers_and_incident_owners_but_not_whose_work_it_is(
    case: Case, project: Project, responder: User, reviewer: User, owner: User
) -> None:
    Membership.objects.create(project=project, user=responder, role=Role.PRIVACY_REVIEWER)
    viewer = factories.person(project, Role.VIEWER)
    submitted(case, factories.person(project, Role.RESPONDER))
    notifying.look()
    assert (told(reviewer), told(owner), told(responder), told(viewer)) == ([REVIEW], [EXPECTATION], [], [])


def test_the_cases_own_incident_owner_is_asked_before_all_the_others(
    case: Case, project: Project, responder: User, owner: User
) -> None:
    other = factories.person(project, Role.INCIDENT_OWNER)
    team = Team.objects.create(project=project, name="Refunds")
    team.members.add(other)
    CaseOwner.objects.create(case=case, boundary=Boundary.PROHIBITED_OUTCOME, team=team)
    submitted(case, responder)
    notifying.look()
    assert (told(other), told(owner)) == ([EXPECTATION], [])


def test_who_lost_the_role_or_left_the_project_is_not_told(
    case: Case, responder: User, reviewer: User, owner: User
) -> None:
    Membership.objects.filter(user=reviewer).update(role=Role.VIEWER)
    User.objects.filter(pk=owner.pk).update(is_active=False)
    submitted(case, responder)
    notifying.look()
    assert not Notification.objects.exists()


@pytest.mark.parametrize("last", ["redaction.approved", "expectation.approved"])
def test_a_case_with_both_approvals_tells_who_may_mark_it_as_reproduced(
    case: Case, project: Project, owner: User, last: str
) -> None:
    engineer, qa = factories.person(project, Role.WORKFLOW_ENGINEER), factories.person(project, Role.QA)
    Case.objects.update(stage="redaction_approved")
    happened(case, last, owner)
    notifying.look()
    assert told(qa) == []
    Case.objects.update(expectation_approved=True)
    CaseOwner.objects.create(case=case, boundary=Boundary.WORKFLOW, user=engineer)
    happened(case, last, owner)
    notifying.look()
    said = "RC-1: redaction and expectation are approved, and it waits to be marked as reproduced."
    assert (told(engineer), told(qa), told(owner)) == ([said], [], [])


def test_an_approved_case_tells_dependency_owners_what_its_fixture_leaves_open_until_they_said_it(
    case: Case, project: Project, responder: User, owner: User
) -> None:
    vendor = factories.person(project, Role.DEPENDENCY_OWNER)
    Membership.objects.create(project=project, user=responder, role=Role.DEPENDENCY_OWNER)  # whose work it is
    Case.objects.update(stage="redaction_approved")
    happened(case, "redaction.approved", owner)
    notifying.look()
    assert told(vendor) == []  # they may not read it yet
    Case.objects.update(expectation_approved=True)
    happened(case, "expectation.approved", owner)
    notifying.look()
    said = ["RC-1: a dependency's owner is asked what its fixture does not hold."]
    assert (told(vendor), [one for one in told(responder) if "dependency" in one]) == (said, [])
    confirmed = {"acceptance": "unknown", "no_effect_confirmed": True, "said_by": vendor, "said_at": timezone.now()}
    DependencyStatement.objects.create(case=case, revision=factories.revision(case), **confirmed)
    happened(case, "expectation.approved", owner)
    notifying.look()
    assert told(vendor) == said


def test_a_returned_revision_tells_its_author(case: Case, responder: User, reviewer: User) -> None:
    happened(case, "redaction.returned", reviewer, factories.revision(case))
    notifying.look()
    assert told(responder) == ["RC-1: the redaction of revision 1 was returned to you."]


def test_a_proposal_tells_who_may_confirm_and_then_who_proposed(case: Case, project: Project, reviewer: User) -> None:
    security = factories.person(project, Role.SECURITY_OWNER)
    proposal = Proposal.objects.create(
        case=case,
        kind=ProposalKind.EXTENSION,
        reason="More time.",
        until=timezone.now() + timedelta(days=3),
        proposed_by=reviewer,
        proposed_at=timezone.now(),
    )
    happened(case, "proposal.made", reviewer, proposal)
    notifying.look()
    assert told(security) == ["RC-1: a second person is needed: longer life of raw evidence."]
    Proposal.objects.update(state="declined", decided_by=security, decided_at=timezone.now())
    happened(case, "proposal.declined", security, proposal)
    notifying.look()
    assert told(reviewer) == ["RC-1: longer life of raw evidence was declined."]
    assert len(told(security)) == 1


def test_a_changed_verdict_tells_the_owners_once(case: Case, owner: User, reviewer: User) -> None:
    CaseOwner.objects.create(case=case, boundary=Boundary.PROHIBITED_OUTCOME, user=owner)
    Case.objects.update(
        verdict="diverged", last_verdict="diverged", previous_verdict="still_failing", verdict_since=timezone.now()
    )
    for _ in range(2):
        happened(case, "comparison.computed")
        notifying.look()
    assert told(owner) == ["RC-1: the verdict was still failing, and is diverged."]
    assert told(reviewer) == []


def test_a_first_verdict_is_no_change(case: Case, owner: User) -> None:
    CaseOwner.objects.create(case=case, boundary=Boundary.PROHIBITED_OUTCOME, user=owner)
    Case.objects.update(verdict="diverged", last_verdict="diverged", verdict_since=timezone.now())
    happened(case, "comparison.computed")
    notifying.look()
    assert told(owner) == []


def test_a_flag_tells_owners_and_qa(case: Case, project: Project, owner: User) -> None:
    qa = factories.person(project, Role.QA)
    CaseOwner.objects.create(case=case, boundary=Boundary.PROHIBITED_OUTCOME, user=owner)
    flags.raise_flag(None, case=case, reason=FlagReason.DRIFTED, detail="One field is gone.")
    notifying.look()
    assert [told(user) for user in (qa, owner)] == [["RC-1: it must be reviewed again: a probe found drift."]] * 2


def test_what_was_answered_before_the_look_is_not_asked_for(
    case: Case, responder: User, reviewer: User, owner: User
) -> None:
    submitted(case, responder)
    revision = factories.revision(case)
    Decision.objects.create(
        case=case,
        revision=revision,
        kind="expectation",
        outcome="approved",
        content_hash=revision.content_hash,
        fixture_hash=revision.fixture_hash,
        checks_hash=revision.checks_hash,
        decided_by=owner,
        decided_at=timezone.now(),
    )
    Case.objects.update(stage="redaction_approved")
    notifying.look()
    assert not Notification.objects.exists()


def test_an_override_is_not_asked_of_those_whose_work_the_case_is(
    case: Case, responder: User, owner: User, project: Project, reviewer: User
) -> None:
    Membership.objects.create(project=project, user=responder, role=Role.INCIDENT_OWNER)
    proposal = Proposal.objects.create(
        case=case,
        kind=ProposalKind.OVERRIDE,
        gate="red",
        revision=factories.revision(case),
        reason="It cannot be built.",
        until=timezone.now() + timedelta(days=3),
        proposed_by=reviewer,
        proposed_at=timezone.now(),
    )
    happened(case, "proposal.made", reviewer, proposal)
    notifying.look()
    assert (told(owner), told(responder)) == (["RC-1: a second person is needed: override of a gate."], [])


def test_a_security_incident_tells_the_security_owner(case: Case, project: Project, responder: User) -> None:
    security = factories.person(project, Role.SECURITY_OWNER)
    notifying.look()
    assert told(security) == []
    Case.objects.update(security_incident=True)
    happened(case, "security_incident.flagged", responder)
    notifying.look()
    assert told(security) == ["RC-1: a security incident waits for its containment to be confirmed."]


# --- each event once, in order, whatever happens --------------------------------------------------------------------


def test_a_second_look_reads_only_what_is_new(case: Case, responder: User, reviewer: User) -> None:
    submitted(case, responder)
    notifying.look()
    assert notifying.look() == 0
    submitted(case, responder)
    assert notifying.look() == 1
    assert told(reviewer) == [REVIEW, REVIEW]


def test_one_event_read_twice_tells_once(case: Case, responder: User, reviewer: User) -> None:
    submitted(case, responder)
    notifying.look()
    NotificationCursor.objects.update(sequence=0)
    notifying.look()
    assert told(reviewer) == [REVIEW]


def test_several_events_that_mean_the_same_tell_once(case: Case, responder: User, reviewer: User) -> None:
    submitted(case, responder)
    happened(case, "revision.added", responder, factories.revision(case))
    happened(case, "case.back_in_review", responder)
    notifying.look()
    assert told(reviewer) == [REVIEW]


def test_a_backlog_is_read_to_its_end(
    case: Case, responder: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifying, "BATCH", 2)
    for _ in range(4):
        happened(case, "case.reproduced")
    submitted(case, responder)
    notifying.look()
    assert told(reviewer) == [REVIEW]
    assert NotificationCursor.objects.get().sequence == 6


def test_an_event_that_cannot_be_told_of_holds_up_nothing(
    case: Case, responder: User, reviewer: User, caplog: pytest.LogCaptureFixture
) -> None:
    happened(case, "redaction.returned", reviewer, case)  # its subject is no revision
    submitted(case, responder)
    notifying.look()
    assert told(reviewer) == [REVIEW]
    assert "cannot be notified about" in caplog.text


def test_notifications_hold_no_words_of_the_incident(case: Case, responder: User, reviewer: User) -> None:
    submitted(case, responder)
    notifying.look()
    assert "refund" not in told(reviewer)[0].lower()


def test_every_kind_of_proposal_has_somebody_who_confirms() -> None:
    assert set(proposals.CONFIRMS) == set(ProposalKind)


# --- mail -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def waiting(case: Case, reviewer: User) -> User:
    """Two notifications for the reviewer."""
    for occasion in "ab":
        recipients.notify(
            [reviewer.pk], case=case, kind=NotificationKind.REVIEW_WANTED, occasion=occasion, text=f"RC-1: {occasion}."
        )
    return reviewer


def test_one_mail_a_person_with_ids_only_and_never_again(waiting: User) -> None:
    assert [mailing.mail(), mailing.mail()] == [1, 0]
    assert [message.to for message in mail.outbox] == [[waiting.email]]
    assert mail.outbox[0].subject == "replaycases: 2 things to know"
    assert "- RC-1: a.\n- RC-1: b.\n" in mail.outbox[0].body
    assert "refund" not in mail.outbox[0].body.lower()


@override_settings(REPLAYCASES_BASE_URL="https://cases.example")
def test_a_mail_names_the_page_by_the_deployments_own_address(waiting: User) -> None:
    mailing.mail()
    assert "\nhttps://cases.example/notifications/\n" in mail.outbox[0].body


def test_a_refused_mail_is_tried_again_and_holds_up_nobody(
    waiting: User, case: Case, responder: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipients.notify([responder.pk], case=case, kind=NotificationKind.DECIDED, occasion="c", text="RC-1: c.")
    send = EmailBackend.send_messages

    def refusing(self: EmailBackend, messages: list[mail.EmailMessage]) -> int:
        if messages[0].to == [waiting.email]:
            raise OSError("no route")
        return send(self, messages)

    monkeypatch.setattr(EmailBackend, "send_messages", refusing)
    assert mailing.mail() == 1
    monkeypatch.setattr(EmailBackend, "send_messages", send)
    assert mailing.mail() == 1
    assert [message.to for message in mail.outbox] == [[responder.email], [waiting.email]]


def test_old_news_and_who_left_the_project_are_not_mailed(waiting: User) -> None:
    Notification.objects.filter(key="a").update(created_at=timezone.now() - mailing.NEWS)
    mailing.mail()
    assert "RC-1: a." not in mail.outbox[0].body
    Notification.objects.update(mailed_at=None)
    Membership.objects.filter(user=waiting).delete()
    assert mailing.mail() == 0


# --- findings: before there is a case -------------------------------------------------------------------------------


def report(actor: User, project: Project, trace: str = "t1") -> IncidentReport:
    said = {"grader": "monitor", "version": "3", "label": "claimed", "title": "A secret refund"}
    return incident_reports.report(actor, project=project, trace_id=trace, **said)


def test_a_finding_tells_responders_and_incident_owners_without_what_it_says(
    project: Project, responder: User, owner: User, reviewer: User
) -> None:
    token, _ = people.create_token(responder, project=project, name="monitor", scopes=["captures"], days=1)
    program = User.objects.get(pk=responder.pk)
    program.token = token
    finding = report(program, project)
    notifying.look()
    assert {user: told(user) for user in (responder, owner, reviewer)} == {
        responder: [FINDING],  # a program of theirs reported it
        owner: [FINDING],
        reviewer: [],
    }
    assert Notification.objects.filter(user=owner).get().incident_report == finding
    assert mailing.mail() == 2
    assert "secret" not in mail.outbox[0].body
    assert FINDING in mail.outbox[0].body


def test_findings_are_told_once_until_that_is_read(project: Project, responder: User, owner: User) -> None:
    for trace in ("t1", "t2"):
        report(responder, project, trace)
        notifying.look()
    assert told(owner) == [FINDING]
    inbox.mark_read(owner, notification=Notification.objects.get(user=owner))
    report(responder, project, "t3")
    notifying.look()
    assert told(owner) == [FINDING, FINDING]


def test_of_a_finding_that_is_settled_nobody_is_told(project: Project, responder: User, owner: User) -> None:
    incident_reports.dismiss(responder, incident_report=report(responder, project), reason="A test.")
    notifying.look()
    assert not Notification.objects.exists()


def test_who_left_the_project_hears_no_more_of_its_findings(project: Project, responder: User, owner: User) -> None:
    report(responder, project)
    notifying.look()
    assert inbox.of(owner).count() == 1
    owner.memberships.all().delete()
    assert inbox.of(owner).count() == mailing.mail() == 0


def test_a_notification_is_about_one_thing(case: Case, project: Project, responder: User) -> None:
    finding = report(responder, project)
    both = Notification(user=responder, case=case, incident_report=finding, key="x", created_at=timezone.now())
    for wrong in (both, Notification(user=responder, key="y", created_at=timezone.now())):
        wrong.kind = NotificationKind.FINDING_REPORTED
        with pytest.raises(IntegrityError), transaction.atomic():
            wrong.save()
