"""The second look: is anything of what was to go still there, in any reading of the redacted document?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from replaycases.redaction.canonical import canonical
from replaycases.redaction.detectors.base import Hit
from replaycases.redaction.originals import Originals, automaton
from replaycases.redaction.places import Finding, Kind
from replaycases.redaction.policy import Policy
from replaycases.redaction.scan import Found, Source, detectors, scan
from replaycases.redaction.views.view import View

FEWEST_DIGITS = 7
"""Digits from which an original made of digits is looked for whatever stands between them."""

_DIGITAL: frozenset[Kind] = frozenset({"card", "phone", "ssn", "iban"})
_GAP = re.compile(r"(?<=[0-9])[ ().\-/]{1,3}(?=[0-9])")


def residual(
    read: Sequence[Source], *, originals: Iterable[tuple[Kind, str]], surrogates: frozenset[str], policy: Policy
) -> tuple[Finding, ...]:
    """What is left in a document: originals that still stand there, and what detectors find beside the surrogates.

    An approval is possible only when this is empty or each finding was waived.
    """
    known = _Left(originals)
    left = list(known.found_in(read))
    made = "\n".join(sorted(surrogates))
    again = scan(read, detectors(policy), policy)
    left += again.blind
    left += [one for one in again.found if one.hit.certainty != "suggested" and not _is_surrogate(one, made)]
    return tuple(one.finding() for one in left)


def _is_surrogate(one: Found, made: str) -> bool:
    """Whether the hit is a surrogate or lies within one."""
    text = one.text.strip()
    return bool(text) and text in made


class _Left:
    def __init__(self, originals: Iterable[tuple[Kind, str]]) -> None:
        values = list(originals)
        self._texts = Originals(values)
        digits = ((kind, _digits(canonical(kind, text))) for kind, text in values if kind in _DIGITAL)
        self._digits = automaton({bare: kind for kind, bare in digits if len(bare) >= FEWEST_DIGITS})

    def found_in(self, read: Iterable[Source]) -> Iterator[Found]:
        for source in read:
            for view in source.reading.root.walk():
                for hit in (*self._plain(view), *self._spaced(view)):
                    yield Found(leaf=source.leaf, view=view, hit=hit)

    def _plain(self, view: View) -> Iterator[Hit]:
        for start, end, kind in self._texts.spans(view.text):
            yield Hit(kind=kind, detector="residual:original", start=start, end=end)

    def _spaced(self, view: View) -> Iterator[Hit]:
        if not _GAP.search(view.text):
            return
        bare = _GAP.sub("", view.text)
        for _, (_length, kind) in self._digits.iter(bare):
            yield Hit(kind=kind, detector="residual:digits", start=0, end=len(view.text))


def _digits(text: str) -> str:
    return "".join(character for character in text if character in "0123456789")
