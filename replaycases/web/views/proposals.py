"""What waits for a second person, and their decision."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from replaycases.cases import proposals
from replaycases.cases.models import Proposal, ProposalState
from replaycases.web import proposal_rows
from replaycases.web.pages import page_of
from replaycases.web.scope import user_of


@login_required
@require_safe
def proposal_list(request: HttpRequest) -> HttpResponse:
    """Every proposal that waits, the ones that this person may decide first, the oldest first among them."""
    user = user_of(request)
    waiting = proposal_rows.seen_by(user).filter(state=ProposalState.PENDING)
    page = page_of(request, waiting.order_by("proposed_at"))
    rows = sorted(proposal_rows.rows(page.object_list, user), key=lambda row: bool(row.why_not))
    context = {
        "section": "proposals",
        "page": page,
        "mine": [row for row in rows if not row.why_not],
        "others": [row for row in rows if row.why_not],
    }
    return render(request, "proposals/list.html", context)


@login_required
@require_POST
def confirm(request: HttpRequest, pk: UUID) -> HttpResponse:
    proposal, note = _proposal(request, pk), request.POST.get("note", "")
    return _decide(
        request, proposal, lambda: proposals.confirm(user_of(request), proposal=proposal, note=note), "Confirmed."
    )


@login_required
@require_POST
def decline(request: HttpRequest, pk: UUID) -> HttpResponse:
    proposal, note = _proposal(request, pk), request.POST.get("note", "")
    return _decide(
        request, proposal, lambda: proposals.decline(user_of(request), proposal=proposal, note=note), "Declined."
    )


@login_required
@require_POST
def withdraw(request: HttpRequest, pk: UUID) -> HttpResponse:
    proposal = _proposal(request, pk)
    return _decide(request, proposal, lambda: proposals.withdraw(user_of(request), proposal=proposal), "Withdrawn.")


def _proposal(request: HttpRequest, pk: UUID) -> Proposal:
    return get_object_or_404(proposal_rows.seen_by(user_of(request)), pk=pk)


def _decide(request: HttpRequest, proposal: Proposal, decide: Callable[[], object], done: str) -> HttpResponse:
    """What is refused for its wording is said on the page to which one comes back."""
    try:
        decide()
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    else:
        messages.success(request, f"{done} {proposal.get_kind_display()} of {proposal.case.readable_id}.")
    back = request.POST.get("back", "")
    if back == "list":
        return redirect("proposal_list")
    return redirect(f"{reverse('case_promotion', args=[proposal.case.readable_id])}#pending")
