"""The pipeline: find, settle, replace, and look again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from replaycases.redaction.detectors.base import Context, Detector
from replaycases.redaction.known import KnownValues
from replaycases.redaction.leaves import changed
from replaycases.redaction.overlaps import RANK, Value, settle
from replaycases.redaction.places import Certainty, Finding, Kind
from replaycases.redaction.policy import Policy
from replaycases.redaction.relations import Fact, Occurrence, facts, lost
from replaycases.redaction.residual import residual
from replaycases.redaction.scan import Found, Source, detectors, scan, sources
from replaycases.redaction.structure import OWN, Frame
from replaycases.redaction.surrogates.surrogates import Surrogates
from replaycases.redaction.views.edits import Edit, edited
from replaycases.redaction.views.view import View

LONGEST_PRESENT = 200
"""Characters of a text that stays up to which a surrogate could be mistaken for it."""

_ALIASES: dict[str, Certainty] = {"ask": "suggested", "replace": "likely"}
_SCANNED_AS = 'api_key = "{}"'


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """One value that was replaced at one place, and what stands there now."""

    finding: Finding
    surrogate: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Redaction:
    """A redacted document and all that a reviewer has to know of how it came about.

    `open` is what stands in the way of an approval: places that could not be read, values in the frame, suggestions,
    and what the second look at the redacted document found. `kept` are hits that were left as they stand, with why.
    `facts` are the relations between the replaced values; `lost` those that the redacted document does not show any
    more, and an approval is impossible while there are any.
    """

    document: Any = field(repr=False)
    replaced: tuple[Replacement, ...]
    kept: tuple[tuple[Finding, str], ...]
    open: tuple[Finding, ...]
    facts: tuple[Fact, ...]
    lost: tuple[Fact, ...]


def redact(document: Any, *, policy: Policy, key: bytes) -> Redaction:
    """The document with every value that a detector finds replaced by its surrogate.

    `key` is 32 random octets that belong to this document's case alone. Raises NoSurrogate and KeysCollide: then
    nothing was redacted.
    """
    by = detectors(policy)
    read = sources(document)
    first = scan(read, by, policy)
    first.found.extend(KnownValues(first.found, _ALIASES[policy.aliases]).found_in(read, first.found))
    frame = Frame(document)
    values = settle(first.found)
    chosen = [value for value in values if _is_replaced(value, frame)]
    replacing = [value.found for value in chosen]
    before = facts([_occurrence(one, one.text) for one in replacing])
    surrogates = _Chosen(chosen, read, by, key)
    result = changed(document, surrogates.texts())
    read_again = sources(result)
    left = residual(read_again, originals=surrogates.originals, surrogates=surrogates.made(), policy=policy)
    standing = [value.found for value in values if not _is_replaced(value, frame)]
    opened = [one.finding() for one in (*first.blind, *standing) if not _is_own(one, frame)]
    own = [one.finding() for one in standing if _is_own(one, frame)]
    seen = {*(finding.place for finding in opened), *(finding.place for finding in own)}
    return Redaction(
        document=result,
        replaced=tuple(Replacement(finding=one.finding(), surrogate=surrogates.of(one)) for one in replacing),
        kept=(
            *((one.finding(), one.hit.kept or "the policy keeps it") for one in first.kept),
            *((finding, "the frame of the fixture") for finding in own),
        ),
        open=(*opened, *(finding for finding in left if finding.place not in seen)),
        facts=before,
        lost=lost(before, facts(surrogates.found_in(read_again))),
    )


def _is_replaced(value: Value, frame: Frame) -> bool:
    leaf = value.found.leaf
    return value.found.hit.certainty != "suggested" and frame.may_change(leaf.pointer, in_key=leaf.kind == "key")


def _occurrence(one: Found, text: str) -> Occurrence:
    finding = one.finding()
    return Occurrence(place=finding.place, kind=finding.kind, text=text)


def _is_own(one: Found, frame: Frame) -> bool:
    leaf = one.leaf
    return not frame.may_change(leaf.pointer, in_key=leaf.kind == "key") and (
        one.hit.kind in OWN and one.hit.detector.startswith(("field:", "opaque", "personal:uuid"))
    )


class _Chosen:
    """The surrogates of the values of one document."""

    def __init__(self, values: Sequence[Value], read: Sequence[Source], by: Sequence[Detector], key: bytes) -> None:
        self._values = values
        self._kinds = _kinds(values)
        self.originals: list[tuple[Kind, str]] = [(self._kind(value.found), value.found.text) for value in values]
        self._surrogates = Surrogates(
            key,
            self.originals,
            present={
                view.text for source in read for view in source.reading.root.walk() if len(view.text) <= LONGEST_PRESENT
            },
            numeric={(self._kind(value.found), value.found.text) for value in values if _is_number(value.found)},
            is_suspect=lambda kind, text: _is_suspect(kind, text, by),
        )
        self._read = {source.leaf.address: source.reading.root for source in read}

    def of(self, one: Found) -> str:
        return self._surrogates.of(self._kind(one), one.text)

    def made(self) -> frozenset[str]:
        return frozenset(self.of(value.found) for value in self._values)

    def texts(self) -> dict[tuple[str, bool], str]:
        """The new text of every leaf that changes."""
        edits: dict[tuple[str, bool], list[tuple[Any, Edit]]] = defaultdict(list)
        for value in self._values:
            surrogate = self.of(value.found)
            for one in (value.found, *value.covered):
                edit = Edit(start=one.hit.start, end=one.hit.end, replacement=surrogate)
                edits[one.leaf.address].append((one.view, edit))
        return {address: edited(self._read[address], rows) for address, rows in edits.items()}

    def found_in(self, read_again: Sequence[Source]) -> list[Occurrence]:
        """The values as the redacted document holds them, in their order: "" where a surrogate is not to be read.

        The leaves of both documents stand in one order, whatever keys were renamed.
        """
        after = {address: source.reading.root for address, source in zip(self._read, read_again, strict=True)}
        return [
            _occurrence(value.found, surrogate if _holds(after[value.found.leaf.address], surrogate) else "")
            for value in self._values
            for surrogate in (self.of(value.found),)
        ]

    def _kind(self, one: Found) -> Kind:
        return self._kinds[one.text.casefold()]


def _holds(root: View, text: str) -> bool:
    return any(text in view.text for view in root.walk())


def _kinds(values: Iterable[Value]) -> dict[str, Kind]:
    """One kind for each text: what was found here as an id and there as an address is one value."""
    kinds: dict[str, Kind] = {}
    for value in values:
        text, kind = value.found.text.casefold(), value.found.hit.kind
        if text not in kinds or RANK[kind] < RANK[kinds[text]]:
            kinds[text] = kind
    return kinds


def _is_number(one: Found) -> bool:
    return one.leaf.kind == "number" or one.view.is_number


def _is_suspect(kind: Kind, text: str, by: Sequence[Detector]) -> bool:
    """Whether the detectors of secrets would take a surrogate for one: it would be blocked wherever the case goes."""
    context = Context(pointer="")
    return any(
        hit.kind == "secret" and not hit.kept
        for detector in by
        for shown in ((text, _SCANNED_AS.format(text)) if kind == "secret" else (text,))
        for hit in detector.hits(shown, context)
    )
