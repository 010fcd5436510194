"""What the detectors find in a document, in every decoded view of every leaf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from replaycases.redaction.detectors.base import Context, Detector, Hit
from replaycases.redaction.detectors.credentials import Credentials
from replaycases.redaction.detectors.fields import Fields
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
    """All that was found in a document: what counts, what was kept back openly, and what could not be read."""

    found: list[Found] = field(default_factory=list)
    kept: list[Found] = field(default_factory=list)
    blind: list[Found] = field(default_factory=list)


def sources(document: Any) -> list[Source]:
    """Every leaf of the document with its readings. A number is read as its digits and no further."""
    return [
        Source(leaf=leaf, reading=read(leaf.text) if leaf.kind != "number" else Reading(root=View(text=leaf.text)))
        for leaf in leaves(document)
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
    if _is_kept_whole(source, by[0], result):
        return
    for unread in source.reading.unread:
        hit = Hit(kind="blind", detector=f"blind:{unread.reason}", start=unread.start, end=unread.end)
        result.blind.append(Found(leaf=source.leaf, view=unread.view, hit=hit))
    for view, context in source.texts():
        for detector in by:
            for hit in _hits(detector, view.text, context):
                if not _is_read_through(view, hit):
                    _sort(Found(leaf=source.leaf, view=view, hit=hit), policy, result)


def _is_read_through(view: View, hit: Hit) -> bool:
    """Whether what looks like an opaque run is a block that was decoded: what it holds is looked at instead."""
    return hit.kind == "opaque_id" and any(
        child.units is None and child.start < hit.end and hit.start < child.end for child in view.children
    )


def _is_kept_whole(source: Source, fields: Detector, result: Scan) -> bool:
    """Whether a field rule says that the leaf is taken or left as one: then nothing in it is looked at."""
    leaf = source.leaf
    context = Context(pointer=leaf.pointer, keys=leaf.keys, leaf=leaf.kind)
    for hit in fields.hits(leaf.text, context):
        if hit.kind == "text" and hit.kept:
            result.kept.append(Found(leaf=leaf, view=source.reading.root, hit=hit))
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
    if hit.kind == "date" and policy.dates == "keep" and not hit.detector.startswith("field:"):
        return True
    return hit.kind in policy.kinds_off or found.text.casefold() in policy.allowed
