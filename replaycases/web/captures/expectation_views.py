"""What must and must not happen: checks added one by one or written as JSON, tried on the recorded run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from replaycases.cases import choosing, drafts, previews
from replaycases.cases.models import Capture
from replaycases.cases.policies import InvalidTransition, SeenAnother
from replaycases.web.captures import expectation_edit, expectation_page, loading
from replaycases.web.captures.check_forms import BY_NAME, CheckForm
from replaycases.web.captures.draft_views import closed, drafted, overtaken, seen_by, sent_in, unreadable
from replaycases.web.captures.entry_digest import GONE
from replaycases.web.captures.json_field import JsonField
from replaycases.web.captures.loading import CaptureId
from replaycases.web.forms import StyledForm
from replaycases.web.scope import user_of

PART = "expected"


@dataclass(frozen=True, kw_only=True)
class Changing:
    """The check that is being changed, or the part of it, and its form."""

    part: expectation_edit.Part
    form: CheckForm

    @property
    def title(self) -> str:
        return BY_NAME[self.part.form].title


class ExpectedForm(StyledForm):
    expected = JsonField(
        shape=dict, named="a JSON object", rows=22, label="expected", help_text="As it stands in the fixture."
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def expectation(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    """The builder; sent to itself it keeps the JSON."""
    capture = drafted(request, capture_id, run)
    if request.method != "POST":
        return _render(request, capture, run)
    form = ExpectedForm(request.POST)
    if not form.is_valid():
        return _render(request, capture, run, text=form)
    said = form.cleaned_data["expected"] or {}
    return _kept(request, capture, run, lambda there: said, "The expectation is kept in the draft.", whole=True)


@login_required
@require_POST
def add_check(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    capture = drafted(request, capture_id, run)
    kind = BY_NAME.get(request.POST.get("add", ""))
    if kind is None:
        raise Http404
    form = kind.form(request.POST, kind=kind.name)
    if not form.is_valid():
        return _render(request, capture, run, refused=form, kind=kind.name)
    is_incident, spec = form.cleaned_data.get("incident", False), form.spec()
    added = partial(expectation_edit.added, kind=kind.of, spec=spec, is_incident=is_incident)
    return _kept(request, capture, run, added, "The check is added.")


@login_required
@require_POST
def change_check(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    """One check, or one part of it, as the sent form says, in the place where it stands."""
    capture = drafted(request, capture_id, run)
    expected = _expected(capture, run)
    part = _seen_part(request, expected)
    form = BY_NAME[part.form].form(request.POST, kind=part.form, shown=part.spec)
    if form.is_valid():
        is_incident = form.cleaned_data.get("incident", False)
        changed = partial(_changed, part=part, spec=form.spec(), is_incident=is_incident)
        try:
            return _kept(request, capture, run, changed, "The check is changed.")
        except ValueError as taken:
            form.add_error("id" if "id" in form.fields else "action", f"There is a check {taken} already.")
    return _render(request, capture, run, changing=Changing(part=part, form=form))


def _changed(
    there: dict[str, Any], part: expectation_edit.Part, spec: dict[str, Any], is_incident: bool
) -> dict[str, Any]:
    if expectation_edit.part_of(there, part.check, part.name) != part:
        raise InvalidTransition(GONE)
    return expectation_edit.changed(there, part, spec, is_incident=is_incident)


@login_required
@require_POST
def remove_check(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    capture = drafted(request, capture_id, run)
    return _kept(request, capture, run, partial(_removed, request), "The check is taken out.")


def _removed(request: HttpRequest, there: dict[str, Any]) -> dict[str, Any]:
    """A check is named by its id, a part of it by what stands there too."""
    if request.POST.get("part"):
        part = _seen_part(request, there)
        return expectation_edit.removed(there, part.check, part.name)
    return expectation_edit.removed(there, request.POST.get("check", ""))


def _seen_part(request: HttpRequest, expected: dict[str, Any]) -> expectation_edit.Part:
    """Raises InvalidTransition where something else stands there than what the page showed."""
    part = expectation_edit.part_of(expected, request.POST.get("check", ""), request.POST.get("part", ""))
    if part is None or part.digest != request.POST.get("seen", ""):
        raise InvalidTransition(GONE)
    return part


@login_required
@require_POST
def choose_incident(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    """Which of the checks are the incident."""
    capture = drafted(request, capture_id, run)
    incident = partial(expectation_edit.with_boundary, checks=request.POST.getlist("incident"))
    return _kept(request, capture, run, incident, "Which checks are the incident is kept.", whole=True)


def _kept(
    request: HttpRequest,
    capture: Capture,
    run: int,
    into: Callable[[dict[str, Any]], dict[str, Any]],
    done: str,
    *,
    whole: bool = False,
) -> HttpResponse:
    """`whole`: what is sent takes the place of all that the page showed, so that it must stand there still."""
    shown = seen_by(request) if whole else None
    try:
        choosing.change(
            user_of(request), capture=capture, run=run, part=PART, into=lambda there: into(there or {}), seen=shown
        )
    except SeenAnother:
        return overtaken(request, capture, run, "Expectation", back="capture_expectation", sent=sent_in(request))
    messages.success(request, done)
    return redirect("capture_expectation", capture.readable_id, run)


def _asked_for(request: HttpRequest, expected: dict[str, Any]) -> Changing | None:
    """What the address asks to change (`?change=`, `&part=`)."""
    part = expectation_edit.part_of(expected, request.GET.get("change", ""), request.GET.get("part", ""))
    if part is None:
        return None
    is_incident = part.check in expectation_edit.incident_of(expected)
    return Changing(part=part, form=expectation_page.change_form(part, is_incident=is_incident))


def _expected(capture: Capture, run: int) -> dict[str, Any]:
    draft = drafts.of_run(capture, run)
    found: dict[str, Any] = drafts.choices_of(draft).get("expected", {}) if draft else {}
    return found


def _render(
    request: HttpRequest,
    capture: Capture,
    run: int,
    *,
    text: ExpectedForm | None = None,
    refused: CheckForm | None = None,
    kind: str = "",
    changing: Changing | None = None,
) -> HttpResponse:
    found = loading.shown(capture, run)
    if found.outline is None:
        return unreadable(request, capture, run, found.why_not)
    shared = loading.docket(capture, user_of(request), run=run, tab="expectation")
    sent = text or refused or (changing.form if changing else None)
    asks = closed(request, shared, "Expectation", refused=sent)
    if asks is not None:
        return asks
    draft = shared["draft"]
    choices = drafts.choices_of(draft) if draft is not None else {}
    tried = previews.preview(user_of(request), draft) if draft is not None else None
    expected = choices.get("expected", {})
    rows = expectation_page.rows_of(expected, tried)
    context = {
        **shared,
        "rows": rows,
        "tried": tried,
        "offers": expectation_page.offers(has_incident=bool(expected.get("boundary")), refused=refused, kind=kind),
        "seen": seen_by(request) if text else choosing.seen_of(choices, (PART,)),
        "text": text or ExpectedForm(initial={"expected": expected or None}),
        "changing": changing or _asked_for(request, expected),
        "tools": found.outline.known_tools,
        "actions": expectation_page.actions_of(choices),
        "leniency": expectation_page.leniency_of(choices),
        "grade": expected.get("grade"),
        "has_incident": any(row.is_incident for row in rows),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "captures/expectation.html", context, status=status)
