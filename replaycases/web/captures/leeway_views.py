"""What another run may do otherwise: steps that it may leave out, and other calls that are right too."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from replaycases.cases import captures, choosing, drafts, previews
from replaycases.cases.models import Capture
from replaycases.cases.policies import InvalidTransition, SeenAnother
from replaycases.importers.neutral import ToolStep
from replaycases.importers.outline import StepLine
from replaycases.web import words
from replaycases.web.captures import expectation_page, loading, steps_form
from replaycases.web.captures.draft_views import closed, drafted, overtaken, seen_by, sent_in, unreadable
from replaycases.web.captures.entry_digest import GONE, digest_of
from replaycases.web.captures.leeway_form import AlternativeForm, OptionalForm
from replaycases.web.captures.loading import CaptureId
from replaycases.web.scope import user_of

JSON = Any
Alternatives = dict[str, list[JSON]]
"""Other calls by the number of their step, as a draft keeps them."""

NAME = "capture_leeway"
TITLE = "What another run may do otherwise"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One other call, told from others of its step by its digest. `step` is None for a step that there is not."""

    number: str
    digest: str
    step: StepLine | None
    tool: str
    arguments: words.Shown
    answer: words.Shown
    action: str
    authored: bool


@login_required
@require_http_methods(["GET", "HEAD"])
def leeway(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    return _render(request, drafted(request, capture_id, run), run)


@login_required
@require_POST
def choose_optional(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    capture = drafted(request, capture_id, run)
    found = loading.shown(capture, run)
    form = OptionalForm(request.POST, steps=found.outline.steps if found.outline else ())
    if not form.is_valid():
        return _render(request, capture, run, optional=form)
    parts = {"optional": form.cleaned_data["optional"]}
    try:
        choosing.choose(user_of(request), capture=capture, run=run, parts=parts, seen=seen_by(request))
    except SeenAnother:
        return overtaken(request, capture, run, TITLE, back=NAME, sent=sent_in(request))
    return _kept(request, capture, run, "The optional steps are kept.")


@login_required
@require_POST
def add_alternative(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    capture = drafted(request, capture_id, run)
    found = loading.shown(capture, run)
    form = AlternativeForm(request.POST, steps=found.outline.steps if found.outline else ())
    if not form.is_valid():
        return _render(request, capture, run, adding=form)
    added = partial(_added, step=str(form.cleaned_data["step"]), other=form.alternative())
    choosing.change(user_of(request), capture=capture, run=run, part="alternatives", into=added)
    return _kept(request, capture, run, "The other call is added.")


@login_required
@require_POST
def remove_alternative(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    capture = drafted(request, capture_id, run)
    removed = partial(_removed, step=request.POST.get("step", ""), digest=request.POST.get("digest", ""))
    choosing.change(user_of(request), capture=capture, run=run, part="alternatives", into=removed)
    return _kept(request, capture, run, "The other call is taken out.")


def _added(there: Alternatives | None, *, step: str, other: JSON) -> Alternatives:
    others = there or {}
    return {**others, step: [*others.get(step, ()), other]}


def _removed(there: Alternatives | None, *, step: str, digest: str) -> Alternatives:
    """Without this one; of equal ones one goes. Raises InvalidTransition where it is not there any more."""
    others = there or {}
    left = list(others.get(step, ()))
    found = next((at for at, other in enumerate(left) if digest_of(other) == digest), None)
    if found is None:
        raise InvalidTransition(GONE)
    del left[found]
    return {**{key: value for key, value in others.items() if key != step}, **({step: left} if left else {})}


def _kept(request: HttpRequest, capture: Capture, run: int, done: str) -> HttpResponse:
    messages.success(request, done)
    return redirect(NAME, capture.readable_id, run)


def _render(
    request: HttpRequest,
    capture: Capture,
    run: int,
    *,
    optional: OptionalForm | None = None,
    adding: AlternativeForm | None = None,
) -> HttpResponse:
    found = loading.shown(capture, run)
    if found.outline is None:
        return unreadable(request, capture, run, found.why_not)
    shared = loading.docket(capture, user_of(request), run=run, tab="leeway")
    asks = closed(request, shared, TITLE, refused=optional or adding)
    if asks is not None:
        return asks
    draft, steps = shared["draft"], found.outline.steps
    choices = drafts.choices_of(draft) if draft is not None else {}
    written = steps_form.ranges_of(sorted(set(choices.get("optional", ()))))
    context = {
        **shared,
        "tried": previews.preview(user_of(request), draft) if draft is not None else None,
        "rows": list(_rows(choices.get("alternatives", {}), steps)),
        "optional": optional or OptionalForm(steps=steps, initial={"optional": written}),
        "seen": seen_by(request) if optional else choosing.seen_of(choices, ("optional",)),
        "left_out": [steps[number - 1] for number in choices.get("optional", ()) if 1 <= number <= len(steps)],
        "adding": adding or AlternativeForm(steps=steps, initial=_recorded(request, capture, run, shared)),
        "tools": found.outline.known_tools,
        "actions": expectation_page.actions_of(choices),
    }
    return render(request, "captures/leeway.html", context, status=422 if request.method == "POST" else 200)


def _recorded(request: HttpRequest, capture: Capture, run: int, shared: Mapping[str, Any]) -> dict[str, JSON]:
    """The call of the step that the address names (`?at=`), to be changed into another one; once the reader said why
    they read it."""
    at = steps_form.number(request.GET.get("at", ""))
    if not at or "raw" not in shared:
        return {"step": at or None}
    steps = captures.recording_of(user_of(request), capture).read(run).steps
    step = steps[at - 1] if at <= len(steps) else None
    if not isinstance(step, ToolStep):
        return {"step": at}
    error = step.error or {}
    answered = {"kind": "error", "error_kind": error["kind"], "error_message": error["message"]} if error else {}
    return {"step": at, "tool": step.tool, "arguments": _text(step.arguments), "value": _text(step.value), **answered}


def _text(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _rows(alternatives: Mapping[str, Any], steps: tuple[StepLine, ...]) -> Iterator[Row]:
    for number in sorted(alternatives, key=int):
        for other in alternatives[number]:
            if isinstance(other, dict):
                yield _row(number, other, steps)


def _row(number: str, other: Mapping[str, Any], steps: tuple[StepLine, ...]) -> Row:
    outcome, effect = other.get("outcome"), other.get("effect")
    answer = (outcome.get("error") or outcome.get("value")) if isinstance(outcome, dict) else outcome
    return Row(
        number=number,
        digest=digest_of(other),
        step=steps[int(number) - 1] if 1 <= int(number) <= len(steps) else None,
        tool=str(other.get("tool", "")),
        arguments=words.whole(words.as_text(other.get("arguments"))),
        answer=words.whole(words.as_text(answer)),
        action=str(effect.get("action", "")) if isinstance(effect, dict) else "",
        authored=other.get("origin") == "authored",
    )
