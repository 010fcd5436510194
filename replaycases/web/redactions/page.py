"""The privacy reviewer's page: raw and redacted side by side, what was found, and what stands in the way."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import DECIDES_REDACTION
from replaycases.cases import claims, decisions, reading, redaction_policies, redaction_rows, returns, seen_spans
from replaycases.cases.available import available_actions
from replaycases.cases.models import Case, DecisionKind, FixtureRevision, Redaction
from replaycases.redaction import kind_words
from replaycases.web import raw_reading, review_page, review_queue, revision_page
from replaycases.web.gate_rows import GateRow
from replaycases.web.redactions import bar, findings, loading, otherwise, rows, spans, turns
from replaycases.web.redactions.loading import Read, Sides
from replaycases.web.review_page import Asked
from replaycases.web.scope import user_of

LONG = 1_000_000
"""Of a longer revision the gates are computed once they can matter: one of them reads all of it once more."""


@dataclass(frozen=True, kw_only=True)
class _Review:
    """What the parts of a page are made from. `redaction` is None where nobody looked at the revision yet."""

    request: HttpRequest
    case: Case
    user: User
    sides: Sides
    redaction: Redaction | None
    asked: Asked
    seen: frozenset[int]


def context(case: Case, request: HttpRequest) -> dict[str, Any]:
    """Everything of the page. `case` has a current revision. What is raw is on it only where it is open to the
    reader."""
    user, revision = user_of(request), loading.current(case)
    sides, redaction = loading.sides_of(revision), redaction_rows.newest(revision)
    raw = raw_reading.of(request, *sides.both, back=address(case))
    asked = review_page.asked_of(case, revision, user, DecisionKind.REDACTION, raw.access.may)
    review = _Review(
        request=request,
        case=case,
        user=user,
        sides=sides,
        redaction=redaction,
        asked=asked,
        seen=seen_spans.of(user, redaction) if redaction is not None else frozenset(),
    )
    gates = _gates(review, revision)
    actions = {one.name: one for one in available_actions(case, user, only={"redact", "waive"})}
    counted = bar.seen_of(redaction, review.seen, "") if redaction is not None else None
    closed = {"seen": counted, "why_not": bar.why_not(asked.why_not_approve, counted, [], gates or [])}
    waiting = review_queue.redactions_for(user) if asked.standing is None else []
    return {
        **revision_page.docket_of(case, "review"),
        "revision": revision,
        "redaction": redaction,
        "sides": sides,
        "raw": raw,
        "readable": raw.open,
        "readers": reading.readers(),
        "asked": asked,
        "gates": gates,
        "actions": actions,
        "rules_wait": redaction is not None and redaction_rows.rules_changed(redaction),
        "loses_approval": _loses_approval(review, actions["redact"].allowed),
        "turn": bar.turn_of(case, waiting),
        "held": claims.is_held(case),
        "mine": case.reviewer_id == user.pk,
        "skipped": _skipped(request, case),
        "returned": returns.last_of(user),
        "in_force": redaction_policies.current(case.project),
        **(_open(review, gates) if raw.open else closed),
    }


def _loses_approval(review: _Review, may_redact: bool) -> bool:
    """Whether the reader could approve it, and no longer once they redact it."""
    if not may_redact or review.asked.standing is not None:
        return False
    return access.has_any(review.user, review.case.project, DECIDES_REDACTION)


def _skipped(request: HttpRequest, case: Case) -> str:
    """The case that the reader skipped last, to which they can go back; "" where there is none."""
    last = turns.skipped(request)[-1:]
    return last[0] if last and last[0] != case.readable_id else ""


def address(case: Case, *, page: int = 0, line: int | None = None, whole: bool = False) -> str:
    """Of the page of values that shows a line."""
    asked = [*([f"page={page + 1}"] if page else []), *(["show=all"] if whole else [])]
    query = f"?{'&'.join(asked)}" if asked else ""
    return f"{reverse('redaction_review', args=[case.readable_id])}{query}{f'#row-{line}' if line is not None else ''}"


def address_of_piece(case: Case, line: int, part: int) -> str:
    """Of the page of a long text that shows this part of it, counted from 1."""
    query = f"?part={part}" if part > 1 else ""
    return f"{reverse('redaction_value', args=[case.readable_id, line])}{query}"


def _gates(review: _Review, revision: FixtureRevision) -> list[GateRow] | None:
    """None where they are not computed yet."""
    redaction = review.redaction
    unseen = redaction is not None and len(review.seen) < redaction.spans
    if unseen and revision.payload.size > LONG and review.request.GET.get("gates") != "now":
        return None
    return review_page.gates_of(review.case, review.user)


def _open(review: _Review, gates: list[GateRow] | None) -> dict[str, Any]:
    """What is there for who has both sides open."""
    sides, redaction = review.sides, review.redaction
    read = loading.read(sides, redaction)
    unseen = bar.first_unseen(redaction, review.seen) if redaction is not None else None
    lines = spans.places(read.lines, _wanted(read, unseen))
    rules = findings.rules_of(sides.raw or sides.revision, redaction)
    listed = _listed(review, read, lines, rules)
    counted = _counted(review, read, unseen, lines)
    return {
        "read": read,
        "findings": listed[: findings.FINDINGS_SHOWN],
        "more_findings": max(0, len(listed) - findings.FINDINGS_SHOWN),
        "open_count": sum(one.stands_open for one in listed),
        "in_a_month": (timezone.localdate() + timedelta(days=30)).isoformat(),
        "kept": findings.kept(read),
        "kept_by": findings.kept_by(read.record.kept),
        "rules": rules,
        "replaced": kind_words.counted(read.record.counts),
        "facts": read.record.facts[: findings.FACTS_SHOWN],
        "more_facts": read.record.facts[findings.FACTS_SHOWN :],
        "to_read": _since(review),
        "seen": counted,
        "otherwise": otherwise.sentences(review.case, gates or []),
        "why_not": bar.why_not(review.asked.why_not_approve, counted, listed, gates or []),
        **_values(review, read),
    }


def _listed(review: _Review, read: Read, lines: dict[int, int], rules: findings.Rules) -> list[findings.Finding]:
    redaction = review.redaction
    if redaction is None:
        return []
    return findings.listed(read, redaction, review.case, review.user, lines, review.seen, rules.standing)


def _wanted(read: Read, unseen: int | None) -> dict[int, spans.Address]:
    """The next place to look at, and the open findings."""
    first = read.spans.page(0) - len(read.record.open)
    every = spans.addresses(read.record)
    return {number: where for number, where in every if number == unseen or number >= first}


def _counted(review: _Review, read: Read, unseen: int | None, lines: dict[int, int]) -> bar.Seen | None:
    if review.redaction is None:
        return None
    piece = read.spans.piece_of(unseen) if unseen is not None else None
    if piece is not None:
        return bar.seen_of(review.redaction, review.seen, address_of_piece(review.case, *piece))
    line = lines.get(unseen) if unseen is not None else None
    page = read.lines.lines[line].page if line is not None else max(0, (unseen or 0) - read.spans.page(0))
    next_at = address(review.case, page=page, line=line, whole=line is None)
    return bar.seen_of(review.redaction, review.seen, next_at)


def _since(review: _Review) -> review_page.ToRead | None:
    """What changed since an approval of an earlier revision, None where there was none."""
    revision = review.sides.revision
    if decisions.last_approval(review.user, revision, DecisionKind.REDACTION) is None:
        return None
    held = access.roles_of(review.user, review.case.project)
    document = revision_page.document_of(revision)
    return review_page.to_read(revision, document, DecisionKind.REDACTION, review.user, held)


def _values(review: _Review, read: Read) -> dict[str, Any]:
    """The page of values that was asked for."""
    asked = review.request.GET
    page: Page[int] = Paginator(range(read.lines.pages), 1).get_page(asked.get("page"))
    first, lines = read.lines.of_page(page.number - 1)
    whole = asked.get("show") == "all" or read.sides.raw is None
    opened = asked.get("open", "")
    fold = int(opened) if opened.isascii() and opened.isdecimal() and len(opened) < 9 else None
    seen: Collection[int] = review.seen
    shown = rows.of_page(first, lines, read.document, read.spans, seen, whole=whole, opened=fold)
    own = read.spans.page(page.number - 1)
    is_read = own in seen or review.redaction is None
    sent = [*shown.unseen, *([own] if not shown.folded and not is_read else [])]
    return {
        "page": page,
        "values": shown,
        "whole": whole,
        "page_seen": is_read,
        "unseen": rows.numbered(sent),
        "unseen_count": len(sent),
    }
