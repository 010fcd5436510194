"""The list of cases, one case, and opening a new one."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from replaycases.accounts.models import Project
from replaycases.accounts.roles import CREATES_CASES
from replaycases.cases import capture_searching, intake
from replaycases.cases.models import Acceptance, Capture, Case, FlagReason, Provenance
from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.web import case_page, incident_names
from replaycases.web.case_list import CaseFilter, listing
from replaycases.web.forms import ComparisonForm, ControlForm, NewCaseForm, projects_where
from replaycases.web.forms_details import GraderForm
from replaycases.web.scope import CaseId, user_of

CAPTURES_SHOWN = 5


@login_required
@require_safe
def case_list(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    projects = list(Project.objects.visible_to(user).order_by("key"))
    found = CaseFilter(request.GET, user=user, projects=projects)
    asked = [name for name in found.filters if request.GET.get(name)]
    context = {
        "section": "cases",
        "filter": found,
        "captures": _captures(request, projects) if asked == ["q"] else [],
        "selects": [found.form[name] for name in ("project", "stage", "lane", "verdict", "owner", "expires")],
        "filtered": bool(asked),
        "page": listing(found, request.GET.get("page")),
        "captures_shown": CAPTURES_SHOWN,
        "has_projects": bool(projects),
        "may_create": projects_where(user, CREATES_CASES).exists(),
    }
    return render(request, "cases/list.html", context)


def _captures(request: HttpRequest, projects: Sequence[Project]) -> list[Capture]:
    """What the search in the bar finds besides cases, on its first page; one more than is shown says that there are."""
    if request.GET.get("page", "1") != "1":
        return []
    return capture_searching.newest(request.GET["q"], projects, CAPTURES_SHOWN + 1)


@login_required
@require_safe
def case_detail(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    key, number = case_id
    case = get_object_or_404(case_page.cases_for(user_of(request)), project__key=key, number=number)
    return _page(request, case)


def render_case(
    request: HttpRequest,
    case: Case,
    *,
    form: ComparisonForm | None = None,
    control_form: ControlForm | None = None,
    grader_form: GraderForm | None = None,
    findings: Sequence[Finding] = (),
    refused: str = "",
) -> HttpResponse:
    """The case page as the case stands now. A form is given when it was refused (422), with what was found in its
    files; `refused` says what one of the page's small forms lacks."""
    now = get_object_or_404(case_page.cases_for(user_of(request)), pk=case.pk)
    return _page(
        request,
        now,
        form=form,
        control_form=control_form,
        grader_form=grader_form,
        findings=findings,
        refused=refused,
    )


def _page(
    request: HttpRequest,
    case: Case,
    *,
    form: ComparisonForm | None = None,
    control_form: ControlForm | None = None,
    grader_form: GraderForm | None = None,
    findings: Sequence[Finding] = (),
    refused: str = "",
) -> HttpResponse:
    bad = bool(refused) or any(each is not None for each in (form, control_form, grader_form))
    user = user_of(request)
    context = case_page.context(case, user, every_comparison=request.GET.get("comparisons") == "all")
    actions = context["actions"]
    if form is None and actions["request_comparison"].allowed:
        form = ComparisonForm(case=case, user=user, initial=_versions(request, case))
    context |= {
        "form": form,
        "asking": actions["request_comparison"],
        "control_form": control_form or ControlForm(revision=case.current_revision),
        "adding": actions["add_control"],
        "grader_form": grader_form or GraderForm(),
        "flag_reasons": FlagReason.choices,
        "acceptances": Acceptance.choices,
        "findings": findings,
        "refused": refused,
    }
    return render(request, "cases/detail.html", context, status=422 if bad else 200)


def _versions(request: HttpRequest, case: Case) -> dict[str, object]:
    """What the address asks for, else the affected and the fixed version of the case."""
    kept: Provenance | None = getattr(case, "provenance", None)
    known = {"old": kept.affected_id, "new": kept.fixed_id} if kept else {}
    return {side: request.GET.get(side) or known.get(side) for side in ("old", "new")}


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
            tell_same_name(request, case)
            if case.current_revision is not None:
                incident_names.tell(request, case.current_revision)
            return redirect("case", case.readable_id)
    status = 422 if request.method == "POST" else 200
    projects = projects_where(user, CREATES_CASES)
    context = {"section": "cases", "form": form, "findings": findings, "projects": projects}
    return render(request, "cases/new.html", context, status=status)


def tell_same_name(request: HttpRequest, case: Case) -> None:
    """Say early what would stop the case only at the lane's door."""
    others = intake.same_name(case)
    if others:
        named = ", ".join(other.readable_id for other in others)
        messages.warning(
            request,
            f"The fixture bears the case_id {case.case_id}, as {named} does. Only one case of a name can stand in "
            "lanes: add a revision to the other case instead, or capture this one under a name of its own.",
        )


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
        fixture=said["fixture"].read() if said["fixture"] else None,
        detect=said["detect"].read() if said["detect"] else None,
        reported_symptom=said["reported_symptom"],
        security_incident=said["security_incident"],
        on_behalf_of=said["on_behalf_of"],
        evidence_days=said["evidence_days"],
    )
