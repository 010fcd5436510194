"""Which values are one: by their text, and as people joined and split them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from replaycases.redaction.canonical import canonical
from replaycases.redaction.overlaps import RANK, Value
from replaycases.redaction.places import Kind
from replaycases.redaction.scan import Found

Identity = tuple[Kind, str, str]
"""Kind, canonical text, and a label that sets one occurrence apart from its equals."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """What an occurrence is: the value `text` of a kind, or one set `apart` from it. `by_hand` says that a person had a
    part in it, so that one surrogate stands for every spelling."""

    kind: Kind
    text: str = field(repr=False)
    apart: str = ""
    by_hand: bool = False

    @property
    def name(self) -> str:
        """What tells it from every other of its kind, "" where its text does."""
        return f"{canonical(self.kind, self.text)}\0{self.apart}" if self.by_hand else ""


class Entities:
    """The entities of the values of one document, which are named by their place in its order."""

    def __init__(self, values: Sequence[Value]) -> None:
        self._found = [value.found for value in values]
        self._kinds = _kinds(self._found)
        self._joined: dict[Identity, Identity] = {}
        self._apart: dict[int, str] = {}
        self._labelled: dict[str, int] = {}
        self._by_hand: set[Identity] = set()

    def of(self, index: int) -> Entity:
        """The entity of a value."""
        one = self._found[index]
        return self._entity(self.kind(one), one.text, self._now(index) if self._by_hand else None)

    def of_staying(self, one: Found) -> Entity:
        """The entity of a hit that stays: that of the values that are its equals, if there are any."""
        kind = self._kinds.get(one.text.casefold(), one.hit.kind)
        now = self._joined_to((kind, canonical(kind, one.text), "")) if self._by_hand else None
        return self._entity(kind, one.text, now)

    def _entity(self, kind: Kind, text: str, now: Identity | None) -> Entity:
        if now is None or now not in self._by_hand:
            return Entity(kind=kind, text=text)
        kind, _, apart = now
        first = self._found[self._labelled[apart] if apart else self._first[now]]
        return Entity(kind=kind, text=first.text, apart=apart, by_hand=True)

    def kind(self, one: Found) -> Kind:
        """One kind for each text: what was found here as an id and there as an address is one value."""
        return self._kinds[one.text.casefold()]

    def split(self, index: int, label: str) -> None:
        """Makes the occurrence a value of its own. `label` is the same in every redaction, and no other's."""
        self._apart[index] = label
        self._labelled[label] = index
        self._by_hand.add(self._own(index))

    def join(self, index: int, other: int) -> None:
        """Makes what equals the one and what equals the other one value."""
        into, gone = self._now(index), self._now(other)
        self._by_hand.add(into)
        if into != gone:
            self._joined[gone] = into

    def are_one(self, index: int, other: int) -> bool:
        """Whether both are occurrences of one entity."""
        return self._now(index) == self._now(other)

    def choose(self, index: int) -> Entity:
        """The entity of the value, whose surrogate a person chooses."""
        self._by_hand.add(self._now(index))
        return self.of(index)

    def with_equals(self, index: int) -> list[int]:
        """All occurrences of the value's entity."""
        now = self._now(index)
        return [at for at in range(len(self._found)) if self._now(at) == now]

    def _now(self, index: int) -> Identity:
        return self._joined_to(self._own(index))

    def _joined_to(self, identity: Identity) -> Identity:
        while identity in self._joined:
            identity = self._joined[identity]
        return identity

    def _own(self, index: int) -> Identity:
        kind, text, _ = self._texts[index]
        return kind, text, self._apart.get(index, "")

    @cached_property
    def _texts(self) -> list[Identity]:
        kinds = (self.kind(one) for one in self._found)
        return [(kind, canonical(kind, one.text), "") for kind, one in zip(kinds, self._found, strict=True)]

    @cached_property
    def _first(self) -> dict[Identity, int]:
        return {identity: at for at, identity in reversed(list(enumerate(self._texts)))}


def _kinds(found: Iterable[Found]) -> dict[str, Kind]:
    """What a person marked says what its text is, else the kind that can be checked best."""
    kinds: dict[str, tuple[tuple[bool, int], Kind]] = {}
    for one in found:
        text, kind = one.text.casefold(), one.hit.kind
        weight = (not one.is_by_hand, RANK[kind])
        if text not in kinds or weight < kinds[text][0]:
            kinds[text] = weight, kind
    return {text: kind for text, (_, kind) in kinds.items()}
