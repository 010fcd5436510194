"""The audit page, a case's own timeline, and both as files."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from replaycases.accounts.roles import AUDITS
from replaycases.cases import audit_export
from replaycases.cases.models import AuditEvent
from replaycases.web import audit_page, timeline
from replaycases.web.downloads import streamed
from replaycases.web.scope import CaseId, case_or_404, user_of


@login_required
@require_safe
def audit(request: HttpRequest) -> HttpResponse:
    return _page(request)


def _page(request: HttpRequest, *, refused: str = "") -> HttpResponse:
    """The newest events that the filters let through; `refused` is why an export was (422)."""
    user = user_of(request)
    projects = list(audit_export.audited(user))
    if not projects:
        raise PermissionDenied("Audit events are read by: " + ", ".join(sorted(role.label for role in AUDITS)) + ".")
    form = audit_page.AuditForm(request.GET, projects=projects)
    found = audit_export.chosen(user, form.filters()) if form.is_valid() else AuditEvent.objects.none()
    context = {
        "section": "audit",
        "form": form,
        "filtered": any(request.GET.get(name) for name in form.fields),
        "page": audit_page.page_of(found, request.GET.get("before", "")),
        "one_project": len(projects) == 1 or user.is_superuser or form.names_one_project(),
        "refused": refused,
    }
    return render(request, "audit/page.html", context, status=422 if refused else 200)


@login_required
@require_POST
def export(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """The events that the filters in the URL let through."""
    user = user_of(request)
    form = audit_page.AuditForm(request.GET, projects=list(audit_export.audited(user)))
    if not form.is_valid():
        return _page(request, refused="A filter is not known, so nothing was exported.")
    kind: audit_export.Format = "csv" if request.POST.get("format") == "csv" else "jsonl"
    try:
        parts = audit_export.export(user, filters=form.filters(), form=kind)
    except ValidationError as error:
        return _page(request, refused=" ".join(error.messages))
    return streamed(parts, f"audit.{kind}", media_type="text/csv" if kind == "csv" else "application/x-ndjson")


@login_required
@require_safe
def case_timeline(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    case = case_or_404(request, case_id)
    events, action = timeline.events_of(case), request.GET.get("action", "")
    page = audit_page.page_of(events.filter(action=action) if action else events, request.GET.get("before", ""))
    context = {"section": "cases", "tab": "timeline", "case": case, "page": page, "action": action}
    return render(request, "audit/case.html", context)


@login_required
@require_POST
def export_case(request: HttpRequest, case_id: CaseId) -> StreamingHttpResponse:
    case = case_or_404(request, case_id)
    parts = audit_export.export_case(user_of(request), case=case)
    return streamed(parts, f"{case.readable_id}-timeline.jsonl", media_type="application/x-ndjson")
