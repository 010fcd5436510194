"""What is found in a document, by detectors and by people, and what is to be replaced of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from replaycases.redaction.dropping import Cut
from replaycases.redaction.known import KnownValues
from replaycases.redaction.leaves import JSON
from replaycases.redaction.mailboxes import Parts
from replaycases.redaction.manual import ManualRule
from replaycases.redaction.originals import is_date
from replaycases.redaction.overlaps import Value, settle
from replaycases.redaction.placed import KEPT, Placed
from replaycases.redaction.places import Certainty, Finding, Kind
from replaycases.redaction.policy import Policy
from replaycases.redaction.scan import Detectors, Found, Scan, Source, scan, sources
from replaycases.redaction.structure import OWN, Frame

ALIASES: dict[str, Certainty] = {"ask": "suggested", "replace": "likely"}
"""How sure a word of a name that stands alone is, by what the policy says."""

IN_FRAME = "the frame of the fixture"

_OWN_DETECTORS = ("field:", "opaque", "personal:uuid")


@dataclass(frozen=True, kw_only=True)
class FirstLook:
    """`values` are to be replaced, `standing` is found and stays, `by_hand` is what people keep. Of what people left
    out only the values are there, as `left_out`: they may stand elsewhere."""

    read: list[Source]
    by: Detectors
    scan: Scan
    frame: Frame
    placed: Placed
    by_hand: list[Found]
    values: list[Value]
    standing: list[Found]
    left_out: list[tuple[Kind, str]] = field(repr=False)

    def open(self) -> list[Finding]:
        """Blind places, suggestions, and what stands in the frame and is not its own."""
        found = (*self.scan.blind, *self.standing)
        return [one.finding() for one in found if not is_own(one, self.frame)]

    def kept(self) -> list[tuple[Finding, str]]:
        """What was left as it stands, with why."""
        return [
            *kept_by(self.scan),
            *((one.finding(), KEPT) for one in self.by_hand),
            *in_frame(self.standing, self.frame),
        ]


def first_look(
    document: JSON, frame: Frame, out: Cut, *, policy: Policy, key: bytes, rules: Sequence[ManualRule]
) -> FirstLook:
    """Reads a document, with what people leave out of it."""
    by = Detectors(policy)
    read = sources(document)
    first = scan(read, by, policy)
    placed = Placed(rules, read, first, out, key)
    first.found.extend(placed.marks())
    first.found.extend(found_again(read, first, frame, policy))
    gone = [one for one in first.found if out.is_out(one.leaf.pointer)]
    first.kept, first.blind = (
        [one for one in rows if not out.is_out(one.leaf.pointer)] for rows in (first.kept, first.blind)
    )
    by_hand = placed.kept(first.found)
    left = set(map(id, (*by_hand, *gone)))
    values = settle(one for one in first.found if id(one) not in left)
    return FirstLook(
        read=[source for source in read if not out.is_out(source.leaf.pointer)],
        by=by,
        scan=first,
        frame=frame,
        placed=placed,
        by_hand=[one for one in by_hand if not out.is_out(one.leaf.pointer)],
        values=[value for value in values if _is_replaced(value, frame)],
        standing=[value.found for value in values if not _is_replaced(value, frame)],
        left_out=[(one.hit.kind, one.text) for one in gone if one.hit.certainty != "suggested"],
    )


def found_again(read: Sequence[Source], first: Scan, frame: Frame, policy: Policy) -> list[Found]:
    """What was found, wherever it stands unnoticed. What is the frame's own is nothing to look for."""
    values = [one for one in first.found if not is_own(one, frame)]
    if not values:
        return []
    known = KnownValues(values, ALIASES[policy.aliases], Parts(policy.allowed, policy.kinds_off)).found_in(
        read, first.found
    )
    return [one for one in known if not first.is_exact(one.view)]


def kept_by(found: Scan) -> list[tuple[Finding, str]]:
    """What rules, the policy and the form of a value left as it stands."""
    return [(one.finding(), one.hit.kept or "the policy keeps it") for one in found.kept]


def in_frame(found: Sequence[Found], frame: Frame) -> list[tuple[Finding, str]]:
    """What is a part of the frame of the fixture."""
    return [(one.finding(), IN_FRAME) for one in found if is_own(one, frame)]


def is_own(one: Found, frame: Frame) -> bool:
    """Whether the hit is what the frame of a fixture is made of. The recording has days of its own."""
    leaf, hit = one.leaf, one.hit
    if frame.may_change(leaf.pointer, in_key=leaf.kind == "key"):
        return False
    if hit.kind == "date" and is_date("date", leaf.text):
        return True
    return hit.kind in OWN and hit.detector.startswith(_OWN_DETECTORS)


def _is_replaced(value: Value, frame: Frame) -> bool:
    leaf = value.found.leaf
    return value.found.hit.certainty != "suggested" and frame.may_change(leaf.pointer, in_key=leaf.kind == "key")
