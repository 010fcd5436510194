"""The second look: is anything of what was to go still there, in any reading of the redacted document?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from replaycases.redaction.canonical import canonical
from replaycases.redaction.detectors.base import Hit
from replaycases.redaction.mailboxes import Parts
from replaycases.redaction.originals import LONGEST, Originals, automaton
from replaycases.redaction.places import Finding, Kind
from replaycases.redaction.policy import Policy
from replaycases.redaction.scan import Detectors, Found, Scan, Source, scan
from replaycases.redaction.surrogates.surrogates import LONGEST_VALUE
from replaycases.redaction.views.blocks import SHORTEST, octets_in
from replaycases.redaction.views.view import View

ORIGINAL, DIGITS = "residual:original", "residual:digits"
"""The detectors of a value that was to go: as its text, and as its digits with other signs between them."""

FEWEST_DIGITS = 7
"""Digits from which an original made of digits is looked for whatever stands between them."""

_DIGITAL: frozenset[Kind] = frozenset({"card", "phone", "ssn", "iban"})
_GAP = re.compile(r"(?<=[0-9])[ ().\-/]{1,3}(?=[0-9])")


@dataclass(frozen=True, kw_only=True)
class SecondLook:
    """What is left in a document: `originals` that still stand there, and what the detectors find, surrogates aside."""

    originals: tuple[Found, ...]
    scan: Scan

    def open(self) -> tuple[Found, ...]:
        """What stands in the way of an approval, suggestions aside: those were put to a person before."""
        likely = (one for one in self.scan.found if one.hit.certainty != "suggested")
        return (*self.originals, *self.scan.blind, *likely)


def second_look(
    read: Sequence[Source],
    by: Detectors,
    *,
    originals: Iterable[tuple[Kind, str]],
    surrogates: Iterable[str],
    policy: Policy,
) -> SecondLook:
    """Reads a document again."""
    made = _Made(surrogates)
    again = scan(read, by, policy)
    again.found = [one for one in again.found if not made.is_one(one)]
    return SecondLook(originals=tuple(_Left(originals, policy).found_in(read)), scan=again)


ROUND = LONGEST_VALUE + 200
"""Characters round a hit in which a surrogate that holds it is looked for."""


def is_original(finding: Finding) -> bool:
    """Whether the finding is a value that was to go, wherever it stands. A day may be that of the recording too."""
    return finding.detector in (ORIGINAL, DIGITS) and finding.kind != "date"


class _Made:
    """The surrogates. A hit is one if it is its text, or lies where one stands in a reading on the way to it."""

    def __init__(self, surrogates: Iterable[str]) -> None:
        self._texts = {text.strip() for text in surrogates if text.strip()}
        self._automaton = automaton(dict.fromkeys(self._texts))

    def is_one(self, one: Found) -> bool:
        text = one.text.strip()
        if not text or text in self._texts:
            return bool(text)
        if one.hit.kind == "opaque_id" and self._is_in_block(one):
            return True
        view: View | None = one.view
        start = one.hit.start + one.text.index(text)
        end = start + len(text)
        while view is not None:
            if any(first <= start and end <= last for first, last in self._spans(view.text, start)):
                return True
            start, end = view.in_parent(start, end)
            view = view.parent
        return False

    def _is_in_block(self, one: Found) -> bool:
        """Whether the run is a block that was encoded anew with a surrogate in it: it was none of these runs before."""
        spans = (view for view in one.view.children if view.units is None)
        held = (view.text for view in spans if one.hit.start <= view.start and view.end <= one.hit.end)
        return any(next(self._automaton.iter(text), None) is not None for text in held)

    def _spans(self, text: str, at: int) -> Iterator[tuple[int, int]]:
        """Where surrogates stand round a position. Only that part is given to the automaton, which reads all that it is
        given, whatever bounds are named."""
        first = max(at - ROUND, 0)
        for last, (length, _) in self._automaton.iter(text[first : at + ROUND]):
            yield first + last + 1 - length, first + last + 1


class _Left:
    def __init__(self, originals: Iterable[tuple[Kind, str]], policy: Policy) -> None:
        values = list(originals)
        self._texts = Originals(values, Parts(policy.allowed, policy.kinds_off))
        digits = ((kind, _digits(canonical(kind, text))) for kind, text in values if kind in _DIGITAL)
        self._digits = automaton({bare[:LONGEST]: kind for kind, bare in digits if len(bare) >= FEWEST_DIGITS})

    def found_in(self, read: Iterable[Source]) -> Iterator[Found]:
        for source in read:
            for view in source.reading.root.walk():
                for hit in (*self._plain(view), *self._spaced(view), *self._in_octets(view)):
                    yield Found(leaf=source.leaf, view=view, hit=hit)

    def _plain(self, view: View) -> Iterator[Hit]:
        for start, end, kind in self._texts.spans(view.text):
            yield Hit(kind=kind, detector=ORIGINAL, start=start, end=end)

    def _in_octets(self, view: View) -> Iterator[Hit]:
        """Where a value stands in a block that is no text, and was read no further: in 8 bits, or in 16."""
        if len(view.text) < SHORTEST or view.is_structure:
            return
        read = {(child.start, child.end) for child in view.children if child.units is None}
        for start, end, octets in octets_in(view.text):
            if (start, end) not in read:
                texts = (octets.decode("latin-1"), octets.replace(b"\0", b"").decode("latin-1"))
                found = (kind for text in texts for _, _, kind in self._texts.spans(text))
                kind = next(found, None)
                if kind is not None:
                    yield Hit(kind=kind, detector=ORIGINAL, start=start, end=end)

    def _spaced(self, view: View) -> Iterator[Hit]:
        if not _GAP.search(view.text):
            return
        bare = _GAP.sub("", view.text)
        for _, (_length, kind) in self._digits.iter(bare):
            yield Hit(kind=kind, detector=DIGITS, start=0, end=len(view.text))
            return


def _digits(text: str) -> str:
    return "".join(character for character in text if character in "0123456789")
