"""What an audit event means for people: who is told, and in which words. Ids and states, never evidence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from replaycases.accounts import roles as may
from replaycases.cases import decisions, dependency, flags, proposals, recipients
from replaycases.cases.models import (
    AuditEvent,
    Boundary,
    Case,
    Control,
    DecisionKind,
    FixtureRevision,
    FlagReason,
    IncidentReport,
    NotificationKind,
    Proposal,
    ProposalKind,
    ProposalState,
    Stage,
)
from replaycases.cases.policies import APPROVED, REVIEWED
from replaycases.cases.recipients import People


@dataclass(frozen=True, kw_only=True)
class Notice:
    """`text` follows the case's id, or the project's for a `finding`. `occasion` names what it is about where that is
    not the event itself. `tells_actor`: who did it is told too, since a program of theirs did."""

    people: People
    kind: NotificationKind
    text: str
    occasion: str = ""
    finding: IncidentReport | None = None
    tells_actor: bool = False


Rule = Callable[[AuditEvent], Notice | None]


def rules_for(event: AuditEvent) -> tuple[Rule, ...]:
    if event.object_type == "cases.proposal":
        return (_proposal,)
    return RULES.get(event.action, ())


def subject_of(event: AuditEvent, rule: Rule) -> str:
    """Events of one case and rule tell the same if their subject is the same; "" is the case as it stands now."""
    return "" if rule in _OF_CASE else event.object_id


def _of(event: AuditEvent) -> Case:
    assert event.case is not None
    return event.case


def _redaction_waits(event: AuditEvent) -> Notice | None:
    case = _of(event)
    if case.stage != Stage.IN_REVIEW:
        return None
    people = recipients.with_role(case, may.DECIDES_REDACTION) - recipients.contributors(case)
    return Notice(people=people, kind=NotificationKind.REVIEW_WANTED, text="a redaction review waits.")


def _expectation_waits(event: AuditEvent) -> Notice | None:
    case = _of(event)
    if case.stage not in REVIEWED or DecisionKind.EXPECTATION in decisions.standing(case):
        return None
    deciders = recipients.with_role(case, may.DECIDES_EXPECTATION)
    people = (recipients.owners(case, Boundary.PROHIBITED_OUTCOME) & deciders) or deciders
    return Notice(
        people=people - recipients.contributors(case),
        kind=NotificationKind.REVIEW_WANTED,
        text="an expectation waits for its approval.",
        occasion=f"event:{event.sequence}:expectation",
    )


def _reproduction_waits(event: AuditEvent) -> Notice | None:
    """Both approvals stand: the case is marked by hand, once the gates are open."""
    case = _of(event)
    if case.stage != Stage.REDACTION_APPROVED or not case.expectation_approved:
        return None
    markers = recipients.with_role(case, may.REQUESTS_REPLAYS)
    return Notice(
        people=(recipients.owners(case, Boundary.WORKFLOW) & markers) or markers,
        kind=NotificationKind.REVIEW_WANTED,
        text="redaction and expectation are approved, and it waits to be marked as reproduced.",
        occasion=f"event:{event.sequence}:reproduction",
    )


def _dependency_waits(event: AuditEvent) -> Notice | None:
    """The revision is approved, and so readable for who owns the dependency."""
    case = _of(event)
    if case.stage not in APPROVED or not case.expectation_approved or not dependency.leaves_open(case):
        return None
    people = recipients.with_role(case, may.STATES_ACCEPTANCE) - recipients.contributors(case)
    return Notice(
        people=people,
        kind=NotificationKind.REVIEW_WANTED,
        text="a dependency's owner is asked what its fixture does not hold.",
        occasion=f"event:{event.sequence}:dependency",
    )


def _control_waits(event: AuditEvent) -> Notice | None:
    case, control = _of(event), Control.objects.get(pk=event.object_id)
    if case.stage == Stage.QUARANTINED or control.decisions.filter(outcome="approved", voided_at=None).exists():
        return None
    people = recipients.with_role(case, may.DECIDES_REDACTION) - recipients.contributors(case)
    return Notice(
        people=people - {control.created_by_id},
        kind=NotificationKind.REVIEW_WANTED,
        text="a control waits for a review.",
    )


def _returned(event: AuditEvent) -> Notice | None:
    revision = FixtureRevision.objects.get(pk=event.object_id)
    authors = [pk for pk in (revision.created_by_id, revision.on_behalf_of_id) if pk]
    what = event.action.partition(".")[0]
    return Notice(
        people=recipients.still_members(_of(event), authors),
        kind=NotificationKind.RETURNED,
        text=f"the {what} of revision {revision.number} was returned to you.",
    )


def _proposal(event: AuditEvent) -> Notice | None:
    proposal = Proposal.objects.select_related("case__project").get(pk=event.object_id)
    what = ProposalKind(proposal.kind).label.lower()
    if proposal.state == ProposalState.PENDING:
        people = _seconds(proposal)
        text = f"a second person is needed: {what}."
        return Notice(people=people, kind=NotificationKind.SECOND_PERSON_WANTED, text=text)
    if proposal.state == ProposalState.WITHDRAWN:
        return None
    told = {proposal.proposed_by_id}
    if proposal.kind == ProposalKind.DEMOTION and proposal.state == ProposalState.CONFIRMED:
        told |= _owners_of(proposal)
    state = ProposalState(proposal.state).label.lower()
    return Notice(
        people=recipients.still_members(_of(event), told), kind=NotificationKind.DECIDED, text=f"{what} was {state}."
    )


def _seconds(proposal: Proposal) -> People:
    """Who may be the second person. An override is not decided by those whose work the case is."""
    people = recipients.with_role(proposal.case, proposals.confirmers(proposal)) - {proposal.proposed_by_id}
    if proposal.kind == ProposalKind.OVERRIDE:
        people -= recipients.contributors(proposal.case)
    return people


def _owners_of(proposal: Proposal) -> People:
    if proposal.owner_team is not None:
        return set(proposal.owner_team.members.values_list("pk", flat=True))
    return {proposal.owner_id} if proposal.owner_id else set()


def _verdict_changed(event: AuditEvent) -> Notice | None:
    case = _of(event)
    if not case.previous_verdict or case.verdict_since is None or case.verdict != case.last_verdict:
        return None
    was, now = (label.replace("_", " ") for label in (case.previous_verdict, case.last_verdict))
    return Notice(
        people=recipients.owners(case),
        kind=NotificationKind.VERDICT_CHANGED,
        text=f"the verdict was {was}, and is {now}.",
        occasion=f"verdict:{case.pk}:{case.verdict_since.isoformat()}",
    )


def _uncontained(event: AuditEvent) -> Notice | None:
    case = _of(event)
    if not case.security_incident or case.contained_at is not None:
        return None
    return Notice(
        people=recipients.with_role(case, may.CONFIRMS_CONTAINMENT),
        kind=NotificationKind.REVIEW_WANTED,
        text="a security incident waits for its containment to be confirmed.",
    )


def _flagged(event: AuditEvent) -> Notice | None:
    case = _of(event)
    if not case.flagged:
        return None
    reason = FlagReason(json.loads(event.after)["reason"])
    roles = may.PROMOTES | (may.DECIDES_REDACTION if reason in flags.OF_REDACTION else frozenset())
    people = recipients.owners(case) | recipients.with_role(case, roles)
    text = f"it must be reviewed again: {reason.label.lower()}."
    return Notice(people=people, kind=NotificationKind.FLAGGED, text=text)


def _finding_waits(event: AuditEvent) -> Notice | None:
    """Nothing that the grader said: only that something waits."""
    finding = IncidentReport.objects.get(pk=event.object_id)
    if finding.settled_at is not None:
        return None
    people = recipients.with_role(finding, may.HEARS_OF_FINDINGS)
    return Notice(
        people=recipients.unaware(people, finding),
        kind=NotificationKind.FINDING_REPORTED,
        text="a finding was reported, and waits for a responder.",
        finding=finding,
        tells_actor=bool(event.token),
    )


_OF_CASE: tuple[Rule, ...] = (
    _redaction_waits,
    _expectation_waits,
    _reproduction_waits,
    _dependency_waits,
    _verdict_changed,
)
_APPROVED: tuple[Rule, ...] = (_reproduction_waits, _dependency_waits)
_WAITS: tuple[Rule, ...] = (_redaction_waits, _expectation_waits)
RULES: Mapping[str, tuple[Rule, ...]] = {
    "case.created": (_uncontained,),
    "security_incident.flagged": (_uncontained,),
    "case.submitted": _WAITS,
    "case.sent_back": _WAITS,
    "case.reopened": _WAITS,
    "case.back_in_review": _WAITS,
    "revision.added": _WAITS,
    "control.added": (_control_waits,),
    "redaction.approved": _APPROVED,
    "expectation.approved": _APPROVED,
    "redaction.returned": (_returned,),
    "expectation.returned": (_returned,),
    "comparison.computed": (_verdict_changed,),
    "case.flagged": (_flagged,),
    "incident_report.received": (_finding_waits,),
}
WITHOUT_CASE = frozenset({"incident_report.received"})
