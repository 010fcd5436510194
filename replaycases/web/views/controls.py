"""Adding a control to a case."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from replaycases.cases import intake, policies
from replaycases.cases.models import FixtureRevision
from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.web.forms import ControlForm
from replaycases.web.scope import CaseId, case_or_404, user_of
from replaycases.web.views.cases import render_case


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
            _add(request, case.current_revision, form)
        except FixtureInvalid as invalid:
            findings = invalid.findings
        except ValidationError as refused:
            form.add_error(None, ValidationError(refused.messages))
        else:
            messages.success(request, "The control is added. The next comparison replays it.")
            return redirect(panel)
    return render_case(request, case, control_form=form, findings=findings)


def _add(request: HttpRequest, revision: FixtureRevision, form: ControlForm) -> None:
    said = form.cleaned_data
    intake.add_control(
        user_of(request),
        revision=revision,
        name=said["name"],
        outcome_type=said["outcome_type"],
        tool=said.get("tool", ""),
        fixture=said["fixture"].read(),
        mutation=said["mutation"].read(),
        detect=said["detect"].read() if said["detect"] else None,
    )
