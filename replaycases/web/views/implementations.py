"""The versions that can be replayed: list, one of them, and registering another."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from replaycases.accounts.models import Project
from replaycases.accounts.roles import REGISTERS_IMPLEMENTATIONS
from replaycases.cases import registry
from replaycases.cases.models import Comparison, Implementation
from replaycases.replay.implementation import ImplementationInvalid
from replaycases.web import words
from replaycases.web.forms import ArchiveForm, PathForm, ProjectForm, projects_where
from replaycases.web.pages import page_of
from replaycases.web.scope import user_of


@login_required
@require_safe
def implementation_list(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    rows = Implementation.objects.visible_to(user).select_related("project", "created_by")
    context = {
        "section": "implementations",
        "page": page_of(request, rows.order_by("name", "-created_at")),
        "has_projects": Project.objects.visible_to(user).exists(),
        "may_register": projects_where(user, REGISTERS_IMPLEMENTATIONS).exists(),
    }
    return render(request, "implementations/list.html", context)


@login_required
@require_safe
def implementation_detail(request: HttpRequest, pk: UUID) -> HttpResponse:
    user = user_of(request)
    rows = Implementation.objects.visible_to(user).select_related("project", "created_by", "archive")
    implementation = get_object_or_404(rows.defer("archive__body"), pk=pk)
    comparisons = Comparison.objects.visible_to(user).select_related("project", "revision__case__project", "old", "new")
    used = (comparisons.filter(old=implementation) | comparisons.filter(new=implementation)).order_by("-number")
    context = {"section": "implementations", "implementation": implementation, "comparisons": list(used[:50])}
    context["spec"] = words.whole(words.as_text(implementation.spec))
    return render(request, "implementations/detail.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_implementation(request: HttpRequest) -> HttpResponse:
    """Two forms on one page; the field `by` says which one was sent."""
    user = user_of(request)
    sent = request.POST.get("by", "")
    archive = ArchiveForm(request.POST if sent == "archive" else None, request.FILES or None, user=user)
    path = PathForm(request.POST if sent == "path" else None, user=user)
    refused = None
    form = {"archive": archive, "path": path}.get(sent)
    if form is not None and form.is_valid():
        try:
            implementation = _register(request, sent, form)
        except ImplementationInvalid as invalid:
            refused = invalid
        else:
            messages.success(request, f"{implementation.name} {implementation.version} is registered.")
            return redirect("implementation", implementation.pk)
    context = {
        "section": "implementations",
        "archive": archive,
        "path": path,
        "refused": refused,
        "projects": projects_where(user, REGISTERS_IMPLEMENTATIONS),
        "paths_allowed": bool(settings.REPLAYCASES_IMPLEMENTATION_PATHS),
    }
    return render(request, "implementations/new.html", context, status=422 if request.method == "POST" else 200)


def _register(request: HttpRequest, sent: str, form: ProjectForm) -> Implementation:
    said = form.cleaned_data
    if sent == "path":
        return registry.register_path(user_of(request), project=said["project"], path=said["path"])
    return registry.register_archive(
        user_of(request),
        project=said["project"],
        archive=said["archive"].read(),
        spec_path=said["spec_path"],
    )
