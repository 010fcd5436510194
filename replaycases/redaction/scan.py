"""What the detectors find in a document, in every decoded view of every leaf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
from replaycases.redaction.policy import Policy
from replaycases.redaction.views.tree import Reading, read
from replaycases.redaction.views.view import View

DETECTORS_VERSION = "1"
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
        for view in self.reading.root.walk():
            if not any(child.name.startswith("json") for child in view.children):
                yield (
                    view,
                    Context(pointer=self.leaf.pointer, keys=self.leaf.keys + view.keys, leaf=_leaf_kind(self, view)),
                )


def _leaf_kind(source: Source, view: View) -> Any:
    return "key" if view.in_key else source.leaf.kind


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
        while self.exact and view is not None:
            if view in self.exact:
                return True
            view = view.parent
        return False


def sources(document: Any, pointer: str = "") -> list[Source]:
    """Every leaf of the document, which stands at `pointer` of a larger one, with its readings. A number is read as its
    digits and no further."""
    keys = tuple(step for step in split(pointer) if not step.isdecimal())
    return [
        Source(leaf=leaf, reading=read(leaf.text) if leaf.kind != "number" else Reading(root=View(text=leaf.text)))
        for leaf in leaves(document, pointer, keys)
    ]


def detectors(policy: Policy) -> tuple[Detector, ...]:
    """The detectors in their order under a policy. That of the fields is first."""
    return Fields(policy.fields), gitleaks(), Credentials(), Personal(), OpaqueRuns(policy.opaque)


def scan(found_in: Iterable[Source], by: Sequence[Detector], policy: Policy) -> Scan:
    """What the detectors find. One that raises, and what could not be read, leave a blind place: nothing is passed."""
    result = Scan()
    for source in found_in:
        _scan_source(source, by, policy, result)
    return result


def _scan_source(source: Source, by: Sequence[Detector], policy: Policy, result: Scan) -> None:
    leaf = source.leaf
    root = Context(pointer=leaf.pointer, keys=leaf.keys, leaf=leaf.kind)
    if _is_kept_whole(source, source.reading.root, hits_of(by[0], leaf.text, root), result):
        return
    for view, context in source.texts():
        if result.is_exact(view.parent):
            continue
        of_field = hits_of(by[0], view.text, context)
        if _is_kept_whole(source, view, of_field, result):
            continue
        for hits in (of_field, *(hits_of(detector, view.text, context) for detector in by[1:])):
            for hit in hits:
                if not _is_read_through(view, hit):
                    _sort(Found(leaf=leaf, view=view, hit=hit), policy, result)
    for unread in source.reading.unread:
        if not result.is_exact(unread.view):
            hit = Hit(kind="blind", detector=f"blind:{unread.reason}", start=unread.start, end=unread.end)
            result.blind.append(Found(leaf=leaf, view=unread.view, hit=hit))


def _is_read_through(view: View, hit: Hit) -> bool:
    """Whether what looks like an opaque run is a block that was decoded: what it holds is looked at instead."""
    return hit.kind == "opaque_id" and any(
        child.units is None and child.start < hit.end and hit.start < child.end for child in view.children
    )


def _is_kept_whole(source: Source, view: View, of_field: list[Hit], result: Scan) -> bool:
    """Whether a field rule says that the text is taken or left as one: then nothing in it is looked at."""
    for hit in of_field:
        if hit.kind == "text" and hit.kept:
            result.kept.append(Found(leaf=source.leaf, view=view, hit=hit))
            if hit.kept == BYTE_EXACT:
                result.exact.add(view)
            return True
    return False


def hits_of(detector: Detector, text: str, context: Context) -> list[Hit]:
    """The detector's hits; one that raises leaves the text a blind place."""
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
    if hit.kind == "date" and policy.dates == "keep" and not hit.detector.startswith("field:"):
        return True
    return hit.kind in policy.kinds_off or found.text.casefold() in policy.allowed
