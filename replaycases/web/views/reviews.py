"""The review page of a case, its decisions and comments, and the queue of what waits for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from replaycases.cases import claims, comments, evidence, lifecycle, policies, reading
from replaycases.cases.models import Case, Decision, DecisionKind, FixtureRevision
from replaycases.cases.policies import SeenAnother
from replaycases.fixture import strict_json
from replaycases.web import document_rows, raw_reading, review_page, review_queue, revision_page, words
from replaycases.web.forms_review import CommentForm, DecisionForm, ResolutionForm, ReturnForm
from replaycases.web.pages import page_of
from replaycases.web.redactions import turns
from replaycases.web.redactions.views import render_review as render_redaction
from replaycases.web.scope import CaseId, case_or_404, comment_or_404, control_or_404, revision_or_404, user_of
from replaycases.web.views.revisions import render_revision


@dataclass(frozen=True, kw_only=True)
class Decided:
    """The services that decide one kind, and the hidden fields that each compares with what is there now."""

    approve: Callable[..., Decision]
    approved_by: tuple[str, ...]
    send_back: Callable[..., Decision]
    returned_by: tuple[str, ...]
    returning: policies.ActionName


DECIDED: Mapping[DecisionKind, Decided] = {
    DecisionKind.REDACTION: Decided(
        approve=lifecycle.approve_redaction,
        approved_by=("content_hash",),
        send_back=lifecycle.return_redaction,
        returned_by=("content_hash",),
        returning="return_redaction",
    ),
    DecisionKind.EXPECTATION: Decided(
        approve=lifecycle.approve_expectation,
        approved_by=("fixture_hash", "checks_hash"),
        send_back=lifecycle.return_expectation,
        returned_by=("fixture_hash",),
        returning="return_expectation",
    ),
}


@login_required
@require_safe
def review_queue_page(request: HttpRequest) -> HttpResponse:
    """What waits for a decision. By default only what waits for the reader, or is their own work."""
    user = user_of(request)
    everything = request.GET.get("show") == "all"
    controls = review_queue.open_controls()
    waiting = review_queue.waiting_cases(user, controls)
    page = page_of(request, waiting if everything else review_queue.of_reader(waiting, user, controls))
    found = review_queue.rows(list(page.object_list), user, controls)
    context = {
        "section": "reviews",
        "page": page,
        "everything": everything,
        "waiting": found,
        "mine": sum(bool(row.mine) for row in found),
        "redactions": len(review_queue.redactions_for(user)),
        "in_all": None if everything else waiting.count(),
    }
    return render(request, "reviews/queue.html", context)


@login_required
@require_safe
def case_review(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    return _render_review(request, case_or_404(request, case_id))


def _render_review(
    request: HttpRequest, case: Case, *, kind: DecisionKind | None = None, form: ReturnForm | None = None
) -> HttpResponse:
    """The page; `form` is a return of `kind` that was refused (422)."""
    if case.current_revision is None:
        return render(request, "reviews/empty.html", revision_page.docket_of(case, "review"))
    context = review_page.context(case, request)
    shown, to_read = context["revision"], context["to_read"]
    if context["readable"] and to_read.approval is None:
        context |= review_page.whole(shown, request)
    forms = {each: ReturnForm(initial=_seen(shown), auto_id=f"{each}-%s") for each in ("redaction", "expectation")}
    if form is not None and kind is not None:
        forms[kind.value] = form
    context["decisions_asked"] = [{"asked": context[name], "form": each} for name, each in forms.items()]
    return render(request, "reviews/detail.html", context, status=422 if form else 200)


def _seen(revision: FixtureRevision) -> dict[str, object]:
    """What a form about this revision carries: the hashes that were shown."""
    return {
        "revision": revision.number,
        "content_hash": revision.content_hash,
        "fixture_hash": revision.fixture_hash,
        "checks_hash": revision.checks_hash,
    }


# --- approvals: looked at once more, then given -----------------------------------------------------------------------


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def redaction_approval(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    return _approval(request, case_id, DecisionKind.REDACTION)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def expectation_approval(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    return _approval(request, case_id, DecisionKind.EXPECTATION)


def _approval(request: HttpRequest, case_id: CaseId, kind: DecisionKind) -> HttpResponse:
    case, decided = case_or_404(request, case_id), DECIDED[kind]
    if request.method != "POST":
        return _confirmation(request, case, kind)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return _confirmation(request, case, kind, form)
    said = form.cleaned_data
    seen = {field: said[field] for field in decided.approved_by}
    decided.approve(user_of(request), case=case, revision=said["revision"], note=said["note"], **seen)
    messages.success(request, f"{case.readable_id}: the {kind.value} of revision {said['revision']} is approved.")
    return _onward(request, case, kind)


def _confirmation(
    request: HttpRequest, case: Case, kind: DecisionKind, form: DecisionForm | None = None
) -> HttpResponse:
    """Hash and counts of what is about to be approved. Raises SeenAnother if that is not what the link was about."""
    if case.current_revision is None:
        raise SeenAnother("The case has no fixture yet.")
    context = review_page.context(case, request, kind)
    shown = context["revision"]
    if form is None:
        asked = {name: request.GET[name] for name in _seen(shown) if name in request.GET}
        if any(str(_seen(shown)[name]) != value for name, value in asked.items()):
            raise SeenAnother(f"Revision {shown.number} is the current one, and you saw another. Look again.")
    context |= {"asked": context[kind.value], "form": form or DecisionForm(initial=_seen(shown))}
    return render(request, "reviews/confirm.html", context, status=422 if form else 200)


# --- returns ----------------------------------------------------------------------------------------------------------


@login_required
@require_POST
def redaction_return(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    return _return(request, case_id, DecisionKind.REDACTION)


@login_required
@require_POST
def expectation_return(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    return _return(request, case_id, DecisionKind.EXPECTATION)


def _return(request: HttpRequest, case_id: CaseId, kind: DecisionKind) -> HttpResponse:
    case, user, decided = case_or_404(request, case_id), user_of(request), DECIDED[kind]
    policies.require(case, user, decided.returning)
    form = ReturnForm(request.POST, auto_id=f"{kind.value}-%s")
    if not form.is_valid():
        if request.POST.get("page") == "redaction":
            return render_redaction(request, case, form=form)
        return _render_review(request, case, kind=kind, form=form)
    said = form.cleaned_data
    seen = {field: said[field] for field in decided.returned_by}
    decided.send_back(user, case=case, revision=said["revision"], note=said["note"], **seen)
    told = f"{case.readable_id}: the {kind.value} of revision {said['revision']} is returned to its author."
    messages.success(request, told)
    return _onward(request, case, kind)


def _onward(request: HttpRequest, case: Case, kind: DecisionKind) -> HttpResponse:
    """The next redaction that waits for the reviewer; the case where none does, or where that was not what it was."""
    following = None
    if kind == DecisionKind.REDACTION:
        claims.release(user_of(request), case)
        following = turns.onward(request, case, take=False)
    return following or redirect("case_review", case.readable_id)


# --- controls: one by one ---------------------------------------------------------------------------------------------


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def control_approval(request: HttpRequest, case_id: CaseId, pk: UUID) -> HttpResponse:
    """The control's document and its mutation, and the approval of exactly these bytes."""
    user = user_of(request)
    control = control_or_404(request, case_id, pk)
    reading.require(control, user)
    if request.method == "POST":
        form = DecisionForm({**request.POST.dict(), "revision": control.revision.number})
        if form.is_valid():
            said = form.cleaned_data
            lifecycle.approve_control(user, control=control, fixture_hash=said["fixture_hash"], note=said["note"])
            messages.success(request, "The control is approved.")
            return redirect(f"{reverse('case_review', args=[control.revision.case.readable_id])}#controls")
    else:
        form = DecisionForm(initial={"fixture_hash": control.fixture_hash})
    case = case_or_404(request, case_id)
    held_controls = review_page.controls_of(control.revision, case, user)
    raw = raw_reading.of(request, control, back=request.path)
    fixture = strict_json.parse(evidence.read(control.payload)) if raw.open else {}
    page = page_of(request, document_rows.places(fixture))
    context = {
        **revision_page.docket_of(case, "review"),
        "control": control,
        "raw": raw,
        "asked": next(row for row in held_controls if row.control.pk == control.pk),
        "form": form,
        "page": page,
        "rows": revision_page.shown_rows(list(page.object_list)),
        "mutation": _steps(evidence.read(control.mutation)) if control.mutation and raw.open else [],
    }
    return render(request, "reviews/control.html", context, status=422 if form.is_bound else 200)


def _steps(mutation: bytes) -> list[dict[str, object]]:
    """The steps of the patch: what is done, where, and the value that it puts there."""
    return [
        {
            "op": str(step.get("op", "")),
            "path": str(step.get("path", "")),
            "value": words.whole(document_rows.told(step["value"])) if "value" in step else None,
        }
        for step in strict_json.parse(mutation)
    ]


# --- comments ---------------------------------------------------------------------------------------------------------


@login_required
@require_POST
def add_comment(request: HttpRequest, case_id: CaseId, number: int) -> HttpResponse:
    revision = revision_or_404(request, case_id, number)
    user, case = user_of(request), revision.case
    policies.require(case, user, "comment")
    reading.require(revision, user)
    form = CommentForm(request.POST)
    if form.is_valid():
        said = form.cleaned_data
        try:
            comments.add(user, revision=revision, pointer=said["pointer"], text=said["text"])
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            messages.success(request, "The comment stays until somebody resolves it.")
            return redirect(_place(case, revision, said["pointer"]))
    return render_revision(request, revision, asked=request.POST.get("pointer", ""), form=form)


@login_required
@require_POST
def resolve_comment(request: HttpRequest, case_id: CaseId, pk: UUID) -> HttpResponse:
    comment = comment_or_404(request, case_id, pk)
    form = ResolutionForm(request.POST)
    try:
        if not form.is_valid():
            raise ValidationError(form.errors.as_data()["resolution"])
        comments.resolve(user_of(request), comment=comment, resolution=form.cleaned_data["resolution"])
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    else:
        messages.success(request, "The comment is resolved.")
    return redirect(_place(comment.revision.case, comment.revision, comment.pointer))


def _place(case: Case, revision: FixtureRevision, pointer: str) -> str:
    """The document at the place of a comment."""
    return f"{reverse('revision', args=[case.readable_id, revision.number])}#{document_rows.anchor_of(pointer)}"
