from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import DatabaseError, transaction

from replaycases.accounts import tokens
from replaycases.accounts.models import User
from replaycases.cases import captures, drafts, incident_reports, people
from replaycases.cases.models import AuditEvent, Capture, Case, Draft, IncidentReport, Origin
from replaycases.cases.policies import InvalidTransition
from tests import factories
from tests.api.otlp_requests import TRACE, as_json, chat

pytestmark = pytest.mark.django_db
FINDING = {"grader": "monitor", "version": "3", "label": "claimed", "trace_id": TRACE, "title": "A refund"}

STATED = ("title", "trigger", "prohibited_outcome", "deciding_evidence")


@pytest.fixture
def of() -> factories.People:
    return factories.people(factories.project())


@pytest.fixture
def finding(of: factories.People) -> IncidentReport:
    return reported(program(of))


def program(of: factories.People) -> User:
    _, secret = people.create_token(of.responder, project=of.project, name="monitor", scopes=["captures"], days=1)
    user = tokens.authenticate(secret)
    assert user is not None
    return user


def reported(actor: User, **said: str) -> IncidentReport:
    assert actor.token is not None
    return incident_reports.report(actor, project=actor.token.project, **{**FINDING, **said})


def take(actor: User, finding: IncidentReport) -> Case:
    said: dict[str, Any] = {n: text for n, text in factories.STATEMENT.items() if n != "reported_symptom"}
    return incident_reports.take(actor, incident_report=finding, **said)


def test_a_finding_waits_for_responders_and_for_nobody_else(of: factories.People, finding: IncidentReport) -> None:
    assert list(incident_reports.waiting(of.responder)) == [finding]
    for other in (of.qa, of.owner, of.viewer, factories.everyone(factories.project("XX"))):
        assert not incident_reports.waiting(other)


def test_the_same_finding_is_reported_once_also_when_it_is_settled(
    of: factories.People, finding: IncidentReport
) -> None:
    assert reported(program(of), version="4", result="again") == finding
    incident_reports.dismiss(of.responder, incident_report=finding, reason="It is a test.")
    assert reported(program(of)) == finding
    assert IncidentReport.objects.count() == 1
    assert AuditEvent.objects.filter(action="incident_report.received").count() == 1
    for other in ({"label": "x"}, {"trace_id": "x"}, {"grader": "x"}):
        assert reported(program(of), **other) != finding


def test_a_case_is_made_of_it_with_the_graders_finding_and_the_trace(
    of: factories.People, finding: IncidentReport
) -> None:
    case = take(of.responder, finding)
    recorded = case.grader_findings.get()
    assert (recorded.grader, recorded.version, recorded.label) == ("monitor", "3", "claimed")
    assert recorded.confirmed_at is None
    assert factories.fresh(case).provenance.trace_id == TRACE
    finding.refresh_from_db()
    assert (finding.case, finding.settled_by) == (case, of.responder)
    assert not incident_reports.waiting(of.responder)


def test_it_is_settled_once(of: factories.People, finding: IncidentReport) -> None:
    incident_reports.dismiss(of.responder, incident_report=finding, reason="It is a test.")
    with pytest.raises(InvalidTransition):
        take(of.responder, finding)
    with pytest.raises(InvalidTransition):
        incident_reports.dismiss(of.responder, incident_report=finding, reason="Again.")
    assert not Case.objects.exists()


def test_a_dismissal_says_why(of: factories.People, finding: IncidentReport) -> None:
    with pytest.raises(ValidationError):
        incident_reports.dismiss(of.responder, incident_report=finding, reason=" ")
    assert incident_reports.waiting(of.responder)


def test_a_program_settles_nothing(of: factories.People, finding: IncidentReport) -> None:
    with pytest.raises(PermissionDenied):
        incident_reports.dismiss(program(of), incident_report=finding, reason="No.")
    with pytest.raises(PermissionDenied):
        take(program(of), finding)


@pytest.mark.parametrize("role", ["qa", "owner", "engineer", "privacy", "viewer"])
def test_only_responders_report_and_settle(of: factories.People, finding: IncidentReport, role: str) -> None:
    actor = getattr(of, role)
    with pytest.raises(PermissionDenied):
        incident_reports.report(actor, project=of.project, **FINDING)
    with pytest.raises(PermissionDenied):
        incident_reports.dismiss(actor, incident_report=finding, reason="No.")
    with pytest.raises(PermissionDenied):
        take(actor, finding)


@pytest.mark.parametrize("part", ["grader", "version", "label", "trace_id"])
def test_a_finding_that_lacks_a_part_is_refused(of: factories.People, part: str) -> None:
    with pytest.raises(ValidationError) as refused:
        reported(program(of), **{part: " "})
    assert set(refused.value.message_dict) == {part}


def test_the_captures_of_its_trace_are_found(of: factories.People, finding: IncidentReport) -> None:
    capture = captures.bring(of.responder, project=of.project, data=as_json(chat()), origin=Origin.API, trace_id=TRACE)
    assert list(incident_reports.captures_of(finding)) == [capture]


def test_a_file_brings_the_id_of_its_trace_unless_it_holds_several(
    of: factories.People, finding: IncidentReport
) -> None:
    bring = partial(captures.bring, of.responder, project=of.project, origin=Origin.UPLOAD)
    capture = bring(data=as_json(chat()))
    assert list(incident_reports.captures_of(finding)) == [capture]
    assert list(incident_reports.open_about(capture)) == [finding]
    assert bring(data=as_json(chat(), chat(2, trace="cd" * 16))).trace_id == ""


def test_the_case_of_its_capture_settles_it_and_keeps_it(of: factories.People, finding: IncidentReport) -> None:
    capture = factories.drafted(of.project, of.responder)
    draft, told = Draft.objects.get(), {n: factories.STATEMENT[n] for n in STATED}
    make = partial(drafts.make_case, draft=draft, seen=draft.choices.digest, findings=[finding], **told)
    with pytest.raises(ValidationError, match="about another trace"):
        make(of.responder)
    Capture.objects.filter(pk=capture.pk).update(trace_id=TRACE)
    _, secret = people.create_token(of.responder, project=of.project, name="x", scopes=["cases"], days=1)
    token = tokens.authenticate(secret)
    assert token is not None
    with pytest.raises(PermissionDenied):
        make(token)
    assert not Case.objects.exists()
    case = make(of.responder, security_incident=True)
    finding.refresh_from_db()
    assert (finding.case, finding.settled_by, case.security_incident) == (case, of.responder, True)
    assert case.grader_findings.get().label == "claimed"
    assert factories.fresh(case).provenance.trace_id == TRACE


@pytest.mark.parametrize("change", [{"label": "other"}, {"reason": "x", "settled_at": None}])
def test_a_settled_report_is_changed_by_nobody(
    of: factories.People, finding: IncidentReport, change: dict[str, Any]
) -> None:
    incident_reports.dismiss(of.responder, incident_report=finding, reason="It is a test.")
    with pytest.raises(DatabaseError, match="immutable"), transaction.atomic():
        IncidentReport.objects.update(**change)
    with pytest.raises(DatabaseError, match="immutable"), transaction.atomic():
        IncidentReport.objects.all().delete()
