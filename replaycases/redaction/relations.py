"""What values have to do with each other: facts that decide an incident and must outlive its redaction."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from replaycases.redaction.canonical import canonical
from replaycases.redaction.kind_words import kind_word
from replaycases.redaction.places import Kind, Place
from replaycases.redaction.surrogates import dates
from replaycases.redaction.surrogates.ids import split

Relation = Literal["equal", "different", "distinct", "domain", "tag", "name", "order", "interval"]

_WORD = re.compile(r"[^\W\d_]+")
_SENTENCES: dict[Relation, str] = {
    "equal": "the same {kind} stands at {places}",
    "different": "{places} are two different values of kind {kind}",
    "distinct": "{count} values of kind {kind} are all different",
    "domain": "the mailboxes at {places} are of one domain",
    "tag": "{places} are one mailbox, the second with a tag",
    "name": "{places} hold the same name",
    "order": "the ids at {places} stand in ascending order",
    "interval": "{places} lie {days} days apart",
}
_SHOWN = 3
LONGEST = 320
"""Characters of a value that has more to do with another than being equal: a mail address with its domain."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Occurrence:
    """A value at a place, with what it is.

    Where a person decided what it is the same as (`by_hand`), only that is held to, and not what its text has to do
    with others'. `entity` names the value then, whatever its text. One that `stays` is not replaced.
    """

    place: Place
    kind: Kind
    text: str
    by_hand: bool = False
    entity: str = ""
    stays: bool = False

    @property
    def value(self) -> tuple[Kind, str]:
        """What equal occurrences share."""
        return self.kind, f"\0{self.entity}" if self.entity else canonical(self.kind, self.text)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One relation between occurrences, which are given by their places. It holds places and never values."""

    relation: Relation
    kind: Kind
    places: tuple[Place, ...]
    members: tuple[int, ...]
    amount: int = 0

    def __str__(self) -> str:
        named = Counter(_name(place) for place in self.places[:_SHOWN])
        shown = " and ".join(name if times == 1 else f"{times} places of {name}" for name, times in named.items())
        more = f" and {len(self.places) - _SHOWN} more" if len(self.places) > _SHOWN else ""
        return _SENTENCES[self.relation].format(
            kind=kind_word(self.kind), places=shown + more, count=self.amount, days=abs(self.amount)
        )


def facts(occurrences: Sequence[Occurrence]) -> tuple[Fact, ...]:
    """Every fact that holds between the occurrences and is about one that does not stay: what others have to do with
    each other cannot be lost. Of days between dates only those that are moved are told. Linear but for sorting."""
    found = _Facts(occurrences)
    return (
        *found.equal(),
        *found.different(),
        *found.distinct(),
        *found.mailboxes(),
        *found.names(),
        *found.order(),
        *found.intervals(),
    )


def lost(before: Iterable[Fact], after: Iterable[Fact]) -> tuple[Fact, ...]:
    """The facts of `before` that `after` lacks. Both are of the same occurrences in the same order."""
    after = list(after)
    kept = {(fact.relation, fact.members, fact.amount) for fact in after}
    apart = {member for fact in after if fact.relation == "distinct" for member in fact.members}
    return tuple(
        fact
        for fact in before
        if (fact.relation, fact.members, fact.amount) not in kept
        and not (fact.relation == "distinct" and apart.issuperset(fact.members))
    )


class _Facts:
    def __init__(self, occurrences: Sequence[Occurrence]) -> None:
        self._all = occurrences
        self._classes: dict[tuple[Kind, str], list[int]] = defaultdict(list)
        for index, one in enumerate(occurrences):
            self._classes[one.value].append(index)
        self._first = {value: members[0] for value, members in self._classes.items()}
        self._telling = {value: first for value, first in self._first.items() if _tells(occurrences[first])}

    def _fact(self, relation: Relation, members: Sequence[int], amount: int = 0) -> Fact:
        places = tuple(self._all[index].place for index in members)
        kind = self._all[members[0]].kind
        return Fact(relation=relation, kind=kind, places=places, members=tuple(members), amount=amount)

    def _may_be_lost(self, members: Iterable[int]) -> bool:
        return not all(self._all[index].stays for index in members)

    def equal(self) -> Iterator[Fact]:
        for members in self._classes.values():
            if len(members) > 1 and self._may_be_lost(members):
                yield self._fact("equal", members)

    def different(self) -> Iterator[Fact]:
        """Two members of one object: "owner is not the requester". That one differs from what stays is told of all
        values of its kind together."""
        by_object: dict[tuple[str, Kind], dict[str, int]] = defaultdict(dict)
        for index, one in enumerate(self._all):
            if not (one.place.in_key or one.place.path or one.stays):
                parent = one.place.pointer.rpartition("/")[0]
                by_object[parent, one.kind].setdefault(one.value[1], index)
        for values in by_object.values():
            for pair in pairwise(values.values()):
                yield self._fact("different", pair)

    def distinct(self) -> Iterator[Fact]:
        by_kind: dict[Kind, list[int]] = defaultdict(list)
        for (kind, _), index in self._first.items():
            by_kind[kind].append(index)
        for members in by_kind.values():
            if len(members) > 1 and self._may_be_lost(members):
                yield self._fact("distinct", sorted(members), len(members))

    def mailboxes(self) -> Iterator[Fact]:
        by_domain: dict[str, list[int]] = defaultdict(list)
        for (kind, text), index in self._telling.items():
            if kind != "email":
                continue
            local, _, domain = text.rpartition("@")
            by_domain[domain].append(index)
            base = self._telling.get(("email", f"{local.partition('+')[0]}@{domain}"))
            if "+" in local and base is not None and self._may_be_lost((base, index)):
                yield self._fact("tag", (base, index))
        for members in by_domain.values():
            if len(members) > 1 and self._may_be_lost(members):
                yield self._fact("domain", sorted(members))

    def names(self) -> Iterator[Fact]:
        """A person and the mailboxes, user names and ids that are made of the same words."""
        by_words: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for (kind, text), index in self._telling.items():
            if kind in ("person", "email", "username", "id"):
                words = tuple(sorted(word.casefold() for word in _WORD.findall(text.rpartition("@")[0] or text)))
                if len(words) > 1:
                    by_words[words].append(index)
        for members in by_words.values():
            if len({self._all[index].kind for index in members}) > 1 and self._may_be_lost(members):
                yield self._fact("name", sorted(members))

    def order(self) -> Iterator[Fact]:
        groups: dict[tuple[str, int], list[tuple[str, int]]] = defaultdict(list)
        for (kind, text), index in self._telling.items():
            start, digits = split(text)
            if kind == "id" and digits:
                groups[start, len(digits)].append((digits, index))
        for group in groups.values():
            members = [index for _, index in sorted(group)]
            if len(members) > 1 and self._may_be_lost(members):
                yield self._fact("order", members)

    def intervals(self) -> Iterator[Fact]:
        days = [
            (day, index)
            for (kind, text), index in self._telling.items()
            if kind == "date" and not self._all[index].stays and (day := dates.parsed(text))
        ]
        for (one, first), (other, second) in pairwise(sorted(days, key=lambda row: row[1])):
            yield self._fact("interval", (first, second), (other - one).days)


def _tells(one: Occurrence) -> bool:
    """Whether the text of a value has to do with that of others."""
    return not one.by_hand and len(one.text) <= LONGEST


def _name(place: Place) -> str:
    through = f" ({', '.join(place.path)})" if place.path else ""
    return f"{'the key ' if place.in_key else ''}{place.pointer or '/'}{through}"
