"""The bar of a redaction review: what can be decided now, why not, how much was seen, and where in the queue one is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from replaycases.cases.models import Case, Redaction
from replaycases.web.gate_rows import GateRow
from replaycases.web.redactions.findings import Finding

SQUARES = 40
STEP = 8


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
    """`count` of `of` places were seen; `next_at` is the address of the first that was not."""

    count: int
    of: int
    squares: list[Square]
    next_at: str

    @property
    def left(self) -> int:
        return self.of - self.count

    @property
    def width(self) -> int:
        """Of the drawing."""
        return STEP * len(self.squares)


def why_not(policy: str, seen: Seen | None, findings: Sequence[Finding], gates: Sequence[GateRow]) -> list[Reason]:
    """Everything in the way of an approval. Who may not approve at all is told only that. `seen` is None where there is
    nothing yet that could be seen."""
    if policy:
        return [Reason(text=policy)]
    return list(_reasons(seen, findings, gates))


def _reasons(seen: Seen | None, findings: Sequence[Finding], gates: Sequence[GateRow]) -> Iterator[Reason]:
    if seen is None:
        yield Reason(text="Nobody looked yet for what must go. Redact it first.")
    elif seen.left:
        told = f"You have not looked at {seen.left} of {seen.of} places."
        yield Reason(text=told, address=seen.next_at, label="Next unseen place", id="unseen")
    left = sum(finding.stands_open for finding in findings)
    if left:
        told = f"{left} finding{' is' if left == 1 else 's are'} open."
        yield Reason(text=told, address="#findings", label="Findings")
    blocking = [row for row in gates if row.gate.blocks]
    if blocking:
        titles = "; ".join(row.gate.title for row in blocking)
        said = "1 gate blocks" if len(blocking) == 1 else f"{len(blocking)} gates block"
        yield Reason(text=f"{said}: {titles}.", address="#gates", label="Gates")


def first_unseen(redaction: Redaction, seen: Collection[int]) -> int | None:
    return next((number for number in range(redaction.spans) if number not in seen), None)


def seen_of(redaction: Redaction, seen: Collection[int], next_at: str) -> Seen:
    count = sum(0 <= number < redaction.spans for number in seen)
    return Seen(count=count, of=redaction.spans, squares=_squares(redaction.spans, seen), next_at=next_at)


def _squares(total: int, seen: Collection[int]) -> list[Square]:
    """One for each place, or for as many of them as fit."""
    count = min(total, SQUARES)
    found = []
    for index in range(count):
        share = range(index * total // count, (index + 1) * total // count)
        found.append(Square(x=index * STEP + 0.5, seen=all(number in seen for number in share)))
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
