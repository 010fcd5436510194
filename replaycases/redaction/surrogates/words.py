"""Words in place of words: names, user names, and the parts of addresses that are made of them.

A word has one surrogate in every kind of value, so that a person stays the same person in a name, in the local part of
an e-mail address and in a user name, and two of one family keep one family name.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from replaycases.redaction.surrogates.draws import Draw

DIGITS_ONLY = 10
"""Attempts in which a text with digits keeps its words."""

_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"[0-9]+")
_OPENINGS = "bdfgklmnprstvz"
_VOWELS = "aeiou"


class Words:
    """The words of one case. `is_free` says whether a new surrogate may be used."""

    def __init__(self, key: bytes, is_free: Callable[[str], bool]) -> None:
        self._key = key
        self._is_free = is_free
        self._chosen: dict[str, str] = {}
        self._taken: set[str] = set()

    def phrase(self, text: str, *, attempt: int = 0) -> str:
        """`text` with every word and every group of digits replaced, and all that stands between them kept.

        Of the attempts the first ones change digits only, where there are digits: a name stays the same name.
        """
        turn = attempt // DIGITS_ONLY if _DIGITS.search(text) else attempt
        with_words = _WORD.sub(lambda match: self.word(match[0], attempt=turn), text)
        return _DIGITS.sub(lambda match: self._number(match[0], attempt), with_words)

    def word(self, word: str, *, attempt: int = 0) -> str:
        """The surrogate of one word, in the word's own case."""
        folded = word.casefold()
        key = folded if not attempt else f"{folded}\0{attempt}"
        if key not in self._chosen:
            self._chosen[key] = self._choose(folded, attempt)
        return _in_case_of(word, self._chosen[key])

    def _choose(self, folded: str, attempt: int) -> str:
        if len(folded) == 1:
            return Draw(self._key, "letter", folded, attempt).of(_OPENINGS)
        syllables = min(max(len(folded) // 2, 2), 5)
        for counter in range(1000):
            draw = Draw(self._key, "word", folded, attempt, counter)
            word = "".join(draw.of(_OPENINGS) + draw.of(_VOWELS) for _ in range(syllables + counter // 20))
            if word not in self._taken and word != folded and self._is_free(word):
                self._taken.add(word)
                return word
        raise AssertionError("a thousand words were taken")

    def _number(self, digits: str, attempt: int) -> str:
        draw = Draw(self._key, "number", digits, attempt)
        return str(1 + draw.below(9)) + draw.digits(len(digits) - 1)


def _in_case_of(word: str, surrogate: str) -> str:
    if word.isupper() and len(word) > 1:
        return surrogate.upper()
    return surrogate.capitalize() if word[0].isupper() else surrogate
