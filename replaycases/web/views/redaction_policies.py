"""The redaction policy of a project: what is in force, its versions, and the next one, tried on a case first."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from replaycases.accounts import access
from replaycases.accounts.models import Project
from replaycases.accounts.roles import SETS_REDACTION_POLICY
from replaycases.cases import redacting, redaction_policies, redaction_rows, searching
from replaycases.cases.evidence import EvidenceDestroyed
from replaycases.cases.models import Case, RedactionPolicy
from replaycases.cases.policies import InvalidTransition, SeenAnother
from replaycases.fixture import strict_json
from replaycases.fixture.findings import FixtureInvalid
from replaycases.web import document_rows, redaction_policy_page, revision_page
from replaycases.web.forms_policies import RedactionPolicyForm
from replaycases.web.scope import project_or_404, user_of


@login_required
@require_safe
def redaction_policy(request: HttpRequest, key: str) -> HttpResponse:
    """The version in force, and those before it."""
    user, project = user_of(request), project_or_404(request, key)
    versions = redaction_policy_page.versions(project)
    allowed = redaction_policy_page.sees_allowed(user, project)
    context = {
        **_about(project),
        "in_force": redaction_policy_page.told_of(versions[0] if versions else None, allowed=allowed),
        "versions": versions,
        "sets": redaction_policy_page.sets(user, project),
    }
    return render(request, "policies/detail.html", context)


@login_required
@require_safe
def version(request: HttpRequest, key: str, number: int) -> HttpResponse:
    """One version in full, and what it changed: since `?from=`, else since the one before it."""
    user, project = user_of(request), project_or_404(request, key)
    rows = redaction_policy_page.versions(project)
    shown = _numbered(rows, number)
    begin = request.GET.get("from", "")
    if begin and not (begin.isascii() and begin.isdecimal() and len(begin) <= 9):
        raise Http404("There is no such version.")
    old = int(begin) if begin else shown.number - 1
    allowed = redaction_policy_page.sees_allowed(user, project)
    context = {
        **_about(project),
        "shown": redaction_policy_page.told_of(shown, allowed=allowed),
        "is_in_force": shown == rows[0],
        "old": old,
        "old_name": redaction_rows.policy_name(old),
        "new_name": redaction_rows.policy_name(shown.number),
        "others": [(one, redaction_rows.policy_name(one)) for one in range(len(rows), -1, -1) if one != shown.number],
        "differences": redaction_policy_page.compared(_numbered(rows, old) if old else None, shown, allowed=allowed),
    }
    return render(request, "policies/version.html", context)


def _numbered(rows: list[RedactionPolicy], number: int) -> RedactionPolicy:
    found = next((row for row in rows if row.number == number), None)
    if found is None:
        raise Http404("There is no such version.")
    return found


@login_required
@require_safe
def new_version(request: HttpRequest, key: str) -> HttpResponse:
    project = _to_set(request, key)
    current = redaction_policies.current(project)
    data = current.data if current else {}
    seen = current.number if current else 0
    form = RedactionPolicyForm(initial={"seen": seen, "text": document_rows.as_json(data)})
    return _render_new(request, project, form)


@login_required
@require_POST
def save(request: HttpRequest, key: str) -> HttpResponse:
    """The next version. What is refused is shown beside its line, and nothing of it is kept."""
    project = _to_set(request, key)
    form = RedactionPolicyForm(request.POST)
    if not form.is_valid():
        return _render_new(request, project, form, status=422)
    try:
        data = strict_json.parse(form.document())
        said = form.cleaned_data
        row = redaction_policies.save(
            user_of(request), project=project, data=data, note=said["note"], seen=said["seen"]
        )
    except (FixtureInvalid, ValidationError) as refused:
        return _refused(request, project, form, refused)
    except SeenAnother as refused:
        return _outrun(request, project, form, str(refused), data)
    messages.success(request, f"Version {row.number} is in force. What is in review is looked at again under it.")
    return redirect("redaction_policy", project.key)


@login_required
@require_POST
def preview(request: HttpRequest, key: str) -> HttpResponse:
    """What the text would do with a case, beside the form; nothing is kept."""
    project = _to_set(request, key)
    form = RedactionPolicyForm(request.POST)
    form.fields["note"].required = False
    if not form.is_valid():
        return _render_new(request, project, form, status=422)
    case = _case(project, form.cleaned_data["case"])
    if case is None:
        form.add_error("case", f"Name a case of {project.key}, as in {project.key}-17.")
        return _render_new(request, project, form, status=422)
    try:
        found = redacting.preview(user_of(request), case=case, data=strict_json.parse(form.document()))
    except (FixtureInvalid, ValidationError) as refused:
        return _refused(request, project, form, refused)
    except (InvalidTransition, EvidenceDestroyed) as refused:
        form.add_error("case", str(refused))
        return _render_new(request, project, form, status=409)
    return _render_new(request, project, form, previewed=redaction_policy_page.previewed(case.readable_id, found))


def _case(project: Project, name: str) -> Case | None:
    named = searching.case_id_of(name)
    if named is None or named[0] != project.key:
        return None
    return Case.objects.filter(project=project, number=named[1]).select_related("project", "current_revision").first()


def _to_set(request: HttpRequest, key: str) -> Project:
    project = project_or_404(request, key)
    access.require(user_of(request), project, *SETS_REDACTION_POLICY)
    return project


def _refused(
    request: HttpRequest, project: Project, form: RedactionPolicyForm, refused: FixtureInvalid | ValidationError
) -> HttpResponse:
    """A note that is refused stands beside its field, everything else beside its line."""
    if isinstance(refused, ValidationError) and "note" in getattr(refused, "error_dict", {}):
        form.add_error(None, refused)
        return _render_new(request, project, form, status=422)
    text = form.document().decode("utf-8", "replace")
    if isinstance(refused, FixtureInvalid):
        found = revision_page.beside_lines(refused.findings, text)
    else:
        found = redaction_policy_page.beside_lines(refused, text)
    return _render_new(request, project, form, status=422, findings=found)


def _outrun(request: HttpRequest, project: Project, form: RedactionPolicyForm, why: str, sent: Any) -> HttpResponse:
    """The form is based on what is in force now, whose differences from what was sent stand above it."""
    current = redaction_policies.current(project)
    data, number = request.POST.copy(), current.number if current else 0
    data["seen"] = str(number)
    form.data = data
    shown = {
        "refused": why,
        "old_name": redaction_rows.policy_name(number),
        "differences": redaction_policy_page.compared(current, sent, allowed=True),
    }
    return _render_new(request, project, form, status=409, **shown)


def _render_new(
    request: HttpRequest, project: Project, form: RedactionPolicyForm, *, status: int = 200, **shown: Any
) -> HttpResponse:
    return render(request, "policies/new.html", {**_about(project), "form": form, **shown}, status=status)


def _about(project: Project) -> dict[str, Any]:
    return {"section": "people", "project": project}
