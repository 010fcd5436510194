"""Fixture revisions: the list, one document, the differences of two, and adding one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from replaycases.accounts import access
from replaycases.accounts.roles import CHANGES_CONTENT
from replaycases.cases import comments, evidence, exports, fixtures, intake, policies, reading
from replaycases.cases.available import available_actions
from replaycases.cases.models import Case, Control, FixtureRevision, Payload
from replaycases.cases.policies import SeenAnother
from replaycases.fixture import strict_json
from replaycases.fixture.findings import FixtureInvalid
from replaycases.web import difference_rows, document_rows, incident_names, raw_reading, revision_page, timeout_rows
from replaycases.web.forms_review import EDITED_BYTES, CommentForm, RevisionForm
from replaycases.web.pages import page_of
from replaycases.web.scope import CaseId, case_or_404, control_or_404, revision_or_404, user_of
from replaycases.web.views.cases import tell_same_name


@login_required
@require_safe
def revision_list(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    case = case_or_404(request, case_id)
    [adding] = available_actions(case, user_of(request), only={"add_revision"})
    context = {
        **revision_page.docket_of(case, "revisions"),
        "listed": revision_page.listed(case, user_of(request)),
        "adding": adding,
    }
    return render(request, "revisions/list.html", context)


@login_required
@require_safe
def revision_detail(request: HttpRequest, case_id: CaseId, number: int) -> HttpResponse:
    revision = revision_or_404(request, case_id, number)
    reading.require(revision, user_of(request))
    return render_revision(request, revision, asked=request.GET.get("at"))


def render_revision(
    request: HttpRequest, shown: FixtureRevision, *, asked: str | None, form: CommentForm | None = None
) -> HttpResponse:
    """The document page; `asked` is the place whose form for a comment is open, `form` one that was refused (422)."""
    user, case = user_of(request), shown.case
    said = list(comments.of_case(case))
    raw = raw_reading.of(request, shown, back=reverse("revision", args=[case.readable_id, shown.number]))
    remarks = [comment for comment in said if comment.revision_id == shown.pk]
    document = revision_page.page_of_document(
        revision_page.document_of(shown) if raw.open else {},
        fixtures.of_revision(shown).warnings if raw.open else [],
        remarks if raw.open else [],
        asked=asked,
        number=None if form else request.GET.get("page"),
    )
    actions = {found.name: found for found in available_actions(case, user, only={"add_revision", "comment"})}
    context = {
        **revision_page.docket_of(case, "revisions"),
        "shown": shown,
        "raw": raw,
        "remarks": len(remarks),
        "listed": next(item for item in revision_page.listed(case, user) if item.revision.pk == shown.pk),
        "page": document.page,
        "rows": document.rows,
        "outline": document.outline,
        "located": document.located,
        "elsewhere": [c for c in said if c.revision_id != shown.pk and c.resolved_at is None],
        "asked": asked,
        "is_asked_here": document.is_asked_here,
        "form": form or CommentForm(initial={"pointer": asked or ""}),
        "commenting": actions["comment"],
        "adding": actions["add_revision"],
        "timeouts": timeout_rows.rows_of(shown),
        "download": reverse("revision_document", args=[case.readable_id, shown.number]),
        "kept_back": exports.why_not(shown),
    }
    return render(request, "revisions/detail.html", context, status=422 if form else 200)


@login_required
@require_safe
def differences(request: HttpRequest, case_id: CaseId, number: int) -> HttpResponse:
    user = user_of(request)
    shown = revision_or_404(request, case_id, number)
    reading.require(shown, user)
    begin = _number(request.GET.get("from"), revision_page.begin_of(shown, user))
    old = revision_or_404(request, case_id, begin) if begin else None
    context: dict[str, Any] = {
        **revision_page.docket_of(shown.case, "revisions"),
        "shown": shown,
        "old": old,
        "raw": raw_reading.of(request, *filter(None, [shown, old])),
        "numbers": shown.case.revisions.exclude(pk=shown.pk).values_list("number", flat=True).order_by("number"),
    }
    if old is not None:
        reading.require(old, user)
    if old is not None and context["raw"].open:
        found = revision_page.compared(old, shown)
        context |= {"differences": found, "page": page_of(request, found.places())}
    return render(request, "revisions/differences.html", context)


def _number(text: str | None, default: int | None) -> int | None:
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise Http404
    return int(text)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_revision(request: HttpRequest, case_id: CaseId) -> HttpResponse:
    """Add a revision from a file or from text. What is refused is shown beside its line and nothing of it is kept."""
    case = case_or_404(request, case_id)
    policies.require(case, user_of(request), "add_revision")
    if request.method != "POST":
        return _render_new(request, case, None)
    form = RevisionForm(request.POST, request.FILES, case=case, user=user_of(request))
    if not form.is_valid():
        return _render_new(request, case, form, status=422)
    data = form.document()
    try:
        revision = _add(request, case, form, data)
    except FixtureInvalid as invalid:
        found = revision_page.beside_lines(invalid.findings, data.decode("utf-8", "replace"))
        return _render_new(request, case, form, status=422, findings=found)
    except ValidationError as refused:
        form.add_error(None, refused)
        return _render_new(request, case, form, status=422)
    except SeenAnother as refused:
        return _render_new(request, case, form, status=409, refused=str(refused), mine=data)
    messages.success(request, f"Revision {revision.number} is the current one.")
    if revision.number == 1:
        tell_same_name(request, revision.case)
    incident_names.tell(request, revision)
    return redirect("revision", case.readable_id, revision.number)


def _add(request: HttpRequest, case: Case, form: RevisionForm, data: bytes) -> FixtureRevision:
    said = form.cleaned_data
    detect = said["detect"].read() if said["detect"] else None
    if detect is None and said["keep_detect"] and case.current_revision and case.current_revision.detect:
        detect = evidence.read(case.current_revision.detect)
    return intake.add_revision(
        user_of(request),
        case=case,
        fixture=data,
        detect=detect,
        changed=said["changed"],
        on_behalf_of=said["on_behalf_of"],
        seen_revision=said["seen"],
    )


def _render_new(
    request: HttpRequest,
    case: Case,
    form: RevisionForm | None,
    *,
    status: int = 200,
    findings: list[revision_page.FindingLine] | None = None,
    refused: str = "",
    mine: bytes = b"",
) -> HttpResponse:
    """The form. A refused one keeps what was typed; after a conflict it is based on what is current now, whose
    differences from what was sent stand above it."""
    user, current = user_of(request), case.current_revision
    raw = raw_reading.of(request, current, back=request.path) if current is not None else None
    readable = raw is None or raw.open
    editable = readable and (current is None or current.payload.size <= EDITED_BYTES)
    if form is None:
        form = RevisionForm(case=case, user=user, initial=_initial(current, editable))
    elif refused and current is not None:
        data = request.POST.copy()
        data["seen"] = str(current.number)
        form.data = data
    context = {
        **revision_page.docket_of(case, "revisions"),
        "form": form,
        "raw": raw,
        # What somebody sent themselves they see again, whatever may be read of the current revision.
        "editable": editable or bool(form["text"].value()),
        "only_expected": current is not None and not access.has_any(user, case.project, CHANGES_CONTENT),
        "findings": findings or [],
        "refused": refused,
        "differences": _against(current, mine) if refused and readable else None,
    }
    return render(request, "revisions/new.html", context, status=status)


def _initial(current: FixtureRevision | None, editable: bool) -> dict[str, Any]:
    if current is None:
        return {"seen": 0, "changed": "The first one."}
    document = strict_json.parse(evidence.read(current.payload)) if editable else None
    text = document_rows.as_json(document) if document is not None else ""
    return {"seen": current.number, "text": text, "keep_detect": current.detect_id is not None}


def _against(current: FixtureRevision | None, mine: bytes) -> difference_rows.Differences | None:
    """What was sent, compared with what is current now; None if it cannot be read."""
    if current is None:
        return None
    try:
        sent = strict_json.parse(mine)
    except FixtureInvalid:
        return None
    return difference_rows.compare(strict_json.parse(evidence.read(current.payload)), sent)


# --- exact bytes ------------------------------------------------------------------------------------------------------


@login_required
@require_safe
def document(request: HttpRequest, case_id: CaseId, number: int) -> HttpResponse:
    revision = revision_or_404(request, case_id, number)
    exports.require(revision)
    case_name, back = revision.case.readable_id, reverse("revision", args=[revision.case.readable_id, number])
    return raw_reading.download(request, revision, revision.payload, f"{case_name}-revision-{number}.json", back=back)


@login_required
@require_safe
def control_document(request: HttpRequest, case_id: CaseId, pk: UUID) -> HttpResponse:
    control = control_or_404(request, case_id, pk)
    return _of_control(request, control, control.payload, "control")


@login_required
@require_safe
def control_mutation(request: HttpRequest, case_id: CaseId, pk: UUID) -> HttpResponse:
    control = control_or_404(request, case_id, pk)
    if control.mutation is None:
        raise Http404
    return _of_control(request, control, control.mutation, "mutation")


def _of_control(request: HttpRequest, control: Control, payload: Payload, part: str) -> HttpResponse:
    case_name = control.revision.case.readable_id
    back = reverse("control_approval", args=[case_name, control.pk])
    return raw_reading.download(request, control, payload, f"{case_name}-{part}-{control.pk}.json", back=back)
