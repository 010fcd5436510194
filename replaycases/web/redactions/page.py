"""The privacy reviewer's page: raw and redacted side by side, what was found, and what stands in the way."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.cases import decisions, reading, redaction_policies, redaction_rows, seen_spans
from replaycases.cases.available import available_actions
from replaycases.cases.models import Case, DecisionKind, Redaction
from replaycases.cases.seen_spans import PAGE
from replaycases.web import raw_reading, review_page, review_queue, revision_page
from replaycases.web.redactions import bar, findings, loading, rows, spans, told
from replaycases.web.redactions.loading import Read, Sides
from replaycases.web.scope import user_of


def context(case: Case, request: HttpRequest) -> dict[str, Any]:
    """Everything of the page. `case` has a current revision. What is raw is on it only where it is open to the
    reader."""
    user, revision = user_of(request), loading.current(case)
    sides = loading.sides_of(revision)
    redaction = redaction_rows.newest(revision)
    raw = raw_reading.of(request, *sides.both, back=address(case))
    asked = review_page.asked_of(case, revision, user, DecisionKind.REDACTION, raw.access.may)
    gates = review_page.gates_of(case, user)
    found: dict[str, Any] = {
        **revision_page.docket_of(case, "review"),
        "revision": revision,
        "redaction": redaction,
        "sides": sides,
        "raw": raw,
        "readable": raw.open,
        "readers": reading.readers(),
        "asked": asked,
        "gates": gates,
        "blocking": sum(row.gate.blocks for row in gates),
        "actions": {one.name: one for one in available_actions(case, user, only={"redact", "waive"})},
        "turn": bar.turn_of(case, review_queue.redactions_for(user)) if asked.standing is None else None,
        "policy_in_force": redaction_policies.current(case.project),
        "here": address(case),
    }
    if raw.open:
        found |= _open(request, case, user, sides, redaction, found)
    else:
        found["why_not"] = bar.why_not(asked.why_not_approve, bar.Seen(count=0, of=0), [], gates, "")
    return found


def address(case: Case, *, page: int = 0, line: int | None = None) -> str:
    """Of the page of values that shows a line."""
    query = f"?page={page + 1}" if page else ""
    return f"{reverse('redaction_review', args=[case.readable_id])}{query}{f'#row-{line}' if line is not None else ''}"


def _open(
    request: HttpRequest, case: Case, user: User, sides: Sides, redaction: Redaction | None, shown: dict[str, Any]
) -> dict[str, Any]:
    read = loading.read(sides, redaction)
    seen = seen_spans.of(user, redaction) if redaction is not None else frozenset()
    at = spans.places(read.lines, read.spans)
    listed = findings.listed(read, redaction, case, user, at, seen) if redaction is not None else []
    found = {
        "read": read,
        "findings": listed,
        "open_count": sum(one.stands_open for one in listed),
        "in_a_month": (timezone.localdate() + timedelta(days=30)).isoformat(),
        "kept": findings.kept(read),
        "rules": findings.rules_of(sides.raw or sides.revision, redaction),
        "replaced": told.counted(read.record.counts),
        "facts": read.record.facts[: findings.FACTS_SHOWN],
        "more_facts": read.record.facts[findings.FACTS_SHOWN :],
        "to_read": review_page.to_read(
            sides.revision,
            revision_page.document_of(sides.revision),
            DecisionKind.REDACTION,
            user,
            access.roles_of(user, case.project),
        )
        if decisions.last_approval(user, sides.revision, DecisionKind.REDACTION)
        else None,
        **_values(request, read, seen, redaction),
    }
    if redaction is None:
        return found | {"why_not": bar.why_not(shown["asked"].why_not_approve, _unlooked(), [], shown["gates"], "")}
    counted = bar.seen_of(redaction, seen, at, [line.page for line in read.lines.lines])
    next_at = address(case, page=counted.next_page, line=counted.next_line)
    return found | {
        "seen": counted,
        "next_at": next_at,
        "why_not": bar.why_not(shown["asked"].why_not_approve, counted, listed, shown["gates"], next_at),
    }


def _unlooked() -> bar.Seen:
    return bar.Seen(count=0, of=0)


def _values(request: HttpRequest, read: Read, seen: Collection[int], redaction: Redaction | None) -> dict[str, Any]:
    """The page of values that was asked for."""
    page: Page[int] = Paginator(range(read.lines.pages), 1).get_page(request.GET.get("page"))
    number = page.number - 1
    first, lines = read.lines.of_page(number)
    whole = request.GET.get("show") == "all" or read.sides.raw is None
    opened = request.GET.get("open", "")
    shown = rows.of_page(
        first,
        lines,
        read.document,
        read.spans,
        seen,
        whole=whole,
        opened=int(opened) if opened.isdecimal() and len(opened) < 9 else None,
    )
    own = read.spans.page(number)
    is_read = own in seen or redaction is None
    sent = [*shown.unseen, *([own] if not shown.folded and not is_read else [])]
    return {
        "page": page,
        "values": shown,
        "whole": whole,
        "page_seen": is_read,
        "values_from": number * PAGE + 1,
        "values_to": min((number + 1) * PAGE, max(1, sum(1 for _ in lines) + number * PAGE)),
        "unseen": ",".join(str(one) for one in sent),
        "unseen_count": len(sent),
    }
