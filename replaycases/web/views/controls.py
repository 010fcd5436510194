"""Adding a control to a case: from files, or written from the current revision."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from replaycases.cases import intake, policies
from replaycases.cases.models import Case, FixtureRevision
from replaycases.cases.policies import SeenAnother
from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.web import control_page, raw_reading, revision_page
from replaycases.web.forms import ControlForm
from replaycases.web.forms_review import EDITED_BYTES, WrittenControlForm, bytes_of
from replaycases.web.scope import CaseId, case_or_404, user_of
from replaycases.web.views.cases import render_case

ADDED = "The control is added. The next comparison replays it."


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def add_control(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    """Add a control to the current revision. What is refused is shown beside the form, and nothing of it is kept."""
    case = case_or_404(request, case_id)
    panel = f"{reverse('case', args=[case.readable_id])}#controls"
    if request.method in ("GET", "HEAD"):
        return redirect(panel)
    policies.require(case, user_of(request), "add_control")
    form = ControlForm(request.POST, request.FILES, revision=case.current_revision)
    findings = list[Finding]()
    if case.current_revision is not None and form.is_valid():
        try:
            _add(request, case.current_revision, form, **_uploaded(form))
        except FixtureInvalid as invalid:
            findings = invalid.findings
        except ValidationError as refused:
            form.add_error(None, ValidationError(refused.messages))
        else:
            messages.success(request, ADDED)
            return redirect(panel)
    return render_case(request, case, control_form=form, findings=findings)


def _add(request: HttpRequest, revision: FixtureRevision, form: ControlForm | WrittenControlForm, **parts: Any) -> None:
    """`parts` are the documents, however they came, and what was seen, as `intake.add_control` takes them."""
    said = form.cleaned_data
    intake.add_control(
        user_of(request),
        revision=revision,
        name=said["name"],
        outcome_type=said["outcome_type"],
        tool=said.get("tool", ""),
        **parts,
    )


def _uploaded(form: ControlForm) -> dict[str, bytes]:
    files = {name: form.cleaned_data[name] for name in ("fixture", "mutation", "detect")}
    return {name: file.read() for name, file in files.items() if file}


# --- written from the current revision --------------------------------------------------------------------------------


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_control(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    """Choose a recorded call and how it ends in the control, then write that. What is refused is shown beside its line,
    and nothing of it is kept."""
    case = case_or_404(request, case_id)
    policies.require(case, user_of(request), "add_control")
    revision = case.current_revision
    assert revision is not None, "the policy asks for one"
    if request.method != "POST":
        return _render_new(request, case, revision, None)
    form = WrittenControlForm(request.POST, revision=revision)
    if not form.is_valid():
        return _render_new(request, case, revision, form, status=422)
    try:
        _add(request, revision, form, **_written(form))
    except FixtureInvalid as invalid:
        said = form.cleaned_data
        found = control_page.beside(invalid.findings, text=said["text"], mutation=said["mutation"])
        return _render_new(request, case, revision, form, status=422, found=found)
    except ValidationError as refused:
        form.add_error(None, ValidationError(refused.messages))
        return _render_new(request, case, revision, form, status=422)
    except SeenAnother as refused:
        return _render_new(request, case, revision, form, status=409, refused=str(refused))
    messages.success(request, ADDED)
    return redirect(f"{reverse('case', args=[case.readable_id])}#controls")


def _written(form: WrittenControlForm) -> dict[str, Any]:
    said = form.cleaned_data
    return {
        "fixture": bytes_of(said["text"]),
        "mutation": bytes_of(said["mutation"]),
        "seen_revision": said["seen"],
    }


def _render_new(
    request: HttpRequest,
    case: Case,
    revision: FixtureRevision,
    form: WrittenControlForm | None,
    *,
    status: int = 200,
    found: tuple[str, list[revision_page.FindingLine]] | None = None,
    refused: str = "",
) -> HttpResponse:
    """The calls to choose from, or the text once one is chosen. A refused form keeps what was typed; after a conflict
    it is about the revision that is current now."""
    raw = raw_reading.of(request, revision, back=request.get_full_path())
    readable = raw.open and bool(revision.effectful_tools) and revision.payload.size <= EDITED_BYTES
    start = control_page.start_of(revision, request.GET) if readable and "call" in request.GET else None
    if form is None and start is None and "call" in request.GET and readable:
        raise Http404
    if form is None and start is not None and start.fits:
        form = WrittenControlForm(revision=revision, initial=start.initial)
    elif form is not None and refused:
        data = request.POST.copy()
        data["seen"] = str(revision.number)
        form.data = data
    context = {
        **revision_page.docket_of(case, "overview"),
        "raw": raw,
        "form": form,
        "start": start,
        "page": control_page.rows_of(revision, request.GET.get("page")) if readable and not (form or start) else None,
        "found": found,
        "refused": refused,
    }
    return render(request, "controls/new.html", context, status=status)
