"""What of a redaction is kept sealed beside the revision: places, kinds and detectors, and no value of the source.

    {"changes": [{"pointer": "/input/text", "source": "/input/text", "in_key": false, "seams": [{"start": 3, …}]}],
     "open": [{"kind": "id", "detector": "field:id", "certainty": "certain", "place": {…}, "length": 9, "fits": "…"}],
     "kept": [{"kind": …, "detector": …, "certainty": …, "place": {…}, "length": 9, "why": "…"}],
     "facts": [{"relation": "equal", "kind": "id", "sentence": "…", "places": [{…}]}], "lost": […], "counts": {"id": 4}}

Names of members stand in pointers and may be values: that cannot be helped, and is why a record is sealed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from replaycases.redaction.changes import Change, Seam
from replaycases.redaction.first_look import found_again, in_frame, is_own, kept_by
from replaycases.redaction.manual import mac, place_as_json, place_from
from replaycases.redaction.places import Certainty, Finding, Kind, Place
from replaycases.redaction.policy import Policy
from replaycases.redaction.redact import Redaction
from replaycases.redaction.relations import Fact, Relation
from replaycases.redaction.residual import is_original, second_look
from replaycases.redaction.scan import Detectors, sources
from replaycases.redaction.structure import Frame

MOST_PLACES = 100
"""Places of one relation that are kept; its sentence says how many there are."""

MOST_OPEN = 2000
TOO_MANY = "blind:too many findings"
"""What stands for the open findings beyond MOST_OPEN: nobody decides about so many, and nothing lets it stand."""


class RecordInvalid(ValueError):
    """What was given is no record. Its text quotes nothing of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Open:
    """A finding in the way of an approval. `fits` is the `mac` of its value, by which a waiver is held against it."""

    kind: Kind
    detector: str
    certainty: Certainty
    place: Place
    length: int
    fits: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """A hit that was left as it stands, with why."""

    kind: Kind
    detector: str
    certainty: Certainty
    place: Place
    length: int
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A relation as a sentence, with the first of its places."""

    relation: Relation
    kind: Kind
    sentence: str
    places: tuple[Place, ...]


@dataclass(frozen=True, kw_only=True)
class Record:
    """A record that was read, or is about to be kept. `counts` is how many values of each kind were replaced."""

    changes: tuple[Change, ...] = ()
    open: tuple[Open, ...] = ()
    kept: tuple[Kept, ...] = ()
    facts: tuple[Told, ...] = ()
    lost: tuple[Told, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def spans(self) -> int:
        """How many places a reviewer has to see: each seam in order, and each member that was left out."""
        return sum(len(change.seams) or 1 for change in self.changes)

    @property
    def named(self) -> frozenset[str]:
        """The pointers, in the source and in what was made of it, of members whose names are values."""
        changed = (name for change in self.changes if change.in_key for name in (change.source, change.pointer))
        found = (one.place.pointer for one in self.open if one.place.in_key)
        return frozenset(name for name in (*changed, *found) if name is not None)

    def with_open(self, left: Iterable[Open]) -> Record:
        """The same with these findings open."""
        return replace(self, open=tuple(left))

    def with_relations(self, held: Iterable[Fact], lost: Iterable[Fact]) -> Record:
        """The same with these relations told too."""
        facts, gone = (tuple(_sentence(fact) for fact in rows) for rows in (held, lost))
        return replace(self, facts=(*self.facts, *facts), lost=(*self.lost, *gone))

    def capped(self) -> Record:
        """The same with at most MOST_OPEN findings open, and one that stands for the others."""
        if len(self.open) <= MOST_OPEN:
            return self
        rest = Open(
            kind="blind",
            detector=TOO_MANY,
            certainty="certain",
            place=Place(pointer="", start=0, end=0),
            length=len(self.open) - MOST_OPEN,
            fits="",
        )
        return self.with_open([*self.open[:MOST_OPEN], rest])

    def as_json(self) -> dict[str, Any]:
        """The record as `read_record` reads it."""
        return {
            "changes": [_change(change) for change in self.changes],
            "open": [_with_place(one) for one in self.open],
            "kept": [_with_place(one) for one in self.kept],
            "facts": [_told(one) for one in self.facts],
            "lost": [_told(one) for one in self.lost],
            "counts": self.counts,
        }


def record_of(redaction: Redaction, *, key: bytes) -> Record:
    """What is kept of a redaction. `key` is the case's, as it was redacted with."""
    return Record(
        changes=redaction.changes,
        open=tuple(_open(finding, key) for finding in redaction.open),
        kept=tuple(_kept(finding, why) for finding, why in redaction.kept),
        facts=tuple(_sentence(fact) for fact in redaction.facts),
        lost=tuple(_sentence(fact) for fact in redaction.lost),
        counts=dict(Counter(str(one.finding.kind) for one in redaction.replaced)),
    )


def rescan(document: Any, *, policy: Policy, key: bytes, known: Sequence[tuple[Kind, str, str]] = ()) -> Record:
    """What there is to say of a document that nobody redacted just now: somebody edited it by hand, or made it.

    `known` are the values of its case that were replaced: kind, original, surrogate. What detectors find but the
    surrogates is open, suggestions too; so is an original that still stands, and what cannot be read.
    """
    frame = Frame(document)
    read = sources(document)
    originals = [(kind, original) for kind, original, _ in known]
    look = second_look(
        read, Detectors(policy), originals=originals, surrogates=(made for _, _, made in known), policy=policy
    )
    again = found_again(read, look.scan, frame, policy)
    found = [*look.originals, *look.scan.blind, *look.scan.found, *again]
    kept = [*kept_by(look.scan), *in_frame(found, frame)]
    own = {one.finding().place for one in found if is_own(one, frame)}
    standing: dict[Place, Finding] = {}
    for finding in (one.finding() for one in found):
        if finding.place not in own or is_original(finding):
            standing.setdefault(finding.place, finding)
    return Record(
        open=tuple(_open(finding, key) for finding in standing.values()),
        kept=tuple(_kept(finding, why) for finding, why in kept),
    )


def read_record(data: Any) -> Record:
    """The record in a JSON value. Raises RecordInvalid."""
    try:
        return Record(
            changes=tuple(_change_from(row) for row in data["changes"]),
            open=tuple(Open(**{**row, "place": place_from(row["place"])}) for row in data["open"]),
            kept=tuple(Kept(**{**row, "place": place_from(row["place"])}) for row in data["kept"]),
            facts=tuple(_told_from(row) for row in data["facts"]),
            lost=tuple(_told_from(row) for row in data["lost"]),
            counts=dict(data["counts"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RecordInvalid("this is no record of a redaction") from None


def _open(finding: Finding, key: bytes) -> Open:
    return Open(
        kind=finding.kind,
        detector=finding.detector,
        certainty=finding.certainty,
        place=finding.place,
        length=len(finding.value),
        fits=mac(key, finding.value),
    )


def _kept(finding: Finding, why: str) -> Kept:
    return Kept(
        kind=finding.kind,
        detector=finding.detector,
        certainty=finding.certainty,
        place=finding.place,
        length=len(finding.value),
        why=why,
    )


def _sentence(fact: Fact) -> Told:
    return Told(relation=fact.relation, kind=fact.kind, sentence=str(fact), places=fact.places[:MOST_PLACES])


def _with_place(one: Open | Kept) -> dict[str, Any]:
    return {**asdict(one), "place": place_as_json(one.place)}


def _told(one: Told) -> dict[str, Any]:
    return {
        "relation": one.relation,
        "kind": one.kind,
        "sentence": one.sentence,
        "places": [place_as_json(place) for place in one.places],
    }


def _told_from(row: Any) -> Told:
    return Told(**{**row, "places": tuple(place_from(place) for place in row["places"])})


def _change(change: Change) -> dict[str, Any]:
    return {
        "pointer": change.pointer,
        "source": change.source,
        "in_key": change.in_key,
        "seams": [{**asdict(seam), "path": list(seam.path)} for seam in change.seams],
    }


def _change_from(row: Any) -> Change:
    return Change(
        pointer=row["pointer"],
        source=row["source"],
        in_key=row["in_key"],
        seams=tuple(Seam(**{**seam, "path": tuple(seam["path"])}) for seam in row["seams"]),
    )
