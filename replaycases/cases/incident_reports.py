"""Findings of graders and monitors that come in before anybody stated a failure: they wait for a responder.

A case needs a failure statement, which no program writes. So what comes is kept as a report, told to responders, and
settled once: a person makes a case of it, or says why not.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import CAPTURES, CREATES_CASES
from replaycases.cases import details, events, intake, policies, texts
from replaycases.cases.models import Capture, Case, IncidentReport
from replaycases.cases.policies import InvalidTransition

_NEEDED = "This is needed."


def report(
    actor: User,
    *,
    project: Project,
    grader: str,
    version: str,
    label: str,
    trace_id: str,
    result: str = "",
    title: str = "",
) -> IncidentReport:
    """Keep a finding. The same grader's same label of the same trace is one report, as it was first, also once it is
    settled. Raises PermissionDenied, ValidationError by field."""
    access.require(actor, project, *CAPTURES)
    named = {
        "grader": texts.kept(grader, cap=texts.NAME_CAP, missing=_NEEDED, field="grader"),
        "label": texts.kept(label, cap=texts.NAME_CAP, missing=_NEEDED, field="label"),
        "trace_id": texts.kept(trace_id, cap=texts.NAME_CAP, missing=_NEEDED, field="trace_id"),
    }
    said = {
        "version": texts.kept(version, cap=texts.NAME_CAP, missing=_NEEDED, field="version"),
        "result": texts.kept(result, field="result"),
        "title": texts.kept(title, cap=texts.TITLE_CAP, field="title"),
    }
    with transaction.atomic():
        policies.require_roles_locked(actor, project, *CAPTURES)
        there = IncidentReport.objects.filter(project=project, **named).first()
        if there is not None:
            return there
        made = IncidentReport.objects.create(project=project, reported_by=actor, **named, **said)
        _record(actor, made, "incident_report.received", None)
    return made


def dismiss(actor: User, *, incident_report: IncidentReport, reason: str) -> IncidentReport:
    """No case is made of it, for this reason. Raises PermissionDenied, InvalidTransition once it is settled,
    ValidationError without a reason."""
    policies.refuse_tokens(actor)
    access.require(actor, incident_report.project, *CREATES_CASES)
    said = texts.kept(reason, missing="Say why no case is made of it.", field="reason")
    with transaction.atomic():
        kept = _locked(actor, incident_report)
        kept.reason = said
        _settle(actor, kept)
        _record(actor, kept, "incident_report.dismissed", None)
    return kept


def take(
    actor: User,
    *,
    incident_report: IncidentReport,
    title: str,
    incident_id: str,
    trigger: str,
    prohibited_outcome: str,
    deciding_evidence: str,
) -> Case:
    """A new case with this failure statement, without a fixture, which keeps the finding as a grader's. Raises
    PermissionDenied, InvalidTransition once it is settled, and as `intake.create_case`."""
    policies.refuse_tokens(actor)
    with transaction.atomic():
        kept = _locked(actor, incident_report)
        case = intake.create_case(
            actor,
            project=kept.project,
            title=title,
            incident_id=incident_id,
            trigger=trigger,
            prohibited_outcome=prohibited_outcome,
            deciding_evidence=deciding_evidence,
        )
        _becomes(actor, kept, case)
    return case


def settle_with(actor: User, *, incident_reports: Iterable[IncidentReport], capture: Capture, case: Case) -> None:
    """Settle findings about the trace of the capture with the new case that was made of it, which keeps each as a
    grader's, as `take` does. Raises PermissionDenied, InvalidTransition for one that is settled, ValidationError for
    one of another trace."""
    for incident_report in incident_reports:
        policies.refuse_tokens(actor)
        if not captures_of(incident_report).filter(pk=capture.pk).exists():
            other = f"“{incident_report}” is about another trace than {capture.readable_id}."
            raise ValidationError({"findings": other})
        _becomes(actor, _locked(actor, incident_report), case)


def open_about(capture: Capture) -> QuerySet[IncidentReport]:
    """What of the trace of the capture waits still, the oldest first."""
    return about(capture).filter(settled_at=None).order_by("reported_at")


def waiting(user: User) -> QuerySet[IncidentReport]:
    """Those that wait for this person to act, the oldest first."""
    mine = user.memberships.filter(role__in=CREATES_CASES).values("project")
    return IncidentReport.objects.filter(settled_at=None, project__in=mine).order_by("reported_at")


def captures_of(incident_report: IncidentReport) -> QuerySet[Capture]:
    """What was captured of its trace."""
    named = {incident_report.trace_id, incident_report.trace_id.lower()}  # what came over OTLP is in lower case
    return Capture.objects.filter(project=incident_report.project_id, trace_id__in=named)


def about(capture: Capture) -> QuerySet[IncidentReport]:
    """What was reported of the trace of the capture."""
    if not capture.trace_id:
        return IncidentReport.objects.none()
    return IncidentReport.objects.filter(
        project=capture.project_id, trace_id__in={capture.trace_id, capture.trace_id.upper()}
    )


def _becomes(actor: User, kept: IncidentReport, case: Case) -> None:
    """The locked finding is settled by this case, which nobody has said anything else of yet."""
    details.record_grader_finding(
        actor, case=case, grader=kept.grader, version=kept.version, label=kept.label, result=kept.result
    )
    details.edit_provenance(
        actor,
        case=case,
        incident_url="",
        trace_id=kept.trace_id,
        trace_url="",
        affected=None,
        fixed=None,
        covering_test="",
    )
    kept.case = case
    _settle(actor, kept)
    _record(actor, kept, "incident_report.taken", case)


def _locked(actor: User, incident_report: IncidentReport) -> IncidentReport:
    policies.require_roles_locked(actor, incident_report.project, *CREATES_CASES)
    rows = IncidentReport.objects.select_for_update(of=("self",)).select_related("project")
    kept = rows.get(pk=incident_report.pk)
    if kept.settled_at is not None:
        raise InvalidTransition("This report is settled already. Look again.")
    return kept


def _settle(actor: User, kept: IncidentReport) -> None:
    kept.settled_by, kept.settled_at = actor, timezone.now()
    kept.save(update_fields=["case", "reason", "settled_by", "settled_at"])


def _record(actor: User, kept: IncidentReport, action: str, case: Case | None) -> None:
    after = {"grader": kept.grader, "version": kept.version, "label": kept.label, "trace_id": kept.trace_id}
    if kept.reason:
        after["reason"] = kept.reason
    events.record(actor=actor, action=action, subject=kept, project=kept.project, case=case, after=after)
