"""What the pages of a case's fixture revisions show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Prefetch

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.cases import comments, decisions, evidence, reading
from replaycases.cases.models import (
    Case,
    Decision,
    DecisionKind,
    DecisionOutcome,
    FixtureRevision,
    ReviewComment,
)
from replaycases.fixture import strict_json
from replaycases.fixture.findings import Finding
from replaycases.fixture.json_lines import lines_of
from replaycases.web import difference_rows, document_outline, document_rows, words
from replaycases.web.document_outline import Entry
from replaycases.web.document_rows import Place
from replaycases.web.pages import ROWS_A_PAGE

JSON = Any
DETECT = "detect rules"


@dataclass(frozen=True, kw_only=True)
class Listed:
    """One revision in the list. `readable`: whether the user may read its document, `open`: whether they do now."""

    revision: FixtureRevision
    decisions: tuple[Decision, ...]
    readable: bool
    open: bool
    is_current: bool


@dataclass(kw_only=True)
class ShownRow:
    """A row of the document with what stands beside it. `begins`: a part's heading stands above it."""

    place: Place
    begins: bool
    text: words.Shown
    findings: list[Finding] = field(default_factory=list)
    comments: list[ReviewComment] = field(default_factory=list)
    is_asked: bool = False

    @property
    def takes_comments(self) -> bool:
        """The rules that stand beside a document have no place in it."""
        return self.place.part.title != DETECT


@dataclass(frozen=True, kw_only=True)
class Located:
    """A comment and the address of what it is about, "" where this page's document does not show it."""

    comment: ReviewComment
    address: str


@dataclass(frozen=True, kw_only=True)
class ShownDocument:
    """One page of a document, where its comments are, and the way through all of it."""

    page: Page[Place]
    rows: list[ShownRow]
    located: list[Located]
    outline: list[Entry]

    @property
    def is_asked_here(self) -> bool:
        return any(row.is_asked for row in self.rows)


@dataclass(frozen=True, kw_only=True)
class FindingLine:
    """A finding beside the line that it is about."""

    finding: Finding
    line: int
    text: str


def docket_of(case: Case, tab: str) -> dict[str, Any]:
    """What parts/docket.html reads."""
    return {
        "section": "cases",
        "tab": tab,
        "case": case,
        "revision": case.current_revision,
        "lane": case.lane,
        "verdict": case.verdict if case.latest_comparison_id else None,
        "comparison": case.latest_comparison,
    }


def listed(case: Case, user: User) -> list[Listed]:
    """Every revision with its decisions, newest first. Four queries."""
    given = Decision.objects.filter(control=None).select_related("decided_by").order_by("decided_at")
    revisions = (
        case.revisions.select_related("payload", "detect", "created_by", "on_behalf_of")
        .defer("payload__body", "detect__body")
        .prefetch_related(Prefetch("decisions", given, to_attr="made"))
        .order_by("-number")
    )
    held = access.roles_of(user, case.project)
    redacted = {
        made.content_hash
        for revision in revisions
        for made in revision.made
        if made.kind == DecisionKind.REDACTION and made.outcome == DecisionOutcome.APPROVED and not made.voided_at
    }
    read = reading.live(user, case)
    found = []
    for revision in revisions:
        raw = reading.is_quarantined(revision)
        only_expectation_is_new = revision.content_hash in redacted
        readable = not raw or reading.reads_quarantined(held, only_expectation_is_new=only_expectation_is_new)
        found.append(
            Listed(
                revision=revision,
                decisions=tuple(revision.made),
                readable=readable,
                open=readable and (not raw or read is not None),
                is_current=revision.pk == case.current_revision_id,
            )
        )
    return found


# --- one document -----------------------------------------------------------------------------------------------------


def document_of(revision: FixtureRevision) -> Mapping[str, JSON]:
    """The document for reading, with the detect rules that stand beside a 1.0 fixture as one more part of it."""
    document = strict_json.parse(evidence.read(revision.payload))
    if revision.detect is None:
        return dict(document)
    return {**document, DETECT: strict_json.parse(evidence.read(revision.detect))}


def page_of_document(
    document: Mapping[str, JSON],
    warnings: Iterable[Finding],
    remarks: Iterable[ReviewComment],
    *,
    asked: str | None,
    number: str | None,
) -> ShownDocument:
    """The rows of one page, 500 of them: the page `number`, else the one that shows the place `asked` for a comment."""
    places = document_rows.places(document)
    index = document_rows.Index(places)
    wanted = index.row_of(asked) if asked is not None else None
    page = Paginator(places, ROWS_A_PAGE).get_page(number or (wanted or 0) // ROWS_A_PAGE + 1)
    first = page.start_index() - 1 if places else 0
    rows = shown_rows(list(page.object_list))
    located = []
    for comment in remarks:
        at = index.row_of(comment.pointer)
        located.append(Located(comment=comment, address=document_outline.address_of(places, at)))
        if at is not None and 0 <= at - first < len(rows):
            rows[at - first].comments.append(comment)
    for finding in warnings:
        at = index.row_of(finding.pointer)
        if at is not None and 0 <= at - first < len(rows):
            rows[at - first].findings.append(finding)
    if wanted is not None and 0 <= wanted - first < len(rows):
        rows[wanted - first].is_asked = True
    return ShownDocument(page=page, rows=rows, located=located, outline=document_outline.of(places))


def shown_rows(places: Sequence[Place]) -> list[ShownRow]:
    """The rows of a page, with the heading of a part where it begins."""
    found: list[ShownRow] = []
    for place in places:
        begins = not found or found[-1].place.part != place.part
        found.append(ShownRow(place=place, begins=begins, text=place.text))
    return found


def open_comments(case: Case) -> list[ReviewComment]:
    """What is open, whichever revision it was said about."""
    return list(comments.of_case(case).filter(resolved_at=None))


# --- differences ------------------------------------------------------------------------------------------------------


def begin_of(revision: FixtureRevision, user: User) -> int | None:
    """The revision to compare with if none is named: the last approved one, else the one before; None for the first."""
    approval = decisions.last_approval(user, revision, DecisionKind.REDACTION)
    return approval.revision.number if approval else revision.number - 1 or None


def compared(old: FixtureRevision, new: FixtureRevision) -> difference_rows.Differences:
    return difference_rows.compare(document_of(old), document_of(new))


# --- findings beside the text -----------------------------------------------------------------------------------------


def beside_lines(findings: Sequence[Finding], text: str) -> list[FindingLine]:
    """Each finding with its line. A finding about the detect rules has no line of this text: 0."""
    lines = text.split("\n")
    known = lines_of(text, [finding.pointer for finding in findings])
    found = []
    for finding in findings:
        line = 0 if finding.message.startswith("in the detect rules:") else known[finding.pointer]
        found.append(FindingLine(finding=finding, line=line, text=lines[line - 1].strip()[:200] if line else ""))
    return found
