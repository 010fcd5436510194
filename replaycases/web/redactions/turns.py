"""The queue hands out one redaction after another: the next one, the one after a skip, and back to what was skipped."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from replaycases.cases import claims, returns
from replaycases.cases.models import Case
from replaycases.web import review_queue
from replaycases.web.scope import CaseId, case_or_404, user_of

SKIPPED = "skipped_redactions"
"""In the session: what the reader skipped, the last one at the end."""
REMEMBERED = 50


@login_required
@require_POST
def take_next(request: HttpRequest) -> HttpResponse:
    """Hand the reader what waits longest for them and nobody has."""
    return onward(request, None, take=True) or _nothing(request)


@login_required
@require_POST
def skip(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    """Leave it to others, or for later, and go on."""
    case = case_or_404(request, case_id)
    claims.release(user_of(request), case)
    kept = [name for name in skipped(request) if name != case.readable_id]
    request.session[SKIPPED] = [*kept, case.readable_id][-REMEMBERED:]
    return onward(request, case, take=True) or _nothing(request)


@login_required
@require_POST
def take_back(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    """It was not to be skipped."""
    case = case_or_404(request, case_id)
    request.session[SKIPPED] = [name for name in skipped(request) if name != case.readable_id]
    claims.hold(user_of(request), case)
    return redirect("redaction_review", case.readable_id)


@login_required
@require_POST
def take_back_return(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    """It was not to be returned."""
    case, user = case_or_404(request, case_id), user_of(request)
    returns.take_back(user, case=case)
    claims.hold(user, case)
    messages.success(request, f"{case.readable_id} waits for its review again.")
    return redirect("redaction_review", case.readable_id)


def onward(request: HttpRequest, done: Case | None, *, take: bool) -> HttpResponse | None:
    """To the next redaction that the reader may decide, that nobody else has and that they did not skip; None where
    there is none. `take`: they asked for it, so it is theirs; else it is only once they do something on its page."""
    user = user_of(request)
    passed = {*skipped(request), *([done.readable_id] if done is not None else [])}
    for case in review_queue.free_redactions(user):
        if case.readable_id not in passed and (not take or claims.hold(user, case)):
            return redirect("redaction_review", case.readable_id)
    return None


def skipped(request: HttpRequest) -> list[str]:
    found: list[str] = request.session.get(SKIPPED, [])
    return found


def _nothing(request: HttpRequest) -> HttpResponse:
    messages.info(request, "No other redaction waits for you: what is left was skipped, or somebody has it.")
    return redirect("review_queue")
