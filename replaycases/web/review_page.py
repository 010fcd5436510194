"""What the review page shows: what is to be decided now, what changed, what is open, and why the reader may not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.db.models import Prefetch
from django.http import HttpRequest
from django.urls import reverse

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import DECIDES_EXPECTATION, DECIDES_REDACTION, Role
from replaycases.cases import comments, decisions, fixtures, gates, policies, reading
from replaycases.cases.available import available_actions
from replaycases.cases.models import (
    Case,
    Classification,
    Control,
    Decision,
    DecisionKind,
    DecisionOutcome,
    FixtureRevision,
    ReviewComment,
)
from replaycases.web import (
    check_words,
    difference_rows,
    document_rows,
    gate_rows,
    incident_names,
    raw_reading,
    revision_page,
)
from replaycases.web.document_rows import EVENTS
from replaycases.web.gate_rows import GateRow
from replaycases.web.redactions import summary
from replaycases.web.revision_page import DETECT
from replaycases.web.scope import user_of

DIFFERENCES_SHOWN = 40
UNREAD = "You cannot read what it covers: it is quarantined evidence."


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One decision of the page. `standing` is the approval that stands, `last` the newest decision about this revision.
    `why_not_approve` and `why_not_return` are sentences, "" if the reader may; `address` is the page that confirms."""

    kind: DecisionKind
    title: str
    standing: Decision | None
    last: Decision | None
    why_not_approve: str
    why_not_return: str
    address: str


@dataclass(frozen=True, kw_only=True)
class ToRead:
    """What of the revision is read before it is decided about. `approval` is the last one of an earlier revision: what
    differs from that one is read. Without it all of the revision is, and the differences from the one before are only
    an aid. `old` is the number of the revision that it is compared with, None where there is none, or none that the
    reader sees; `differences` are None too while the revision itself is not open to them."""

    approval: Decision | None
    is_mine: bool
    old: int | None
    differences: difference_rows.Differences | None
    places: list[difference_rows.Place]

    @property
    def is_cut(self) -> bool:
        return self.differences is not None and self.differences.count > len(self.places)


@dataclass(frozen=True, kw_only=True)
class ControlAsked:
    """A control, the approval that stands for it, whether the reader may read it, and why they may not approve it."""

    control: Control
    standing: Decision | None
    readable: bool
    why_not: str


def context(case: Case, request: HttpRequest, kind: DecisionKind | None = None) -> dict[str, Any]:
    """Everything of the page but its forms. `case` has a current revision; `kind` is the decision that it is about, the
    reader's own if none is named. Deciding is for who may read it, however long ago they did; `raw` says whether it is
    open to them now, and `readable` is that."""
    user, revision = user_of(request), _revision(case)
    held = access.roles_of(user, case.project)
    own = decisions.own_work(user, case)
    raw = raw_reading.of(request, revision, back=reverse("case_review", args=[case.readable_id]))
    redaction, expectation = (_asked(case, revision, user, kind, held, own, raw.access.may) for kind in _TITLES)
    looked = summary.of(user, revision)
    redaction = replace(redaction, why_not_approve=redaction.why_not_approve or summary.why_not_approve(user, looked))
    lead = _lead(redaction, expectation, held)
    found = gates_of(case, user)
    document = revision_page.document_of(revision) if raw.open else None
    return {
        **revision_page.docket_of(case, "review"),
        "revision": revision,
        "raw": raw,
        "readable": raw.open,
        "readers": reading.readers(),
        "redaction": redaction,
        "summary": looked,
        "lead": lead,
        "expectation": expectation,
        "controls": controls_asked(revision, case, user, held, own),
        "gates": found,
        "blocking": sum(row.gate.blocks for row in found),
        "comments": [_located(comment) for comment in revision_page.open_comments(case)],
        "own_work": own,
        "other_incident": incident_names.why_look(case, document.get("incident_id", "")) if document else "",
        "checks": check_words.told(document, document.get(DETECT, {})) if document is not None else [],
        "events": sum(len(document.get(key, ())) for key in EVENTS) if document is not None else 0,
        "shown_differences": DIFFERENCES_SHOWN,
        "to_read": to_read(revision, document, kind or lead.kind, user, held) if raw.access.may else None,
    }


def whole(revision: FixtureRevision, request: HttpRequest) -> dict[str, Any]:
    """A page of the document itself, for who has to read all of it. It is open to them."""
    case, document = revision.case, revision_page.document_of(revision)
    [commenting] = available_actions(case, user_of(request), only={"comment"})
    shown = revision_page.page_of_document(
        document,
        fixtures.of_revision(revision).warnings,
        comments.of_case(case).filter(revision=revision),
        asked=None,
        number=request.GET.get("page"),
    )
    return {
        "page": shown.page,
        "rows": shown.rows,
        "outline": shown.outline,
        "commenting": commenting,
        "whole_at": reverse("revision", args=[case.readable_id, revision.number]),
        "download": reverse("revision_document", args=[case.readable_id, revision.number]),
    }


def _located(comment: ReviewComment) -> revision_page.Located:
    """With the address of the page of its document that shows it."""
    page = reverse("revision", args=[comment.revision.case.readable_id, comment.revision.number])
    place = f"{urlencode({'at': comment.pointer})}#{document_rows.anchor_of(comment.pointer)}"
    return revision_page.Located(comment=comment, address=f"{page}?{place}")


def _revision(case: Case) -> FixtureRevision:
    revisions = FixtureRevision.objects.select_related("case__project", "payload", "detect", "created_by")
    return revisions.filter(case=case).order_by("-number")[0]


_TITLES: Mapping[DecisionKind, str] = {
    DecisionKind.REDACTION: "Redaction",
    DecisionKind.EXPECTATION: "Expectation",
}
_ACTIONS: Mapping[DecisionKind, tuple[policies.ActionName, policies.ActionName]] = {
    DecisionKind.REDACTION: ("approve_redaction", "return_redaction"),
    DecisionKind.EXPECTATION: ("approve_expectation", "return_expectation"),
}


def _asked(
    case: Case,
    revision: FixtureRevision,
    user: User,
    kind: DecisionKind,
    held: frozenset[Role],
    own: str,
    readable: bool,
) -> Asked:
    made = list(
        Decision.objects.filter(case=case, kind=kind, control=None)
        .select_related("decided_by", "revision")
        .order_by("-decided_at")[:20]
    )
    standing = next((d for d in made if d.outcome == DecisionOutcome.APPROVED and d.voided_at is None), None)
    approve, give_back = (
        policies.why_not_allowed(name, case, user, held=held, own_work=own) or ("" if readable else UNREAD)
        for name in _ACTIONS[kind]
    )
    if standing is not None:
        approve = f"It is approved already, by {standing.decided_by}."
    return Asked(
        kind=kind,
        title=_TITLES[kind],
        standing=standing,
        last=next((d for d in made if d.revision_id == revision.pk), None),
        why_not_approve=approve,
        why_not_return=give_back,
        address=confirmation_address(case, revision, kind),
    )


def asked_of(case: Case, revision: FixtureRevision, user: User, kind: DecisionKind, readable: bool) -> Asked:
    """One decision about the case's revision. `readable`: the user's roles read it."""
    held = access.roles_of(user, case.project)
    return _asked(case, revision, user, kind, held, decisions.own_work(user, case), readable)


def _lead(redaction: Asked, expectation: Asked, held: frozenset[Role]) -> Asked:
    """The decision that the bar at the top is about: the redaction, unless only the expectation is the reader's."""
    decides_redaction = not held.isdisjoint(DECIDES_REDACTION)
    is_theirs = not held.isdisjoint(DECIDES_EXPECTATION) and (not decides_redaction or redaction.standing is not None)
    return expectation if is_theirs else redaction


def confirmation_address(case: Case, revision: FixtureRevision, kind: DecisionKind) -> str:
    """The confirming page for exactly what is shown here: it refuses if anything of it changed in between."""
    shown = {"revision": revision.number, "content_hash": revision.content_hash}
    if kind == DecisionKind.EXPECTATION:
        shown = {
            "revision": revision.number,
            "fixture_hash": revision.fixture_hash,
            "checks_hash": revision.checks_hash,
        }
    return f"{reverse(f'{kind.value}_approval', args=[case.readable_id])}?{urlencode(shown)}"


def controls_asked(
    revision: FixtureRevision, case: Case, user: User, held: frozenset[Role], own: str
) -> list[ControlAsked]:
    """The revision's controls, those that wait for an approval first. Two queries."""
    standing = Decision.objects.filter(outcome=DecisionOutcome.APPROVED, voided_at=None).select_related("decided_by")
    controls = (
        revision.controls.select_related("created_by", "payload")
        .defer("payload__body")
        .prefetch_related(Prefetch("decisions", standing, to_attr="approvals"))
    )
    rows, reads_all = [], reading.reads_quarantined(held)
    for control in controls:
        readable = reads_all or control.payload.classification != Classification.QUARANTINED
        mine = "You added this control. Somebody else approves it." if control.created_by_id == user.pk else own
        why_not = policies.why_not_allowed("approve_control", case, user, held=held) or mine
        given = next(iter(control.approvals), None)
        rows.append(ControlAsked(control=control, standing=given, readable=readable, why_not=why_not))
    return sorted(rows, key=lambda row: row.standing is not None)


def controls_of(revision: FixtureRevision, case: Case, user: User) -> list[ControlAsked]:
    held = access.roles_of(user, case.project)
    return controls_asked(revision, case, user, held, decisions.own_work(user, case))


def gates_of(case: Case, user: User) -> list[GateRow]:
    """The gates on the way to an approved redaction, those that block first."""
    found = gates.gates_of(case, "redaction_approved", actor=user)
    return gate_rows.rows(case, found, "redaction_approved", may_propose=False)


def to_read(
    revision: FixtureRevision,
    document: Mapping[str, Any] | None,
    kind: DecisionKind,
    user: User,
    held: frozenset[Role],
) -> ToRead:
    """What of the revision is read before the decision. `document` is None where it is not open to the reader now."""
    approval = decisions.last_approval(user, revision, kind)
    old = approval.revision if approval else _before(revision)
    if old is not None and not reading.access_to(old, user, held=held).open:
        approval = old = None  # what cannot be compared with is nothing that this reader could have seen
    found = None
    if old is not None and document is not None:
        found = difference_rows.compare(revision_page.document_of(old), document)
    return ToRead(
        approval=approval,
        is_mine=approval is not None and approval.decided_by_id == user.pk,
        old=old.number if old else None,
        differences=found,
        places=found.places()[:DIFFERENCES_SHOWN] if found else [],
    )


def _before(revision: FixtureRevision) -> FixtureRevision | None:
    earlier = FixtureRevision.objects.select_related("case__project", "payload", "detect").filter(case=revision.case)
    return earlier.filter(number=revision.number - 1).first()
