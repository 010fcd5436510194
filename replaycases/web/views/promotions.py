"""A case's way into a lane and out of it again: the promotion page, and what is asked for from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from replaycases.accounts import roles as may
from replaycases.cases import gates, lanes, lifecycle, policies, proposals
from replaycases.cases.available import available_actions
from replaycases.cases.models import Case, LaneName
from replaycases.cases.policies import InvalidTransition
from replaycases.web import promotion_page, proposal_rows
from replaycases.web.forms_lanes import (
    DemotionForm,
    HistoryForm,
    OverrideForm,
    PromotionForm,
    RetirementForm,
    in_days,
)
from replaycases.web.scope import CaseId, case_or_404, user_of
from replaycases.web.templatetags.lanes import gate_title

DEMOTION_DAYS = 14
OVERRIDE_DAYS = 30


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def promotion(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    """The gates of the next lane, and the promotion itself. What is refused is shown with the gates as they are now."""
    if request.method != "POST":
        shown = _shown(request, case_id)
        return _page(request, shown, promotion_page.next_lane(shown, request.GET.get("to", "")))
    case, form = case_or_404(request, case_id), PromotionForm(request.POST)
    if not form.is_valid():
        shown = _shown(request, case_id)
        return _page(request, shown, promotion_page.next_lane(shown, form["lane"].value() or ""), 422, form=form)
    lane = LaneName(form.cleaned_data["lane"])
    try:
        entry = lifecycle.promote(
            user_of(request),
            case=case,
            lane=lane,
            fixture_hash=form.cleaned_data["fixture_hash"],
            note=form.cleaned_data["note"],
        )
    except gates.GatesClosed as closed:
        return _page(request, _shown(request, case_id), lane, 409, found=closed.gates, refused=_count(closed))
    except InvalidTransition as refused:
        return _page(request, _shown(request, case_id), lane, 409, refused=str(refused))
    messages.success(request, f"Revision {entry.revision.number} stands in lane {lane} now.")
    return redirect("case_promotion", case.readable_id)


def _shown(request: HttpRequest, case_id: CaseId) -> promotion_page.Shown:
    return promotion_page.Shown(user_of(request), *case_id)


def _page(
    request: HttpRequest, shown: promotion_page.Shown, lane: LaneName, status: int = 200, **more: Any
) -> HttpResponse:
    context = promotion_page.context(shown, user=user_of(request), lane=lane, **more)
    return render(request, "promotion/detail.html", context, status=status)


def _count(closed: gates.GatesClosed) -> str:
    blocking = sum(gate.blocks for gate in closed.gates)
    return f"{blocking} gate{'s block' if blocking > 1 else ' blocks'} now. They were computed again when you pressed."


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def history(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    """Queue runs that count towards the history of the lane in which the case stands."""
    case = case_or_404(request, case_id)
    if request.method != "POST":
        return redirect(f"{reverse('case_promotion', args=[case.readable_id])}#history")
    form = HistoryForm(request.POST)
    if form.is_valid():
        try:
            lanes.request_history(user_of(request), case=case, runs=form.cleaned_data["runs"])
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            runs = form.cleaned_data["runs"]
            messages.success(request, "1 run is queued." if runs == 1 else f"{runs} runs are queued.")
            return redirect(f"{reverse('case_promotion', args=[case.readable_id])}#history")
    shown = _shown(request, case_id)
    return _page(request, shown, promotion_page.next_lane(shown), 422, history_form=form)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def demotion(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    case = case_or_404(request, case_id)
    posted = request.POST if request.method == "POST" else None
    form = DemotionForm(posted, project=case.project, initial={"until": in_days(DEMOTION_DAYS)})
    return _propose(
        request,
        case,
        form,
        "propose_demotion",
        lambda said: proposals.propose_demotion(user_of(request), case=case, **said),
        title=f"Demote {case.readable_id} to nonblocking",
        meaning="Once a second person has confirmed it, the case no longer stops a release. It keeps running in "
        "nonblocking, and every run is shown.",
        second=proposal_rows.in_words(may.CONFIRMS_DEMOTION),
        fields=["reason", "owner", "until"],
        button="Propose the demotion",
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def retirement(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    case = case_or_404(request, case_id)
    form = RetirementForm(request.POST if request.method == "POST" else None)
    return _propose(
        request,
        case,
        form,
        "propose_retirement",
        lambda said: proposals.propose_retirement(user_of(request), case=case, **said),
        title=f"Retire {case.readable_id}",
        meaning="Once a second person has confirmed it, the case leaves every lane and is closed for good. Its "
        "fixture, its verdicts and its history stay.",
        second=proposal_rows.in_words(may.CONFIRMS_RETIREMENT),
        fields=["reason"],
        button="Propose the retirement",
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def overrides(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    """Propose an override of the gate that `?gate=` names, or that the form names."""
    case = case_or_404(request, case_id)
    initial = {"gate": request.GET.get("gate", ""), "until": in_days(OVERRIDE_DAYS)}
    form = OverrideForm(request.POST if request.method == "POST" else None, initial=initial)
    gate = str(form["gate"].value() or "")
    return _propose(
        request,
        case,
        form,
        "propose_override",
        lambda said: proposals.propose_override(user_of(request), case=case, **said),
        title=f"Override the gate “{gate_title(gate)}” of {case.readable_id}",
        meaning="Once a second person has confirmed it, the case passes this gate with its present revision until the "
        "day that you name. A case that passed without a red is shown as green without red for ever.",
        second=proposal_rows.in_words(may.CONFIRMS_MISSING_RED if gate == "red" else may.CONFIRMS_OVERRIDES),
        fields=["gate", "reason", "until"],
        button="Propose the override",
    )


def _propose(
    request: HttpRequest,
    case: Case,
    form: DemotionForm | RetirementForm | OverrideForm,
    action: policies.ActionName,
    propose: Callable[[dict[str, Any]], object],
    **told: Any,
) -> HttpResponse:
    """The form of a proposal, or the proposal made."""
    back = reverse("case_promotion", args=[case.readable_id])
    if request.method == "POST":
        policies.require(case, user_of(request), action)
        if form.is_valid():
            try:
                propose(form.cleaned_data)
            except ValidationError as refused:
                form.add_error(None, refused)
            else:
                messages.success(request, f"Proposed. A second person decides: {told['second']}.")
                return redirect(f"{back}#pending")
    [possible] = available_actions(case, user_of(request), only={action})
    shown = {name: form[name] for name in told.pop("fields")}
    context = {
        "section": "cases",
        "tab": "promotion",
        "case": case,
        "revision": case.current_revision,
        "form": form,
        "shown": shown,
        "action": possible,
        "back": back,
        **told,
    }
    return render(request, "proposals/new.html", context, status=422 if request.method == "POST" else 200)
