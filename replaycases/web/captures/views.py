"""Captures: the list, bringing one in, and what one of them holds."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from replaycases.accounts.models import Project
from replaycases.accounts.roles import CAPTURES
from replaycases.cases import captures, evidence, incident_reports, outlines
from replaycases.cases.models import Capture
from replaycases.importers.findings import ImportRefused
from replaycases.importers.registry import FORMATS
from replaycases.web.captures import loading, report_page
from replaycases.web.captures.forms import CaptureForm
from replaycases.web.captures.list_page import TITLES, CaptureFilter
from replaycases.web.captures.loading import CaptureId
from replaycases.web.forms import projects_where
from replaycases.web.pages import page_of, page_of_many
from replaycases.web.scope import user_of


@login_required
@require_safe
def capture_list(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    projects = list(Project.objects.visible_to(user).order_by("key"))
    found = CaptureFilter(request.GET, user=user, projects=projects)
    page = page_of_many(request, found.qs if found.is_valid() else found.qs.none())
    context = {
        "section": "captures",
        "filter": found,
        "selects": [found.form[name] for name in ("project", "format", "origin", "state")],
        "filtered": any(request.GET.get(name) for name in found.filters),
        "page": page,
        "rows": [(capture, TITLES.get(capture.format, capture.format)) for capture in page.object_list],
        "has_projects": bool(projects),
        "may_capture": projects_where(user, CAPTURES).exists(),
    }
    return render(request, "captures/list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_capture(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    form = CaptureForm(request.POST or None, request.FILES or None, user=user)
    begun = timezone.now()
    capture = _brought(request, form) if form.is_valid() else None
    if capture is not None:
        if capture.captured_at < begun:
            messages.warning(request, f"These bytes are {capture.readable_id} already. It stays as it was captured.")
        else:
            messages.success(request, f"{capture.readable_id} is captured. This is what the trace holds.")
        return redirect("capture", capture.readable_id)
    context = {
        "section": "captures",
        "form": form,
        "projects": projects_where(user, CAPTURES),
        "formats": sorted(FORMATS, key=lambda format: format.title.casefold()),
    }
    return render(request, "captures/new.html", context, status=422 if request.method == "POST" else 200)


def _brought(request: HttpRequest, form: CaptureForm) -> Capture | None:
    """None if it was refused: why is said beside the field."""
    said = form.cleaned_data
    try:
        return captures.bring(
            user_of(request),
            project=said["project"],
            data=form.data_of_trace(),
            origin=form.origin,
            name=form.name_of_trace(),
            trace_id=said["trace_id"],
            symptom=said["reported_symptom"],
            on_behalf_of=said["on_behalf_of"],
            evidence_days=said["evidence_days"],
        )
    except ImportRefused as refused:
        form.add_error(form.source, _in_words(refused))
    except (evidence.EvidenceTooLarge, evidence.EvidenceDestroyed) as refused:
        form.add_error(form.source, str(refused))
    except ValidationError as refused:
        form.add_error(None, refused.messages)
    return None


def _in_words(refused: ImportRefused) -> list[str]:
    found = refused.finding
    place = f" At {found.pointer}." if found.pointer else ""
    return [f"{found.message[:1].upper()}{found.message[1:]}.{place} {found.hint}"]


@login_required
@require_safe
def capture_detail(request: HttpRequest, capture_id: CaptureId) -> HttpResponse:
    """What it is, and the completeness report of one of its runs (`?run=`)."""
    capture = loading.capture_or_404(request, capture_id)
    asked = request.GET.get("run", "0")
    run = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) <= 9 else 0
    run = run if run < capture.runs else 0
    shown = loading.shown(capture, run)
    context: dict[str, Any] = {
        **loading.docket(capture, user_of(request), run=run, tab="report"),
        "shown": shown,
        "report": report_page.view_of(shown.outline.report) if shown.outline else None,
        "drafts": loading.drafts_of(capture),
        "senders": loading.senders_of(capture),
        "reports": incident_reports.about(capture).select_related("case__project").order_by("reported_at"),
    }
    if capture.runs > 1 and not shown.destroyed:
        context["page"] = page_of(request, outlines.choices(capture))
    return render(request, "captures/detail.html", context)
