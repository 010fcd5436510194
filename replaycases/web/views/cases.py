"""The list of cases, one case, and opening a new one."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from replaycases.accounts.models import Project
from replaycases.accounts.roles import CREATES_CASES
from replaycases.cases import intake, policies, reading
from replaycases.cases.models import Case
from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.web import case_page
from replaycases.web.case_list import CaseFilter, listing
from replaycases.web.forms import ComparisonForm, ControlForm, NewCaseForm, projects_where
from replaycases.web.scope import CaseId, case_or_404, user_of


@login_required
@require_safe
def case_list(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    projects = list(Project.objects.visible_to(user).order_by("key"))
    found = CaseFilter(request.GET, user=user, projects=projects)
    context = {
        "section": "cases",
        "filter": found,
        "selects": [found.form[name] for name in ("project", "stage", "lane", "verdict", "owner", "expires")],
        "filtered": any(request.GET.get(name) for name in found.filters),
        "page": listing(found, request.GET.get("page")),
        "has_projects": bool(projects),
        "may_create": projects_where(user, CREATES_CASES).exists(),
    }
    return render(request, "cases/list.html", context)


@login_required
@require_safe
def case_detail(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    return render_case(request, case_or_404(request, case_id))


def render_case(
    request: HttpRequest,
    case: Case,
    *,
    form: ComparisonForm | None = None,
    control_form: ControlForm | None = None,
    findings: Sequence[Finding] = (),
) -> HttpResponse:
    """The case page. A form is given when it was refused (422): for a comparison, or for a control, with what was found
    in its files."""
    refused = form is not None or control_form is not None
    versions = {side: request.GET.get(side) for side in ("old", "new")}
    revisions = list(case.revisions.select_related("created_by", "payload").defer("payload__body"))
    run_sets = case_page.run_sets_of(case.current_revision) if case.current_revision else []
    controls = list(case.current_revision.controls.all()) if case.current_revision else []
    entries = case_page.lane_entries(case)
    stages, lanes = case_page.track(case, entries)
    comparisons = list(case_page.comparisons_of(case))
    current = next((c for c in comparisons if c.revision_id == case.current_revision_id), None)
    actions = {action.name: action for action in policies.available_actions(case, user_of(request))}
    context = {
        "section": "cases",
        "tab": "overview",
        "case": case,
        "revision": case.current_revision,
        "lane": ", ".join(entry.lane.name for entry in entries),
        "verdict": current.label if current else None,
        "comparison": current,
        "stages": stages,
        "lanes": lanes,
        "versions": case_page.version_rows(run_sets),
        "controls": case_page.control_rows(controls, run_sets),
        "comparisons": comparisons,
        "revisions": revisions,
        "gaps": case_page.declared_gaps(case.current_revision) if _readable(request, case) else None,
        "days": case_page.case_timeline(case, revisions),
        "form": form or ComparisonForm(case=case, user=user_of(request), initial=versions),
        "asking": actions["request_comparison"],
        "control_form": control_form or ControlForm(),
        "adding": actions["add_control"],
        "findings": findings,
    }
    return render(request, "cases/detail.html", context, status=422 if refused else 200)


def _readable(request: HttpRequest, case: Case) -> bool:
    revision = case.current_revision
    return revision is not None and reading.readable_by(revision, user_of(request))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_case(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    form = NewCaseForm(request.POST or None, request.FILES or None, user=user)
    findings: list[Finding] = []
    if form.is_valid():
        try:
            case = _create(request, form)
        except FixtureInvalid as invalid:
            findings = invalid.findings
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            messages.success(request, f"{case.readable_id} is open.")
            return redirect("case", case.readable_id)
    status = 422 if request.method == "POST" else 200
    projects = projects_where(user, CREATES_CASES)
    context = {"section": "cases", "form": form, "findings": findings, "projects": projects}
    return render(request, "cases/new.html", context, status=status)


def _create(request: HttpRequest, form: NewCaseForm) -> Case:
    said = form.cleaned_data
    return intake.create_case(
        user_of(request),
        project=said["project"],
        title=said["title"],
        incident_id=said["incident_id"],
        trigger=said["trigger"],
        prohibited_outcome=said["prohibited_outcome"],
        deciding_evidence=said["deciding_evidence"],
        fixture=said["fixture"].read(),
        detect=said["detect"].read() if said["detect"] else None,
    )
