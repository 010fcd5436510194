"""The privacy reviewer's page, and what is noted on it: a redaction, a new look, what was seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from replaycases.cases import claims, decisions, policies, reading, redacting, redaction_rows, seen_spans
from replaycases.cases.models import Case, DecisionKind, FixtureRevision
from replaycases.redaction import kind_words
from replaycases.web import revision_page
from replaycases.web.forms_review import ReturnForm
from replaycases.web.redactions import loading, page
from replaycases.web.redactions.forms import RedactForm, SeenForm
from replaycases.web.redactions.value_page import render_value
from replaycases.web.scope import CaseId, case_or_404, user_of


@login_required
@require_safe
def redaction_review(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    return render_review(request, case_or_404(request, case_id))


@login_required
@require_safe
def redaction_value(request: HttpRequest, case_id: CaseId, number: int) -> HttpResponse:
    """One value, by the number of its line, and what can be decided of it."""
    return render_value(request, case_or_404(request, case_id), number)


def render_review(
    request: HttpRequest,
    case: Case,
    *,
    form: ReturnForm | None = None,
    refused: ValidationError | None = None,
    said: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """The page. `form` is a return that was refused, `refused` any other form that was (422), and `said` what was typed
    into that."""
    if case.current_revision is None:
        return render(request, "reviews/empty.html", revision_page.docket_of(case, "review"))
    context = page.context(case, request)
    context["returning"] = form or ReturnForm(initial=seen_of(context["revision"]), auto_id="redaction-%s")
    context["refused"] = refused.messages if refused is not None else []
    if form is not None:
        context["refused"] = ["It is not returned: what is wrong stands beside the reason."]
    context["said"] = said or {}
    status = 422 if form is not None or refused is not None else 200
    return render(request, "redactions/detail.html", context, status=status)


def seen_of(revision: FixtureRevision) -> dict[str, object]:
    """What a form about this revision carries of it."""
    return {"revision": revision.number, "content_hash": revision.content_hash}


@login_required
@require_POST
def redact(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    """Replace what is found, or look at the revision again. What would void an approval asks once more."""
    case, user = case_or_404(request, case_id), user_of(request)
    policies.require(case, user, "redact")
    form = RedactForm(request.POST)
    if not form.is_valid():
        return render_review(request, case, refused=ValidationError("Open the review again and redact from there."))
    number = form.cleaned_data["revision"]
    if form.cleaned_data["how"] == "look":
        looked = redacting.look_again(user, case=case, seen_revision=number)
        found = _found(redaction_rows.in_the_way(looked))
        messages.success(request, f"Revision {number} was looked through under the policy in force: {found}.")
        return redirect("redaction_review", case.readable_id)
    approval = decisions.standing(case).get(DecisionKind.REDACTION)
    if approval is not None and not form.cleaned_data["confirmed"]:
        context = {**revision_page.docket_of(case, "review"), "approval": approval, "number": number}
        return render(request, "redactions/again.html", context)
    made = redacting.redact(user, case=case, seen_revision=number)
    messages.success(request, _made(made, number))
    return redirect("redaction_review", case.readable_id)


def _found(found: redaction_rows.InTheWay) -> str:
    left, lost = len(found.left), found.lost
    told = [f"{left} finding{' is' if left == 1 else 's are'} open"] if left else []
    if lost:
        told.append(f"{lost} relation{' is' if lost == 1 else 's are'} lost")
    return " and ".join(told) or "nothing is open"


def _made(made: FixtureRevision, number: int) -> str:
    if made.number != number:
        return f"It is redacted: revision {made.number}."
    counts = redaction_rows.require_newest(made).counts
    if not counts:
        return "Nothing had to be replaced."
    told = f"Replaced as before: {kind_words.counted(counts)}."
    return f"{told} The bytes are those of revision {number}, which stays and is noted as redacted anew."


@login_required
@require_POST
def mark_seen(request: HttpRequest, case_id: CaseId, pk: UUID) -> HttpResponse:
    """The reader looked at these places. A script is told how much is left, a browser is led back to where it was."""
    case, user = case_or_404(request, case_id), user_of(request)
    redaction = loading.redaction_or_404(request, case, pk)
    reading.require_open(redaction.revision, user)
    loading.require_newest(redaction, redaction_rows.newest(redaction.revision), case)
    form = SeenForm({**request.POST.dict(), "line": request.GET.get("line", "")})
    if not form.is_valid():
        return render_review(
            request, case, refused=ValidationError(form.errors.as_data().get("spans", ["Look again."]))
        )
    said = form.cleaned_data
    try:
        seen = seen_spans.mark(user, redaction=redaction, spans=said["spans"])
    except ValidationError as refused:
        return render_review(request, case, refused=refused)
    claims.hold(user, case)
    if request.accepts("text/html"):
        return redirect(_back(case, said))
    why = seen_spans.why_not_approve(user, redaction)
    return JsonResponse({"seen": len(seen), "of": redaction.spans, "why": why})


def _back(case: Case, said: Mapping[str, Any]) -> str:
    if said["part"] and said["line"] is not None:
        return page.address_of_piece(case, said["line"], said["part"])
    address = page.address(case, page=(said["page"] or 1) - 1)
    if said["show"]:
        address += f"{'&' if '?' in address else '?'}show=all"
    return f"{address}#row-{said['line']}" if said["line"] is not None else f"{address}#values"
