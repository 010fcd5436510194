"""Saying why raw evidence is to be read."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from replaycases.cases.models import Capture, Case
from replaycases.web import raw_reading
from replaycases.web.captures.loading import CaptureId, capture_or_404
from replaycases.web.scope import CaseId, case_or_404


@login_required
@require_POST
def of_case(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    case = case_or_404(request, case_id)
    return begin(request, case=case, home=reverse("case_review", args=[case.readable_id]))


@login_required
@require_POST
def of_capture(request: HttpRequest, capture_id: CaptureId) -> HttpResponse:
    capture = capture_or_404(request, capture_id)
    return begin(request, capture=capture, home=reverse("capture", args=[capture.readable_id]))


def begin(request: HttpRequest, *, case: Case | None = None, capture: Capture | None = None, home: str) -> HttpResponse:
    """Back to where the reader was, who sees it from now on; `home` where that is not known."""
    of = case or capture
    assert of is not None
    try:
        return redirect(raw_reading.begun(request, case=case, capture=capture) or home)
    except ValidationError as refused:
        why = " ".join(refused.messages)
        return raw_reading.ask(request, of, back=request.POST.get("next", ""), refused=why, status=422)
