"""Lanes: the overview, one lane, its policy, and the promotion of several cases at once."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from replaycases.accounts import access
from replaycases.accounts.models import Project
from replaycases.accounts.roles import PROMOTES, SETS_LANE_POLICY
from replaycases.cases import lanes, searching
from replaycases.cases.models import Case, Lane, LaneName
from replaycases.web import lane_page
from replaycases.web.forms_lanes import BulkForm, PolicyForm
from replaycases.web.pages import page_of
from replaycases.web.scope import may, project_or_404, user_of


@login_required
@require_safe
def lane_list(request: HttpRequest) -> HttpResponse:
    """The lanes of one project: the one that `?project=` names, else the first."""
    user = user_of(request)
    projects = list(Project.objects.visible_to(user).order_by("key"))
    asked = request.GET.get("project", "")
    project = next((found for found in projects if found.key == asked), None)
    if asked and project is None:
        raise Http404("There is no such project.")
    chosen = project or next(iter(projects), None)
    return render(request, "lanes/overview.html", lane_page.overview(user, chosen, projects))


@login_required
@require_safe
def lane_detail(request: HttpRequest, key: str, name: str) -> HttpResponse:
    project, lane = _lane(request, key, name)
    page = page_of(request, lane_page.entries_of(lane).values_list("pk", flat=True))
    context = {
        "section": "lanes",
        "project": project,
        "lane_name": lane.name,
        "about": lane_page.ABOUT[LaneName(lane.name)],
        "page": page,
        "rows": lane_page.entry_rows(list(page.object_list)),
        "leads_to": lane_page.LEADS_TO.get(LaneName(lane.name)),
        "candidates": lane_page.candidates(project) if lane.name == LaneName.NONBLOCKING else [],
        "may_promote": may(user_of(request), project, PROMOTES),
        "promoters": lane_page.promoters(),
        "most": lanes.MOST_AT_ONCE,
    }
    return render(request, "lanes/detail.html", context)


@login_required
@require_POST
def policy(request: HttpRequest, key: str, name: str) -> HttpResponse:
    user = user_of(request)
    project, lane = _lane(request, key, name)
    access.require(user, project, *SETS_LANE_POLICY)
    form = PolicyForm(request.POST, lane=lane)
    if form.is_valid():
        try:
            lanes.set_policy(user, lane=lane, **form.cleaned_data)
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            messages.success(request, f"The policy of lane {name} is set.")
            return redirect(f"{reverse('lane_list')}?project={key}")
    projects = list(Project.objects.visible_to(user).order_by("key"))
    return render(request, "lanes/overview.html", lane_page.overview(user, project, projects, refused=form), status=422)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def bulk_promotion(request: HttpRequest, key: str, name: str) -> HttpResponse:
    """A preview of the cases that `?case=` names; posted, each that can moves, and each says what became of it."""
    project, lane = _lane(request, key, name)
    access.require(user_of(request), project, *PROMOTES)
    if request.method == "POST":
        return _promote(request, project, LaneName(lane.name))
    return _preview(request, project, LaneName(lane.name))


def _preview(request: HttpRequest, project: Project, lane: LaneName) -> HttpResponse:
    wanted = list(dict.fromkeys(request.GET.getlist("case")))
    found = _chosen(project, wanted[: lanes.MOST_AT_ONCE])
    previews = lanes.preview(user_of(request), cases=list(found.values()), lane=lane) if found else []
    context = {
        "section": "lanes",
        "project": project,
        "lane_name": lane,
        "from_lane": LaneName.NONBLOCKING if lane != LaneName.COMPATIBILITY else lane,
        "rows": [lane_page.preview_row(row) for row in previews],
        "moving": sum(row.will_move for row in previews),
        "staying": sum(not row.will_move for row in previews),
        "strangers": [name for name in wanted[: lanes.MOST_AT_ONCE] if name not in found],
        "left_out": max(0, len(wanted) - lanes.MOST_AT_ONCE),
        "most": lanes.MOST_AT_ONCE,
        "form": BulkForm(),
    }
    return render(request, "lanes/preview.html", context)


def _promote(request: HttpRequest, project: Project, lane: LaneName) -> HttpResponse:
    form = BulkForm(request.POST)
    pairs = dict(value.partition(" ")[::2] for value in request.POST.getlist("chosen"))
    if len(pairs) > lanes.MOST_AT_ONCE or not form.is_valid():
        return render(request, "lanes/too_many.html", {"section": "lanes", "most": lanes.MOST_AT_ONCE}, status=422)
    found = _chosen(project, pairs)
    outcomes = lanes.promote_many(
        user_of(request),
        chosen=[(case, pairs[name]) for name, case in found.items()],
        lane=lane,
        note=form.cleaned_data["note"],
    )
    context = {
        "section": "lanes",
        "project": project,
        "lane_name": lane,
        "outcomes": outcomes,
        "moved": sum(outcome.moved for outcome in outcomes),
    }
    return render(request, "lanes/outcome.html", context)


def _chosen(project: Project, names: Iterable[str]) -> dict[str, Case]:
    """The named cases of this project, in the order in which they were named. A foreign one is not there."""
    known = {name: searching.case_id_of(name) for name in names}
    numbers = {name: named[1] for name, named in known.items() if named and named[0] == project.key}
    cases = Case.objects.filter(project=project, number__in=numbers.values())
    by_number = {case.number: case for case in cases.select_related("project", "current_revision")}
    return {name: by_number[number] for name, number in numbers.items() if number in by_number}


def _lane(request: HttpRequest, key: str, name: str) -> tuple[Project, Lane]:
    """The lane, unsaved where nothing ever stood in it."""
    project = project_or_404(request, key)
    if name not in LaneName.values:
        raise Http404("There is no such lane.")
    return project, Lane.objects.filter(project=project, name=name).first() or Lane(project=project, name=name)
