"""What the detectors find in a document, in every decoded view of every leaf."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from replaycases.fixture.pointer import split
from replaycases.redaction.detectors.base import Context, Detector, Hit
from replaycases.redaction.detectors.credentials import Credentials
from replaycases.redaction.detectors.fields import BYTE_EXACT, Fields
from replaycases.redaction.detectors.opaque import OpaqueRuns
from replaycases.redaction.detectors.personal import Personal
from replaycases.redaction.detectors.rules import gitleaks
from replaycases.redaction.leaves import Leaf, leaves
from replaycases.redaction.places import Finding, Place
from replaycases.redaction.policy import NEVER_OFF, Policy
from replaycases.redaction.views.tree import Reading, read
from replaycases.redaction.views.view import View

DETECTORS_VERSION = "3"
"""Raised with every change of what is detected; an approval names it."""


MARKED = "manual:mark"
"""How a finding names what a person marked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A hit in one view of one leaf."""

    leaf: Leaf
    view: View
    hit: Hit

    @property
    def text(self) -> str:
        """The text of the span."""
        return self.view.text[self.hit.start : self.hit.end]

    @property
    def is_by_hand(self) -> bool:
        """Whether a person marked it."""
        return self.hit.detector == MARKED

    @property
    def is_number(self) -> bool:
        """Whether it stands where only a number can stand."""
        return self.leaf.kind == "number" or self.view.is_number

    def finding(self) -> Finding:
        """The same as a value that outlives the views."""
        place = Place(
            pointer=self.leaf.pointer,
            in_key=self.leaf.kind == "key",
            path=self.view.path,
            start=self.hit.start,
            end=self.hit.end,
        )
        hit = self.hit
        return Finding(kind=hit.kind, detector=hit.detector, place=place, certainty=hit.certainty, value=self.text)


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """One leaf and all its readings."""

    leaf: Leaf
    reading: Reading

    def texts(self) -> Iterator[tuple[View, Context]]:
        """The views that hold text. One that is JSON is read through its members and not as a text of its own."""
        leaf = self.leaf
        for view in self.reading.root.walk():
            if not view.is_structure:
                kind = "key" if view.in_key else leaf.kind
                named = view.named or ("" if view.keys else leaf.named)
                yield view, Context(pointer=leaf.pointer, keys=leaf.keys + view.keys, leaf=kind, named=named)


@dataclass(kw_only=True, slots=True)
class Scan:
    """All that was found in a document: what counts, what was kept back openly, and what could not be read.

    `exact` are the views that are compared octet by octet and never edited.
    """

    found: list[Found] = field(default_factory=list)
    kept: list[Found] = field(default_factory=list)
    blind: list[Found] = field(default_factory=list)
    exact: set[View] = field(default_factory=set, repr=False)

    def is_exact(self, view: View | None) -> bool:
        """Whether the view is one of these, or was read from one."""
        return bool(self.exact) and is_within(view, self.exact)


def is_within(view: View | None, views: Collection[View]) -> bool:
    """Whether the view is one of these, or was read from one."""
    while view is not None:
        if view in views:
            return True
        view = view.parent
    return False


def sources(document: Any, pointer: str = "") -> list[Source]:
    """Every leaf of the document, which stands at `pointer` of a larger one, with its readings."""
    keys = tuple(step for step in split(pointer) if not step.isdecimal())
    return [Source(leaf=leaf, reading=_reading(leaf)) for leaf in leaves(document, pointer, keys)]


def sources_again(document: Any, before: Sequence[Source]) -> list[Source]:
    """The same of a document whose leaves are those of `before`, one by one, some with another text: what has not
    changed is not decoded again."""
    return [
        Source(leaf=leaf, reading=source.reading if leaf.text == source.leaf.text else _reading(leaf))
        for leaf, source in zip(leaves(document), before, strict=True)
    ]


def _reading(leaf: Leaf) -> Reading:
    """A number is read as its digits and no further."""
    return read(leaf.text) if leaf.kind != "number" else Reading(root=View(text=leaf.text))


class Detectors:
    """The detectors under a policy, in their order. That of the fields is first, and is the only one for which it
    matters where a text stands: what the others find in a text is remembered, and a text that stands in a document
    often, or in the redacted one again, is read once.
    """

    def __init__(self, policy: Policy) -> None:
        self._fields = Fields(policy.fields)
        self._secrets: tuple[Detector, ...] = (gitleaks(), Credentials())
        self._others = (*self._secrets, Personal(), OpaqueRuns(policy.opaque))
        self._found: dict[tuple[str, bool], list[Hit]] = {}

    def of_field(self, text: str, context: Context) -> list[Hit]:
        """What the field says that the text stands in."""
        return _hits(self._fields, text, context)

    def of_text(self, text: str, context: Context) -> list[Hit]:
        """What the text itself gives away."""
        known = (text, context.leaf == "number")
        if known not in self._found:
            self._found[known] = [hit for detector in self._others for hit in _hits(detector, text, context)]
        return self._found[known]

    def secrets_in(self, text: str) -> list[Hit]:
        """What of it is a secret, wherever it stands."""
        found = (hit for detector in self._secrets for hit in _hits(detector, text, Context(pointer="")))
        return [hit for hit in found if hit.kind == "secret"]


def scan(found_in: Iterable[Source], by: Detectors, policy: Policy) -> Scan:
    """What the detectors find. One that raises, and what could not be read, leave a blind place: nothing is passed."""
    result = Scan()
    for source in found_in:
        _scan_source(source, by, policy, result)
    return result


def _scan_source(source: Source, by: Detectors, policy: Policy, result: Scan) -> None:
    """Of what the policy leaves as it stands only secrets count, and what cannot be read."""
    leaf, root = source.leaf, source.reading.root
    left: set[View] = set()
    if root.is_structure:
        context = Context(pointer=leaf.pointer, keys=leaf.keys, leaf=leaf.kind, named=leaf.named)
        _leave_whole(source, root, by.of_field(leaf.text, context), left, result)
    for view, context in source.texts():
        if result.is_exact(view):
            continue
        of_field = by.of_field(view.text, context)
        is_left = bool(left) and is_within(view, left)
        if not is_left:
            is_left = _leave_whole(source, view, of_field, left, result)
            if is_left and result.is_exact(view):
                continue
        for hit in (*of_field, *by.of_text(view.text, context)):
            if (not is_left or hit.kind in NEVER_OFF) and (hit.kind != "opaque_id" or not _is_read_through(view, hit)):
                _sort(Found(leaf=leaf, view=view, hit=hit), policy, result)
    for unread in source.reading.unread:
        if not result.is_exact(unread.view):
            hit = Hit(kind="blind", detector=f"blind:{unread.reason}", start=unread.start, end=unread.end)
            result.blind.append(Found(leaf=leaf, view=unread.view, hit=hit))


def _is_read_through(view: View, hit: Hit) -> bool:
    """Whether what looks like an opaque run is a block that was decoded: what it holds is looked at instead."""
    blocks = view.blocks
    at = bisect_left(blocks, (hit.end, 0))
    return at > 0 and hit.start < blocks[at - 1][1]


def _leave_whole(source: Source, view: View, of_field: list[Hit], left: set[View], result: Scan) -> bool:
    """Whether a field rule says that the text is left as it stands, which is kept count of."""
    for hit in of_field:
        if hit.kind == "text" and hit.kept:
            result.kept.append(Found(leaf=source.leaf, view=view, hit=hit))
            (result.exact if hit.kept == BYTE_EXACT else left).add(view)
            return True
    return False


def _hits(detector: Detector, text: str, context: Context) -> list[Hit]:
    try:
        return list(detector.hits(text, context))
    except Exception:
        return [Hit(kind="blind", detector=f"blind:{type(detector).__name__} failed", start=0, end=len(text))]


def _sort(found: Found, policy: Policy, result: Scan) -> None:
    hit = found.hit
    if hit.kind == "blind":
        result.blind.append(found)
    elif hit.kept or _is_left_by(policy, found):
        result.kept.append(found)
    else:
        result.found.append(found)


def _is_left_by(policy: Policy, found: Found) -> bool:
    hit = found.hit
    if hit.kind in NEVER_OFF:
        return False
    if hit.kind == "date" and policy.dates == "keep" and not hit.detector.startswith("field:"):
        return True
    return hit.kind in policy.kinds_off or found.text.casefold() in policy.allowed
