"""What a person does on a case's page: its next step, its side moves, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from replaycases.accounts.models import User
from replaycases.cases import closing, dependency, details, flags, gates, lifecycle, policies
from replaycases.cases.available import available_actions
from replaycases.cases.models import (
    Boundary,
    Case,
    CaseOwner,
    ClosingStep,
    Comparison,
    FlagReason,
    GraderFinding,
    Provenance,
    Stage,
)
from replaycases.web import gate_rows
from replaycases.web.forms_details import EditStatementForm, GraderForm, OwnersForm, ProvenanceForm
from replaycases.web.scope import CaseId, case_or_404, user_of
from replaycases.web.views.cases import render_case

Act = Callable[[User, Case], object]
_OVERRIDING: tuple[policies.ActionName, ...] = ("propose_override",)


def _act(request: HttpRequest, case_id: CaseId, do: Act, done: str) -> HttpResponse:
    """Do it and go back to the case's page. What is missing in the form is said on that page (422); where the case is
    not what the person saw, or a gate is closed, a page says what is there now (409)."""
    case = case_or_404(request, case_id)
    try:
        do(user_of(request), case)
    except ValidationError as refused:
        return render_case(request, case, refused=" ".join(refused.messages))
    except policies.InvalidTransition as refused:
        return _conflict(request, case, refused)
    messages.success(request, done)
    return redirect("case", case.readable_id)


def _conflict(request: HttpRequest, case: Case, refused: policies.InvalidTransition) -> HttpResponse:
    case.refresh_from_db()
    seen = request.POST.get("fixture_hash", "")
    found = refused.gates if isinstance(refused, gates.GatesClosed) else ()
    target: gates.Target = "reproduced" if case.stage == Stage.REDACTION_APPROVED else "in_review"
    [overriding] = available_actions(case, user_of(request), only=_OVERRIDING)
    context = {
        "section": "cases",
        "tab": "overview",
        "case": case,
        "revision": case.current_revision,
        "reason": str(refused),
        "gates": gate_rows.rows(case, found, target, may_propose=overriding.allowed),
        "passed": sum(not gate.blocks for gate in found),
        "overriding": overriding,
        "changed": isinstance(refused, policies.SeenAnother),
        "seen": seen if seen.startswith("sha256:") and len(seen) == len("sha256:") + 64 else "",
    }
    return render(request, "cases/conflict.html", context, status=409)


def _said(request: HttpRequest, name: str) -> str:
    return request.POST.get(name, "")


# --- the next step --------------------------------------------------------------------------------------------------


@login_required
@require_POST
def submit(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    seen = _said(request, "fixture_hash")
    return _act(
        request,
        case_id,
        lambda user, case: lifecycle.submit(user, case=case, fixture_hash=seen),
        "The case is in review.",
    )


@login_required
@require_POST
def mark_reproduced(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    seen = _said(request, "fixture_hash")
    return _act(
        request,
        case_id,
        lambda user, case: lifecycle.mark_reproduced(user, case=case, fixture_hash=seen),
        "The case is reproduced.",
    )


@login_required
@require_POST
def confirm_containment(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    note = _said(request, "note")
    return _act(
        request,
        case_id,
        lambda user, case: details.confirm_containment(user, case=case, note=note),
        "Containment is confirmed. Replays are possible from now on.",
    )


@login_required
@require_POST
def review_again(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    note = _said(request, "note")
    return _act(
        request, case_id, lambda user, case: flags.review_again(user, case=case, note=note), "The re-review is noted."
    )


@login_required
@require_POST
def reopen(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    reason = _said(request, "reason")
    return _act(
        request,
        case_id,
        lambda user, case: lifecycle.reopen(user, case=case, reason=reason),
        "The case is open again, with nothing approved.",
    )


# --- side moves -----------------------------------------------------------------------------------------------------


@login_required
@require_POST
def send_back(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    reason = _said(request, "reason")
    return _act(
        request,
        case_id,
        lambda user, case: lifecycle.send_back(user, case=case, reason=reason),
        "The case is in review again. Its approvals are void; a lane it stands in is not left.",
    )


@login_required
@require_POST
def mark_non_replayable(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    reason, missing = _said(request, "reason"), _said(request, "missing")
    return _act(
        request,
        case_id,
        lambda user, case: lifecycle.mark_non_replayable(user, case=case, reason=reason, missing=missing),
        "The case is closed as non-replayable. What is missing stays visible, and it is never a pass.",
    )


@login_required
@require_POST
def raise_flag(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    if _said(request, "why") not in FlagReason.values:
        raise Http404("There is no such reason.")
    reason, detail = FlagReason(_said(request, "why")), _said(request, "detail")
    return _act(
        request,
        case_id,
        lambda user, case: flags.raise_flag(user, case=case, reason=reason, detail=detail),
        "A re-review is asked for.",
    )


@login_required
@require_POST
def set_security_incident(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    flagged = _said(request, "flagged") == "yes"
    told = "The case is a security incident: containment comes first." if flagged else "It is no security incident."
    return _act(
        request, case_id, lambda user, case: details.set_security_incident(user, case=case, flagged=flagged), told
    )


# --- what is noted about it -----------------------------------------------------------------------------------------


@login_required
@require_POST
def note_step(request: HttpRequest, case_id: CaseId, step: str) -> HttpResponse:
    if step not in ClosingStep.values:
        raise Http404("There is no such step.")
    note = _said(request, "note")
    return _act(
        request,
        case_id,
        lambda user, case: closing.note_step(user, case=case, step=ClosingStep(step), note=note),
        "The step is noted.",
    )


@login_required
@require_POST
def state_dependency(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    number = _said(request, "revision")
    return _act(
        request,
        case_id,
        lambda user, case: dependency.state(
            user,
            case=case,
            revision_number=int(number) if number.isdecimal() and len(number) < 10 else 0,
            fixture_hash=_said(request, "fixture_hash"),
            acceptance=_said(request, "acceptance"),
            authored_confirmed=_said(request, "authored_confirmed") == "yes",
            no_effect_confirmed=_said(request, "no_effect_confirmed") == "yes",
            note=_said(request, "note"),
        ),
        "What you said of the dependency is kept.",
    )


@login_required
@require_POST
def record_grader_finding(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    case = case_or_404(request, case_id)
    policies.require(case, user_of(request), "edit_details")
    form = GraderForm(request.POST)
    if not form.is_valid():
        return render_case(request, case, grader_form=form)
    return _act(
        request,
        case_id,
        lambda user, case: details.record_grader_finding(user, case=case, **form.cleaned_data),
        "The finding is kept as evidence. Another incident owner confirms it.",
    )


@login_required
@require_POST
def confirm_grader_finding(request: HttpRequest, case_id: CaseId, pk: UUID) -> HttpResponse:
    case = case_or_404(request, case_id)
    finding = get_object_or_404(GraderFinding.objects.filter(case=case), pk=pk)
    return _act(
        request,
        case_id,
        lambda user, case: details.confirm_grader_finding(user, finding=finding),
        "You confirmed that it shows the boundary being crossed.",
    )


# --- pages of their own ---------------------------------------------------------------------------------------------


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def statement(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    case = case_or_404(request, case_id)
    policies.require(case, user_of(request), "edit_statement")
    fields = ("title", *details.STATEMENT, "reported_symptom")
    initial = {name: getattr(case, name) for name in fields} | {"seen": details.statement_hash(case)}
    form = EditStatementForm(request.POST or None, initial=initial)
    yours = " Whoever changes one approves neither the expectation nor the redaction of this case."
    return _edit(
        request,
        case,
        form,
        lambda user, said: details.edit_statement(user, case=case, **said),
        title="Failure statement",
        meaning=f"Changing one of the three parts voids the approval of the expectation.{yours}",
        groups=[("", ("title",)), ("thirds", details.STATEMENT), ("", ("reported_symptom",))],
        done="The statement is saved.",
    )


IN_LANE = (
    " While a revision stands in a lane, the versions and the covering test are not left empty, and replacing one asks"
    " for a re-review."
)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def provenance(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    case = case_or_404(request, case_id)
    policies.require(case, user_of(request), "edit_details")
    kept = Provenance.objects.filter(case=case).first() or Provenance(case=case)
    names = ("incident_url", "trace_id", "trace_url", "covering_test")
    ran = Comparison.objects.filter(revision=case.current_revision_id).order_by("-number").first()
    offered = {"affected": ran.old_id, "fixed": ran.new_id} if ran else {}
    suggests = any(version and not getattr(kept, f"{side}_id") for side, version in offered.items())
    initial = {name: getattr(kept, name) for name in names} | {
        side: getattr(kept, f"{side}_id") or offered.get(side) for side in ("affected", "fixed")
    }
    return _edit(
        request,
        case,
        ProvenanceForm(request.POST or None, case=case, initial=initial),
        lambda user, said: details.edit_provenance(user, case=case, **said),
        title="Links and versions",
        meaning="Where the case comes from and what became of it. Changing them voids nothing."
        + (IN_LANE if case.lane else "")
        + (" What is not recorded yet is chosen from the newest comparison: save to record it." if suggests else ""),
        groups=[
            ("thirds", ("incident_url", "trace_id", "trace_url")),
            ("thirds", ("affected", "fixed", "covering_test")),
        ],
        done="Links and versions are saved.",
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def owners(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    case = case_or_404(request, case_id)
    policies.require(case, user_of(request), "edit_details")
    kept = CaseOwner.objects.filter(case=case)
    initial = {row.boundary: f"user:{row.user_id}" if row.user_id else f"team:{row.team_id}" for row in kept}
    form = OwnersForm(request.POST or None, case=case, initial=initial)
    return _edit(
        request,
        case,
        form,
        lambda user, said: details.set_owners(user, case=case, owners=form.owners()),
        title="Owners by boundary",
        meaning="Who answers for what. It gives no right to approve, and changing it voids nothing.",
        groups=[("thirds", tuple(boundary.value for boundary in Boundary))],
        done="The owners are saved.",
    )


def _edit(
    request: HttpRequest,
    case: Case,
    form: forms.Form,
    do: Callable[[User, Mapping[str, Any]], object],
    *,
    title: str,
    meaning: str,
    groups: Sequence[tuple[str, Sequence[str]]],
    done: str,
) -> HttpResponse:
    if request.method == "POST" and form.is_valid():
        try:
            do(user_of(request), form.cleaned_data)
        except ValidationError as refused:
            form.add_error(None, refused)
        except policies.InvalidTransition as refused:
            return _conflict(request, case, refused)
        else:
            messages.success(request, done)
            return redirect("case", case.readable_id)
    context = {
        "section": "cases",
        "tab": "overview",
        "case": case,
        "form": form,
        "title": title,
        "meaning": meaning,
        "groups": [(css, [form[name] for name in names]) for css, names in groups],
    }
    return render(request, "cases/edit.html", context, status=422 if form.is_bound else 200)
