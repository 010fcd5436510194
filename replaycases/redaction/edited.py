"""What became of the relations of a redaction in a document that somebody edited by hand afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from replaycases.fixture.pointer import ABSENT, covers, resolve, split
from replaycases.redaction.changes import FOLLOWS, Change, Seam
from replaycases.redaction.leaves import JSON, text_of
from replaycases.redaction.places import Place
from replaycases.redaction.relations import Fact, Occurrence, facts, lost

_NESTED = "json:"


def relations(
    changes: Iterable[Change], *, raw: JSON, redacted: JSON, edited: JSON
) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """The relations between replaced values that `raw` and `redacted` both show, and those of them that `edited` lost.

    `changes` are what made the one of the other. A value counts where its place is there still: one that is a whole
    text or number as what stands there now, a part of a text where it can be read there. What is expected, encoded
    blocks and escaped values are left out.
    """
    documents = (_Document(document=one) for one in (raw, redacted, edited))
    rows = list(_rows(changes, *documents))
    before, made, now = (facts([one[at] for one in rows]) for at in range(3))
    gone = set(lost(before, made))
    held = tuple(fact for fact in before if fact not in gone)
    return held, lost(held, now)


@dataclass(frozen=True, kw_only=True)
class _Document:
    document: JSON = field(repr=False)
    parsed: dict[str, JSON] = field(default_factory=dict, repr=False)

    def text(self, pointer: str, *, in_key: bool, path: tuple[str, ...] = ()) -> str | None:
        """What is read there, None where nothing is."""
        found = resolve(self.document, pointer)
        if found is ABSENT:
            return None
        text = split(pointer)[-1] if in_key else text_of(found)
        for name in path:
            if text is None or not name.startswith(_NESTED):
                return None
            text = text_of(self._within(text, name.removeprefix(_NESTED)))
        return text

    def _within(self, text: str, pointer: str) -> JSON:
        if text not in self.parsed:
            try:
                self.parsed[text] = json.loads(text, strict=False)
            except (ValueError, RecursionError):
                self.parsed[text] = None
        try:
            return resolve(self.parsed[text], pointer)
        except ValueError:
            return ABSENT


def _rows(
    changes: Iterable[Change], raw: _Document, redacted: _Document, edited: _Document
) -> Iterator[tuple[Occurrence, Occurrence, Occurrence]]:
    for change in changes:
        if change.pointer is None or covers("/expected", change.pointer):
            continue
        source = raw.text(change.source, in_key=change.in_key) or ""
        target = redacted.text(change.pointer, in_key=change.in_key) or ""
        for seam in change.seams:
            made = target[seam.new_start : seam.new_end]
            now = _now(change, seam, made, redacted, edited) if made and seam.detector != FOLLOWS else None
            if now is not None:
                texts = (source[seam.start : seam.end], made, now)
                one, other, third = (_occurrence(change, change.pointer, seam, text) for text in texts)
                yield one, other, third


def _now(change: Change, seam: Seam, made: str, redacted: _Document, edited: _Document) -> str | None:
    """What stands in the value's place, None where that is not to be told."""
    pointer, in_key = change.pointer or "", change.in_key
    was = redacted.text(pointer, in_key=in_key, path=seam.path)
    now = edited.text(pointer, in_key=in_key, path=seam.path)
    if was is None or now is None:
        return None
    if was.strip() == made:
        return now.strip()
    return made if made in now else None


def _occurrence(change: Change, pointer: str, seam: Seam, text: str) -> Occurrence:
    place = Place(pointer=pointer, in_key=change.in_key, path=seam.path, start=seam.new_start, end=seam.new_end)
    return Occurrence(place=place, kind=seam.kind, text=text)
