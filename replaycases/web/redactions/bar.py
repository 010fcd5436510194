"""The bar of a redaction review: what can be decided now, why not, how much was seen, and where in the queue one is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from replaycases.cases.models import Case, Redaction
from replaycases.web.gate_rows import GateRow
from replaycases.web.redactions.findings import Finding

SQUARES = 40


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why something is off, with where to go: an address, "" for nowhere."""

    text: str
    address: str = ""
    label: str = ""
    id: str = ""


@dataclass(frozen=True, kw_only=True)
class Square:
    """A share of what is to be seen, drawn at `x`."""

    x: float
    seen: bool


@dataclass(frozen=True, kw_only=True)
class Seen:
    """`count` of `of` places were seen. `next_line` is the first row with one that was not, `next_page` its page."""

    count: int
    of: int
    squares: list[Square] = field(default_factory=list)
    next_line: int | None = None
    next_page: int = 0

    @property
    def left(self) -> int:
        return self.of - self.count


def why_not(
    policy: str, seen: Seen, findings: Sequence[Finding], gates: Sequence[GateRow], next_at: str
) -> list[Reason]:
    """Everything in the way of an approval. Who may not approve at all is told only that."""
    if policy:
        return [Reason(text=policy)]
    return list(_reasons(seen, findings, gates, next_at))


def _reasons(seen: Seen, findings: Sequence[Finding], gates: Sequence[GateRow], next_at: str) -> Iterator[Reason]:
    if seen.left:
        told = f"You have not looked at {seen.left} of {seen.of} places."
        yield Reason(text=told, address=next_at, label="Next unseen place", id="unseen")
    left = sum(finding.stands_open for finding in findings)
    if left:
        yield Reason(
            text=f"{left} finding{' is' if left == 1 else 's are'} open.", address="#findings", label="Findings"
        )
    blocking = [row for row in gates if row.gate.blocks]
    if blocking:
        titles = "; ".join(row.gate.title for row in blocking)
        said = "1 gate blocks" if len(blocking) == 1 else f"{len(blocking)} gates block"
        yield Reason(text=f"{said}: {titles}.", address="#gates", label="Gates")


def seen_of(redaction: Redaction, seen: Collection[int], line_of: dict[int, int], page_of: Sequence[int]) -> Seen:
    """`line_of` says at which row each place stands, `page_of` the page of each row."""
    unseen = next((number for number in range(redaction.spans) if number not in seen), None)
    first_page = redaction.spans - (max(page_of, default=0) + 1)
    line, page = None, 0
    if unseen is not None:
        line = line_of.get(unseen)
        page = page_of[line] if line is not None else max(0, unseen - first_page)
    return Seen(
        count=sum(0 <= number < redaction.spans for number in seen),
        of=redaction.spans,
        squares=_squares(redaction.spans, seen),
        next_line=line,
        next_page=page,
    )


def _squares(total: int, seen: Collection[int]) -> list[Square]:
    """One for each place, or for as many of them as fit."""
    count = min(total, SQUARES)
    found = []
    for index in range(count):
        share = range(index * total // count, (index + 1) * total // count)
        found.append(Square(x=index * 8 + 0.5, seen=all(number in seen for number in share)))
    return found


@dataclass(frozen=True, kw_only=True)
class Turn:
    """Where a case stands among those that wait for the reader: 7 of 31. `before` and `after` are the cases around."""

    at: int
    of: int
    before: str = ""
    after: str = ""


def turn_of(case: Case, waiting: Sequence[str]) -> Turn | None:
    """None where the case does not wait for the reader."""
    if case.readable_id not in waiting:
        return None
    at = waiting.index(case.readable_id)
    return Turn(
        at=at + 1,
        of=len(waiting),
        before=waiting[at - 1] if at else "",
        after=waiting[at + 1] if at + 1 < len(waiting) else "",
    )
