"""The list of runs, one run, and its manifest."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from replaycases.accounts.models import Project
from replaycases.cases import jobs
from replaycases.web import raw_reading, run_page
from replaycases.web.pages import page_of_many
from replaycases.web.scope import run_or_404, user_of


@login_required
@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    found = run_page.RunFilter(request.GET, queryset=run_page.listed_runs(user))
    context = {
        "section": "runs",
        "filter": found,
        "filtered": any(request.GET.get(name) for name in found.filters),
        "page": page_of_many(request, found.qs if found.is_valid() else found.qs.none()),
        "has_projects": Project.objects.visible_to(user).exists(),
    }
    return render(request, "runs/list.html", context)


@login_required
@require_safe
def run_detail(request: HttpRequest, key: str, number: int) -> HttpResponse:
    run = run_or_404(request, key, number)
    raw = raw_reading.of(request, run)
    return render(request, "runs/detail.html", run_page.context(run, user=user_of(request), raw=raw))


@login_required
@require_POST
def void_set(request: HttpRequest, key: str, number: int) -> HttpResponse:
    """Take the run's whole set out of every verdict."""
    run = run_or_404(request, key, number)
    try:
        jobs.void(user_of(request), run_set=run.run_set, reason=request.POST.get("reason", ""))
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    else:
        messages.success(request, "The set is voided. It stays listed with its reason, and no verdict reads it.")
    return redirect("run", key, number)


@login_required
@require_safe
def manifest(request: HttpRequest, key: str, number: int) -> HttpResponse:
    run = run_or_404(request, key, number)
    if run.manifest is None:
        raise Http404("This run has no manifest: it did not finish.")
    name, back = f"{key}-run-{number}-manifest.json", reverse("run", args=[key, number])
    return raw_reading.download(request, run, run.manifest, name, back=back)
