"""Asking for a comparison, looking at it, cancelling it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from replaycases.cases import jobs, policies
from replaycases.cases.models import Comparison, FixtureRevision
from replaycases.web import comparison_page, progress, raw_reading
from replaycases.web.forms import ComparisonForm
from replaycases.web.scope import CaseId, case_or_404, comparison_or_404, user_of
from replaycases.web.views.cases import render_case


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def request_comparison(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    case = case_or_404(request, case_id)
    if request.method in ("GET", "HEAD"):
        return redirect(f"{reverse('case', args=[case.readable_id])}#comparisons")
    policies.require(case, user_of(request), "request_comparison")
    form = ComparisonForm(request.POST, case=case, user=user_of(request))
    revision = case.current_revision
    comparison = _ask(request, revision, form) if revision is not None and form.is_valid() else None
    if comparison is None:
        return render_case(request, case, form=form)
    return redirect("comparison", case.readable_id, comparison.number)


def _ask(request: HttpRequest, revision: FixtureRevision, form: ComparisonForm) -> Comparison | None:
    """None if the domain refuses what was said; the form then says why."""
    try:
        return jobs.request_comparison(user_of(request), revision=revision, **form.cleaned_data)
    except ValidationError as refused:
        form.add_error(None, refused)
        return None


@login_required
@require_safe
def latest_comparison(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    """Leads to the comparison whose label is the case's verdict."""
    case = case_or_404(request, case_id)
    if case.latest_comparison is None:
        raise Http404("The current revision was never compared.")
    return redirect("comparison", case.readable_id, case.latest_comparison.number)


@login_required
@require_safe
def comparison_detail(request: HttpRequest, case_id: CaseId, number: int) -> HttpResponse:
    comparison = comparison_or_404(request, case_id, number)
    raw, everything = raw_reading.of(request, comparison), request.GET.get("show") == "all"
    context = comparison_page.context(comparison, user=user_of(request), raw=raw, everything=everything)
    context["job"] = progress.of(comparison, waited=request.GET.get("wait", ""))
    return render(request, "comparisons/detail.html", context)


@login_required
@require_POST
def cancel_comparison(request: HttpRequest, case_id: CaseId, number: int) -> HttpResponse:
    comparison = comparison_or_404(request, case_id, number)
    cancelled = jobs.cancel(user_of(request), subject=comparison)
    told = f"Cancelled {cancelled} runs. What had finished is kept." if cancelled else "Each of its own runs had ended."
    messages.success(request, told)
    return redirect("comparison", comparison.revision.case.readable_id, comparison.number)
