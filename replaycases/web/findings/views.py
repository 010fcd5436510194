"""What graders and monitors reported: the list, one finding, and what a responder makes of it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from replaycases.accounts import access
from replaycases.accounts.roles import CREATES_CASES
from replaycases.cases import incident_reports, texts, trace_captures
from replaycases.cases.models import BufferedTrace, IncidentReport
from replaycases.cases.policies import InvalidTransition
from replaycases.importers.findings import ImportRefused
from replaycases.web.forms import StatementForm, StyledForm
from replaycases.web.pages import page_of
from replaycases.web.scope import user_of


class CaseForm(StatementForm):
    """The failure statement of the case that is opened."""

    incident_id = forms.CharField(max_length=texts.NAME_CAP, label="Incident", help_text="The incident's own id.")
    field_order = ["title", "incident_id", "trigger", "prohibited_outcome", "deciding_evidence"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["reported_symptom"]  # what was reported is the finding


class DismissalForm(StyledForm):
    reason = forms.CharField(
        max_length=texts.TEXT_CAP,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Why no case is made of it. It stays readable with the finding.",
    )


@login_required
@require_safe
def finding_list(request: HttpRequest) -> HttpResponse:
    """Every finding, those that wait first."""
    seen = IncidentReport.objects.visible_to(user_of(request)).select_related("project", "case__project", "settled_by")
    page = page_of(request, seen.order_by(F("settled_at").desc(nulls_first=True), "reported_at"))
    return render(request, "findings/list.html", {"section": "captures", "page": page})


@login_required
@require_safe
def finding(request: HttpRequest, pk: UUID) -> HttpResponse:
    return _page(request, _loaded(request, pk))


@login_required
@require_POST
def take(request: HttpRequest, pk: UUID) -> HttpResponse:
    report, form = _to_settle(request, pk), CaseForm(request.POST)
    if form.is_valid():
        try:
            case = incident_reports.take(user_of(request), incident_report=report, **form.cleaned_data)
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            messages.success(request, f"{case.readable_id} is open. It keeps the finding; a fixture comes next.")
            return redirect("case", case.readable_id)
    return _page(request, report, case_form=form, status=422)


@login_required
@require_POST
def dismiss(request: HttpRequest, pk: UUID) -> HttpResponse:
    report, form = _to_settle(request, pk), DismissalForm(request.POST)
    if form.is_valid():
        try:
            incident_reports.dismiss(user_of(request), incident_report=report, reason=form.cleaned_data["reason"])
        except ValidationError as refused:
            form.add_error(None, " ".join(refused.messages))
        else:
            messages.success(request, "Dismissed. The finding and the reason stay.")
            return redirect("finding", pk=pk)
    return _page(request, report, dismissal_form=form, status=422)


@login_required
@require_POST
def capture(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The trace of the finding, as far as a collector sent it, becomes a capture."""
    report, user = _loaded(request, pk), user_of(request)
    try:
        made = trace_captures.capture_trace(user, project=report.project, trace_id=report.trace_id)
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    except InvalidTransition as refused:
        messages.error(request, str(refused))
    except ImportRefused as refused:
        messages.error(request, f"The trace cannot be captured: {refused.finding.message}. {refused.finding.hint}")
    else:
        messages.success(request, f"{made.readable_id} is captured. This is what the trace holds.")
        return redirect("capture", made.readable_id)
    return redirect("finding", pk=pk)


def _loaded(request: HttpRequest, pk: UUID) -> IncidentReport:
    seen = IncidentReport.objects.visible_to(user_of(request))
    return get_object_or_404(seen.select_related("project", "case__project", "reported_by", "settled_by"), pk=pk)


def _to_settle(request: HttpRequest, pk: UUID) -> IncidentReport:
    """For who may settle it: nobody else is told what is missing in a form that they were not shown."""
    report = _loaded(request, pk)
    access.require(user_of(request), report.project, *CREATES_CASES)
    return report


def _page(
    request: HttpRequest,
    report: IncidentReport,
    *,
    case_form: CaseForm | None = None,
    dismissal_form: DismissalForm | None = None,
    status: int = 200,
) -> HttpResponse:
    captured = incident_reports.captures_of(report).select_related("project").order_by("number")
    context = {
        "section": "captures",
        "finding": report,
        "captures": captured,
        "buffered": BufferedTrace.objects.filter(
            project=report.project, trace_id=report.trace_id.lower(), capture=None
        ).first(),
        "may_settle": access.has_any(user_of(request), report.project, CREATES_CASES),
        "case_form": case_form or CaseForm(initial={"title": report.title}),
        "dismissal_form": dismissal_form or DismissalForm(),
    }
    return render(request, "findings/detail.html", context, status=status)
