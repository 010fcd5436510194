"""The rules of people, each brought to the place in the document that it is about."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from replaycases.redaction.detectors.base import Hit
from replaycases.redaction.dropping import Cut
from replaycases.redaction.entities import Entities
from replaycases.redaction.leaves import Address
from replaycases.redaction.manual import ManualRule, PlaceUnknown, mac, span_in, view_at
from replaycases.redaction.overlaps import Value, grounds
from replaycases.redaction.places import Finding, Place
from replaycases.redaction.scan import Found, Scan, Source
from replaycases.redaction.views.view import View

UNFIT = "manual:does not fit"
KEPT = "a person keeps it"


def unfit(rule: ManualRule) -> Finding:
    """What is open because of a rule whose value is not there any more, or that cannot be carried out."""
    return Finding(kind="blind", detector=UNFIT, place=rule.place, certainty="certain", value="")


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot:
    """A span in one view of one leaf, to which a rule has led."""

    source: Source = field(repr=False)
    view: View = field(repr=False)
    start: int
    end: int

    def holds(self, one: Found) -> bool:
        """Whether the hit lies within the span."""
        ground, start, end = next(grounds(self.view, self.start, self.end))
        return one.leaf.address == self.source.leaf.address and any(
            view is ground and start <= first and last <= end
            for view, first, last in grounds(one.view, one.hit.start, one.hit.end)
        )

    def meets(self, value: Value) -> bool:
        """Whether the value takes characters of the span, in whatever readings they were found."""
        if value.found.leaf.address != self.source.leaf.address:
            return False
        spans = {view: (start, end) for view, start, end in grounds(self.view, self.start, self.end)}
        return any(_meet(spans, one) for one in (value.found, *value.covered))


def _meet(spans: Mapping[View, tuple[int, int]], one: Found) -> bool:
    for view, start, end in grounds(one.view, one.hit.start, one.hit.end):
        if view in spans:
            return start < spans[view][1] and spans[view][0] < end
    return False


class Placed:
    """Rules of the actions that are about values. `unfit` collects those that cannot be carried out; a rule about what
    was left out has nothing to do, but what it marked is looked for elsewhere."""

    def __init__(self, rules: Iterable[ManualRule], read: Iterable[Source], first: Scan, out: Cut, key: bytes) -> None:
        self._rules = [rule for rule in rules if rule.action not in ("drop", "structural")]
        self._out = out
        self._first = first
        self._key = key
        wanted = {_address(place) for rule in self._rules for place in (rule.place, rule.other) if place is not None}
        self._sources = {source.leaf.address: source for source in read if source.leaf.address in wanted}
        self.unfit: list[ManualRule] = []
        self._spots: dict[int, Spot] = {}
        self._others: dict[ManualRule, Spot] = {}
        for at, rule in enumerate(self._rules):
            self._place(at, rule)

    def marks(self) -> list[Found]:
        """What people marked."""
        return [
            Found(
                leaf=spot.source.leaf,
                view=spot.view,
                hit=Hit(kind=rule.kind, detector=rule.detector, start=spot.start, end=spot.end),
            )
            for rule, spot in self._of("mark")
            if rule.kind is not None
        ]

    def kept(self, found: Iterable[Found]) -> list[Found]:
        """The hits that people keep. What somebody marked is none of them."""
        spots = [spot for _, spot in self._of("keep")]
        return [one for one in found if not one.is_by_hand and any(spot.holds(one) for spot in spots)]

    def settle(self, values: Sequence[Value], entities: Entities) -> None:
        """Splits and joins the entities of the values. What a person keeps and a longer value takes cannot be kept."""
        at_leaf = _by_leaf(values)
        for rule, spot in self._of("keep"):
            if any(spot.meets(values[index]) for index in at_leaf.get(spot.source.leaf.address, ())):
                self.unfit.append(rule)
        for rule, spot in self._of("split"):
            index = self._index(rule, spot, values, at_leaf)
            if index is not None:
                entities.split(index, _label(rule.place))
        for rule, spot in self._of("join"):
            one = self._index(rule, spot, values, at_leaf)
            other = self._index(rule, self._others[rule], values, at_leaf) if one is not None else None
            if one is not None and other is not None:
                self._join(rule, one, other, values, entities)

    def _join(self, rule: ManualRule, one: int, other: int, values: Sequence[Value], entities: Entities) -> None:
        """Two names of members of one object cannot become one."""
        names = [_objects_naming(entities.with_equals(index), values) for index in (one, other)]
        if names[0] & names[1] and not entities.are_one(one, other):
            self.unfit.append(rule)
        else:
            entities.join(one, other)

    def choose(self, values: Sequence[Value], choose: Callable[[int, str], bool]) -> None:
        """Puts the surrogates in place that people chose."""
        at_leaf = _by_leaf(values)
        for rule, spot in self._of("surrogate"):
            index = self._index(rule, spot, values, at_leaf)
            if index is not None and not choose(index, rule.surrogate):
                self.unfit.append(rule)

    def _of(self, action: str) -> Iterator[tuple[ManualRule, Spot]]:
        for at, rule in enumerate(self._rules):
            counts = action == "mark" or not self._out.is_out(rule.place.pointer)
            if rule.action == action and at in self._spots and counts:
                yield rule, self._spots[at]

    def _place(self, at: int, rule: ManualRule) -> None:
        try:
            spot = self._spot(rule.place, rule.fits)
            self._require_may(rule, spot)
            if rule.action == "join":
                if rule.other is None:
                    raise PlaceUnknown("a join has two places")
                self._others[rule] = self._spot(rule.other, rule.other_fits)
            self._spots[at] = spot
        except PlaceUnknown:
            self.unfit.append(rule)

    def _spot(self, place: Place, fits: str) -> Spot:
        source = self._sources.get(_address(place))
        if source is None:
            raise PlaceUnknown("there is no such leaf")
        view = view_at(source.reading.root, place.path)
        start, end = span_in(view.text, place)
        if start == end or not hmac.compare_digest(mac(self._key, view.text[start:end]).encode(), fits.encode()):
            raise PlaceUnknown("the value there is another one")
        return Spot(source=source, view=view, start=start, end=end)

    def _require_may(self, rule: ManualRule, spot: Spot) -> None:
        if rule.action != "keep" and self._first.is_exact(spot.view):
            raise PlaceUnknown("it is compared octet by octet")
        if rule.action == "mark":
            is_part = (spot.start, spot.end) != (0, len(spot.view.text))
            one = Found(leaf=spot.source.leaf, view=spot.view, hit=Hit(kind="id", detector="", start=0, end=1))
            if rule.kind in (None, "blind") or (is_part and one.is_number):
                raise PlaceUnknown("a number is taken whole")

    def _index(
        self, rule: ManualRule, spot: Spot, values: Sequence[Value], at_leaf: Mapping[Address, Collection[int]]
    ) -> int | None:
        """The one value that is replaced at the spot."""
        there = [index for index in at_leaf.get(spot.source.leaf.address, ()) if spot.meets(values[index])]
        if len(there) == 1:
            return there[0]
        self.unfit.append(rule)
        return None


def _address(place: Place) -> Address:
    return place.pointer, place.in_key


def _by_leaf(values: Sequence[Value]) -> dict[Address, list[int]]:
    by_leaf: dict[Address, list[int]] = {}
    for index, value in enumerate(values):
        by_leaf.setdefault(value.found.leaf.address, []).append(index)
    return by_leaf


def _objects_naming(indexes: Iterable[int], values: Sequence[Value]) -> set[str]:
    leaves = (values[index].found.leaf for index in indexes)
    return {leaf.pointer.rpartition("/")[0] for leaf in leaves if leaf.kind == "key"}


def _label(place: Place) -> str:
    return "\0".join((place.pointer, str(place.in_key), *place.path, str(place.start), str(place.end)))
