"""What a capture's URL names, within what the user may see; and what its pages have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import CAPTURES
from replaycases.cases import behalf, drafts, evidence, outlines
from replaycases.cases.models import Capture, Draft
from replaycases.cases.outlines import Outline
from replaycases.fixture.findings import Finding
from replaycases.importers.findings import ImportRefused
from replaycases.web.captures.list_page import TITLES
from replaycases.web.scope import user_of

CaptureId = tuple[str, int]


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What may be shown of a run to everybody who sees the capture, or why nothing is. `destroyed`: there is nothing to
    be read any more; `unread`: this run of it cannot be read."""

    outline: Outline | None = None
    why_not: str = ""
    destroyed: bool = False
    unread: Finding | None = None


def capture_or_404(request: HttpRequest, capture_id: CaptureId) -> Capture:
    key, number = capture_id
    captures = Capture.objects.visible_to(user_of(request)).select_related(
        "project", "payload", "captured_by", "on_behalf_of"
    )
    return get_object_or_404(captures.defer("payload__body", "payload__data_key"), project__key=key, number=number)


def run_or_404(capture: Capture, run: int) -> int:
    if run >= capture.runs:
        raise Http404
    return run


def shown(capture: Capture, run: int) -> Shown:
    try:
        return Shown(outline=outlines.of_run(capture, run))
    except evidence.EvidenceDestroyed as gone:
        return Shown(why_not=str(gone), destroyed=True)
    except ImportRefused as refused:
        return Shown(why_not=str(refused), unread=refused.finding)


def docket(capture: Capture, user: User, *, run: int | None = None, tab: str = "") -> dict[str, Any]:
    """What every page of a capture shows of it. `draft` is what was chosen of the run so far."""
    return {
        "section": "captures",
        "capture": capture,
        "format_title": TITLES.get(capture.format, capture.format),
        "run": run,
        "tab": tab,
        "draft": drafts.of_run(capture, run) if run is not None else None,
        "may_capture": access.has_any(user, capture.project, CAPTURES),
        "lacking": access.lacking(capture.project, CAPTURES),
    }


def senders_of(capture: Capture) -> list[User]:
    """Whose programs sent what a collector brought, and who brought the same bytes again, beside who captured it."""
    known = behalf.senders_of(capture)
    return list(User.objects.filter(pk__in=known).order_by("username")) if known else []


def drafts_of(capture: Capture) -> dict[int, Draft]:
    """Its drafts by their run."""
    return {draft.run: draft for draft in capture.drafts.select_related("case__project", "edited_by").defer("choices")}
