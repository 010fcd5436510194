"""Values that were found in one place, looked for in every other."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from replaycases.redaction.detectors.base import Hit
from replaycases.redaction.folding import folded
from replaycases.redaction.mailboxes import Parts, is_in_address
from replaycases.redaction.originals import LONGEST, automaton, forms, is_apart
from replaycases.redaction.places import Certainty, Kind
from replaycases.redaction.scan import Found, Source
from replaycases.redaction.views.view import View

SHORTEST = 6
"""Characters below which a value is not looked for everywhere: it would be found in words that it is no part of."""

SHORTEST_ALIAS = 3
SHORTEST_MARKED = 2
MARKED = "manual:mark"

_WORD = re.compile(r"[^\W\d_]+")


class KnownValues:
    """The values of a case, to be found again wherever they stand between word boundaries.

    A word of a person's name is an alias where it stands alone, with a capital: it may be anybody or no name at all, so
    that `aliases` says whether it is put to the reviewer ("suggested") or replaced ("likely"). The parts of an address
    that say who it is are values too where they do not stand in one, but for what the policy has `allowed` and the
    parts of that.
    """

    def __init__(self, found: Iterable[Found], aliases: Certainty = "suggested", parts: Parts | None = None) -> None:
        wanted: dict[str, tuple[Kind, Certainty, bool]] = {}
        parts = parts or Parts()
        for one in found:
            if one.hit.certainty == "suggested":
                continue
            text = one.text
            if _is_long_enough(one) and len(text) <= LONGEST and one.hit.kind != "text":
                for form in forms(one.hit.kind, text):
                    wanted[folded(form)] = (one.hit.kind, "likely", False)
            if one.hit.kind == "person":
                for alias in _aliases(text):
                    wanted.setdefault(folded(alias), ("person", aliases, False))
            if one.hit.kind == "email":
                for kind, part in parts.of(text):
                    wanted.setdefault(folded(part), (kind, "likely", True))
        self._values = automaton(wanted)

    def found_in(self, sources: Iterable[Source], found: Iterable[Found]) -> Iterator[Found]:
        """Where they stand and no detector found them."""
        known: dict[View, set[tuple[int, int]]] = defaultdict(set)
        for one in found:
            known[one.view].add((one.hit.start, one.hit.end))
        for source in sources:
            for view, _ in source.texts():
                for hit in self._hits(view.text):
                    if (hit.start, hit.end) not in known[view]:
                        yield Found(leaf=source.leaf, view=view, hit=hit)

    def _hits(self, text: str) -> Iterator[Hit]:
        for last, (length, (kind, certainty, is_part)) in self._values.iter(folded(text)):
            start, end = last + 1 - length, last + 1
            is_alias = kind == "person" and text[start:end].isalpha()
            if not is_apart(kind, text, start, end) or (is_alias and not text[start].isupper()):
                continue
            if is_part and is_in_address(text, start, end):
                continue
            detector = "alias" if is_alias else "known"
            yield Hit(kind=kind, detector=detector, start=start, end=end, certainty=certainty)


def _is_long_enough(one: Found) -> bool:
    """What a person marked is one word at least, whatever its length: they mean it wherever it stands."""
    return len(one.text) >= (SHORTEST_MARKED if one.hit.detector == MARKED else SHORTEST)


def _aliases(name: str) -> list[str]:
    return [word for word in _WORD.findall(name) if len(word) >= SHORTEST_ALIAS]
