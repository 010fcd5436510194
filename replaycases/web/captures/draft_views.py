"""From one recorded run to a case: the run record, and making the case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from replaycases.accounts import access
from replaycases.accounts.roles import CAPTURES
from replaycases.cases import capture_ends, choosing, drafts, previews
from replaycases.cases.evidence import EvidenceDestroyed
from replaycases.cases.models import Capture, Draft
from replaycases.cases.policies import InvalidTransition, SeenAnother
from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.importers.findings import ImportRefused
from replaycases.web import raw_reading
from replaycases.web.captures import draft_page, expectation_page, later_page, loading
from replaycases.web.captures.case_forms import MakeCaseForm, ReviseForm
from replaycases.web.captures.draft_form import PARTS, RunRecordForm
from replaycases.web.captures.loading import CaptureId
from replaycases.web.captures.report_page import gap_row
from replaycases.web.scope import user_of
from replaycases.web.views.cases import tell_same_name


def drafted(request: HttpRequest, capture_id: CaptureId, run: int) -> Capture:
    """The capture of whose run this person may make a draft."""
    capture = loading.capture_or_404(request, capture_id)
    access.require(user_of(request), capture.project, *CAPTURES)
    loading.run_or_404(capture, run)
    return capture


def unreadable(request: HttpRequest, capture: Capture, run: int, why: str) -> HttpResponse:
    """The page in place of a draft whose recording is destroyed, or is read no more."""
    context = {**loading.docket(capture, user_of(request), run=run), "why": why}
    return render(request, "captures/gone.html", context, status=410 if capture_ends.is_gone(capture) else 409)


def closed(
    request: HttpRequest, shared: dict[str, Any], title: str, *, refused: forms.BaseForm | None = None
) -> HttpResponse | None:
    """The page in place of a draft that is not open to this person: what was chosen may quote the recording, and it is
    tried on it. It says what is wrong in the form that was `refused`, and gives back what they sent. None where the
    draft is open."""
    draft = shared["draft"]
    if draft is None:
        return None
    raw = shared["raw"] = raw_reading.of(request, draft, back=request.path)
    if not raw.asks:
        return None
    sent = sent_in(request)
    errors = [said for found in refused.errors.values() for said in found] if refused is not None else []
    context = {**shared, "title": title, "sent": sent, "errors": errors}
    return render(request, "captures/closed.html", context, status=422 if request.method == "POST" else 200)


def overtaken(
    request: HttpRequest, capture: Capture, run: int, title: str, *, back: str, sent: Iterable[tuple[str, str]] = ()
) -> HttpResponse:
    """The page in place of one that would undo what somebody else chose since it was shown. It gives back what they
    sent, and leads to the page `back` as it is now."""
    context = {**loading.docket(capture, user_of(request), run=run), "title": title, "sent": list(sent), "back": back}
    return render(request, "captures/overtaken.html", context, status=409)


def sent_in(request: HttpRequest) -> list[tuple[str, str]]:
    """What the form said, without what the page put into it."""
    said = ((name, ", ".join(map(str, values))) for name, values in request.POST.lists() if name not in _NOT_SAID)
    return [(name, value.replace("\r\n", "\n")) for name, value in said if value]


_NOT_SAID = ("csrfmiddlewaretoken", "seen", "then")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def run_record(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    capture = drafted(request, capture_id, run)
    found = loading.shown(capture, run)
    if found.outline is None:
        return unreadable(request, capture, run, found.why_not)
    shared = loading.docket(capture, user_of(request), run=run, tab="draft")
    if request.method != "POST":
        asks = closed(request, shared, "Run record")
        if asks is not None:
            return asks
    choices = _choices(shared["draft"])
    boundaries = sorted({line.boundary for line in found.outline.steps})
    form = RunRecordForm(request.POST or None, choices=choices, called=found.outline.tools, boundaries=boundaries)
    if request.method == "POST" and form.is_valid():
        try:
            choosing.choose(user_of(request), capture=capture, run=run, parts=form.parts(), seen=seen_by(request))
        except SeenAnother:
            return overtaken(request, capture, run, "Run record", back="capture_draft", sent=sent_in(request))
        except ImportRefused as refused:
            found_at = refused.finding.pointer[1:]
            form.add_error(found_at if found_at in form.fields else None, str(refused))
        else:
            messages.success(request, "The run record is kept in the draft.")
            then = "capture_expectation" if request.POST.get("then") == "expectation" else "capture_draft"
            return redirect(then, capture.readable_id, run)
    asks = closed(request, shared, "Run record", refused=form)
    if asks is not None:
        return asks
    tried = previews.preview(user_of(request), shared["draft"]) if shared["draft"] else None
    report = (tried and tried.report) or found.outline.report
    wrong = tried.findings if tried and not form.is_bound else ()
    parts = draft_page.parts_of(form, found.outline.record, report, choices, wrong)
    context: dict[str, Any] = {
        **shared,
        "form": form,
        "parts": parts,
        "record": draft_page.record_rows(parts),
        "tried": tried,
        "missing": sum(gap.caps and not gap.declared for gap in report.gaps),
        "gaps": [gap_row(gap) for gap in report.gaps],
        "seen": seen_by(request) if form.is_bound else choosing.seen_of(choices, PARTS),
    }
    return render(request, "captures/draft.html", context, status=422 if request.method == "POST" else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def make_case(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    """The failure statement, and with it the case."""
    capture = drafted(request, capture_id, run)
    shared = loading.docket(capture, user_of(request), run=run, tab="case")
    draft: Draft | None = shared["draft"]
    form = MakeCaseForm(request.POST or None, capture=capture)
    if draft is not None and draft.case is None and form.is_valid():
        try:
            case = drafts.make_case(user_of(request), draft=draft, seen=seen_by(request), **form.said())
        except FixtureInvalid as invalid:
            return _render_case(request, shared, form, findings=invalid.findings)
        except ImportRefused as refused:
            return _render_case(request, shared, form, findings=[refused.finding])
        except ValidationError as refused:
            _add_errors(form, refused)
        except SeenAnother as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"{case.readable_id} is open, in quarantine.")
            tell_same_name(request, case)
            return redirect("case", case.readable_id)
    return _render_case(request, shared, form)


@login_required
@require_POST
def revise_case(request: HttpRequest, capture_id: CaptureId, run: int) -> HttpResponse:
    """The draft as it is now, as the next revision of the case that was made of it."""
    capture = drafted(request, capture_id, run)
    shared = loading.docket(capture, user_of(request), run=run, tab="case")
    draft: Draft | None = shared["draft"]
    if draft is None:
        raise InvalidTransition("There is no draft of this run yet.")
    form = ReviseForm(request.POST)
    if form.is_valid():
        said = form.cleaned_data
        try:
            case = drafts.revise(
                user_of(request),
                draft=draft,
                changed=said["changed"],
                seen_revision=said["seen_revision"],
                seen=seen_by(request),
            )
        except FixtureInvalid as invalid:
            return _render_case(request, shared, MakeCaseForm(capture=capture), revise=form, findings=invalid.findings)
        except ImportRefused as refused:
            return _render_case(request, shared, MakeCaseForm(capture=capture), revise=form, findings=[refused.finding])
        except ValidationError as refused:
            _add_errors(form, refused)
        except SeenAnother as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"The draft is the current revision of {case.readable_id}.")
            return redirect("case", case.readable_id)
    return _render_case(request, shared, MakeCaseForm(capture=capture), revise=form)


def seen_by(request: HttpRequest) -> str:
    """By what the sent page knew what it showed, "" for a page that showed nothing."""
    return request.POST.get("seen", "")


def _add_errors(form: Any, refused: ValidationError) -> None:
    """Beside the field where the form has it, else above."""
    found = refused.message_dict if hasattr(refused, "error_dict") else {"": refused.messages}
    for name, said in found.items():
        form.add_error(name if name in form.fields else None, said)


def _render_case(
    request: HttpRequest,
    shared: dict[str, Any],
    form: MakeCaseForm,
    *,
    revise: ReviseForm | None = None,
    findings: list[Finding] | None = None,
) -> HttpResponse:
    user, draft = user_of(request), shared["draft"]
    asks = closed(request, shared, "Make the case", refused=revise or form)
    if asks is not None:
        return asks
    try:
        tried = previews.preview(user, draft) if draft else None
    except EvidenceDestroyed as gone:
        return unreadable(request, shared["capture"], shared["run"], str(gone))
    revision = draft.case.current_revision if draft and draft.case else None
    current = revision.number if revision else 0
    context = {
        **shared,
        "form": form,
        "revise": revise or ReviseForm(initial={"seen_revision": current}),
        "tried": tried,
        "findings": findings,
        "current": current,
        "later": _later(shared),
        "rows": expectation_page.rows_of(_choices(draft).get("expected", {}), tried)
        if tried and tried.is_fixture
        else [],
        "same": bool(tried and revision and tried.fixture_hash == revision.fixture_hash),
    }
    return render(request, "captures/case.html", context, status=422 if request.method == "POST" else 200)


def _later(shared: dict[str, Any]) -> later_page.Later | None:
    """None where there is nothing yet that a case could be made of, and where it is made."""
    draft, outline = shared["draft"], loading.shown(shared["capture"], shared["run"]).outline
    if draft is None or draft.case is not None or outline is None:
        return None
    return later_page.later_of(_choices(draft), outline.tools)


def _choices(draft: Draft | None) -> dict[str, Any]:
    return drafts.choices_of(draft) if draft is not None else {}
