"""From one recorded run to a draft: which of its steps go in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from replaycases.accounts import access
from replaycases.accounts.roles import CAPTURES
from replaycases.cases import captures, choosing, drafts, outlines
from replaycases.cases.models import Capture
from replaycases.cases.policies import SeenAnother
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import NeutralRun
from replaycases.importers.outline import StepLine
from replaycases.web import raw_reading
from replaycases.web.captures import loading, step_contents, steps_form, timeline_page
from replaycases.web.captures.draft_views import overtaken, seen_by
from replaycases.web.captures.loading import CaptureId
from replaycases.web.captures.steps_form import StepFilter
from replaycases.web.pages import ROWS_A_PAGE
from replaycases.web.scope import user_of

_TYPED = {
    "ends_after": "Ends after step",
    "before": "Left out before step",
    "after": "Left out after step",
    "out_also": "Left out too",
    "keep_also": "But kept",
}


@login_required
@require_safe
def run_steps(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    capture = loading.capture_or_404(request, capture_id)
    return _render(request, capture, loading.run_or_404(capture, run))


def _render(request: HttpRequest, capture: Capture, run: int, *, refused: str = "") -> HttpResponse:
    found = loading.shown(capture, run)
    shared = loading.docket(capture, user_of(request), run=run, tab="steps")
    context: dict[str, Any] = {**shared, "shown": found, "refused": refused}
    if found.outline is not None:
        steps = _Steps(request, found.outline, shared["draft"])
        raw = raw_reading.of(request, capture, back=reverse("capture_run", args=[capture.readable_id, run]))
        read = captures.recording_of(user_of(request), capture).read(run) if raw.open and steps.lines else None
        context |= {"raw": raw, **steps.context(step_contents.excerpts_of(read, steps.numbers) if read else {})}
        context |= _content(request, read) if read else {}
    return render(request, "captures/steps.html", context, status=422 if refused else 200)


class _Steps:
    """What of the run's steps this page shows."""

    def __init__(self, request: HttpRequest, outline: outlines.Outline, draft: Any) -> None:
        choices = drafts.choices_of(draft) if draft is not None else {}
        self.request, self.outline = request, outline
        self.seen = seen_by(request) if request.method == "POST" else choosing.seen_of(choices, choosing.STEPS)
        self.chosen = timeline_page.chosen_of(choices, outline.steps)
        self.filter = _filter(request, outline)
        matching = self.filter.of(outline.steps, self.chosen.left_out)
        self.page = Paginator(matching, ROWS_A_PAGE).get_page(request.POST.get("page") or request.GET.get("page"))
        self.lines: list[StepLine] = list(self.page.object_list)

    @property
    def numbers(self) -> list[int]:
        return [line.number for line in self.lines]

    def context(self, excerpts: Mapping[int, str]) -> dict[str, Any]:
        steps, chosen, end = self.outline.steps, self.chosen, self.chosen.ends_after
        begun = next((line.started_at for line in steps if line.started_at), None)
        sent = _as_sent(self.request, chosen, self.lines)
        rows = timeline_page.rows_of(self.lines, sent, begun=begun, excerpts=excerpts) if self.lines else []
        return {
            "outline": self.outline,
            "seen": self.seen,
            "filter": self.filter,
            "page": self.page,
            "rows": rows,
            "columns": timeline_page.columns_of(rows),
            "numbers": steps_form.ranges_of(self.numbers),
            "chosen": chosen,
            "stops": steps[chosen.whole] if chosen.whole < len(steps) else None,
            "elsewhere": end if end is not None and end not in self.numbers else None,
            "begun": begun,
            "typed": {name: self.request.POST.get(name, "") for name in ("out_also", "keep_also", "before", "after")},
        }


def _filter(request: HttpRequest, outline: outlines.Outline) -> steps_form.StepFilter:
    """Of the address, and of the page that was sent: it names what it was filtered by."""
    return steps_form.StepFilter(
        request.POST if request.method == "POST" else request.GET, steps=outline.steps, tools=outline.tools
    )


def _as_sent(request: HttpRequest, chosen: timeline_page.Chosen, lines: list[StepLine]) -> timeline_page.Chosen:
    """With the ticks of a form that was refused, which the page shows again."""
    if request.method != "POST":
        return chosen
    out = {line.number for line in lines} - {steps_form.number(said) for said in request.POST.getlist("keep")}
    end = steps_form.number(request.POST.get("ends_after", ""))
    return replace(chosen, left_out=frozenset(out), ends_after=end or None)


def _content(request: HttpRequest, read: NeutralRun) -> dict[str, Any]:
    """The content of the step that the address asks for (`?at=`), to a reader who said why."""
    at = steps_form.number(request.GET.get("at", ""))
    return {"at": at, "contents": step_contents.contents_of(read, at)} if at else {}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def choose_steps(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    """Keep what is ticked of the steps on this page, and where the draft ends. Links of a page that was refused lead
    back to the steps."""
    capture = loading.capture_or_404(request, capture_id)
    run = loading.run_or_404(capture, run)
    if request.method != "POST":
        return redirect(reverse("capture_run", args=[capture.readable_id, run], query=request.GET))
    access.require(user_of(request), capture.project, *CAPTURES)
    try:
        _choose(request, capture, run)
    except SeenAnother:
        return overtaken(request, capture, run, "Steps", back="capture_run", sent=_sent(request))
    except ValidationError as refused:
        return _render(request, capture, run, refused=" ".join(refused.messages))
    except ImportRefused as refused:
        return _render(request, capture, run, refused=str(refused))
    messages.success(request, "The choice of steps is kept in the draft.")
    if request.POST.get("then") == "draft":
        return redirect("capture_draft", capture.readable_id, run)
    kept = {name: request.POST[name] for name in ("page", *StepFilter.base_fields) if request.POST.get(name)}
    kept = {name: value for name, value in kept.items() if (name, value) != ("page", "1")}
    return redirect(reverse("capture_run", args=[capture.readable_id, run], query=kept))


def _choose(request: HttpRequest, capture: Capture, run: int) -> None:
    outline = outlines.of_run(capture, run)
    draft = drafts.of_run(capture, run)
    chosen = timeline_page.chosen_of(drafts.choices_of(draft) if draft else {}, outline.steps)
    matching = _filter(request, outline).of(outline.steps, chosen.left_out)
    said = steps_form.sent(request.POST, len(outline.steps), (line.number for line in matching))
    choosing.choose_steps(
        user_of(request),
        capture=capture,
        run=run,
        shown=said.shown,
        kept=said.kept,
        ends_after=steps_form.number(request.POST.get("ends_after", "")) or None,
        seen=seen_by(request),
    )


def _sent(request: HttpRequest) -> list[tuple[str, str]]:
    """What of the steps was chosen on the page, in words."""
    kept = sorted({number for number in map(steps_form.number, request.POST.getlist("keep")) if number})
    typed = [(label, request.POST.get(name, "")) for name, label in _TYPED.items()]
    said = [("Shown", request.POST.get("shown", "")), ("Of these kept", steps_form.ranges_of(kept)), *typed]
    return [(label, value) for label, value in said if value]
