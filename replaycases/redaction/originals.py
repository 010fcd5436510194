"""Where a value that was to go still stands in a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import ahocorasick  # it ships no types

from replaycases.redaction.folding import folded
from replaycases.redaction.mailboxes import Parts, is_in_address
from replaycases.redaction.places import Kind
from replaycases.redaction.surrogates.dates import parsed, spellings

SHORTEST = 4
"""Characters from which a value may stand nowhere as a word of its own."""

INSIDE_WORDS = 8
"""Characters from which a value may not stand inside a longer word either."""


LONGEST = 400
"""Characters of a value that are looked for: where so long a beginning stands, the value does."""


class Originals:
    """A set of values, looked for in texts without regard to case, days however they are written, and with addresses
    their parts."""

    def __init__(self, values: Iterable[tuple[Kind, str]], parts: Parts | None = None) -> None:
        wanted: dict[str, tuple[Kind, bool]] = {}
        parts = parts or Parts()
        for kind, text in values:
            if len(text) >= SHORTEST:
                wanted |= {folded(form[:LONGEST]): (kind, False) for form in forms(kind, text)}
            if kind == "email":
                for of_part, part in parts.of(text):
                    wanted.setdefault(folded(part), (of_part, True))
        self._automaton = automaton({text: (*what, number) for number, (text, what) in enumerate(wanted.items())})

    def spans(self, text: str) -> Iterator[tuple[int, int, Kind]]:
        """Start, end and kind of every value that stands in `text`: on word boundaries, or anywhere if it is long. A
        value that overlaps itself is told once, and a part of an address not where it stands in one."""
        reach: dict[int, int] = {}
        for last, (length, (kind, is_part, number)) in self._automaton.iter(folded(text)):
            start, end = last + 1 - length, last + 1
            if start < reach.get(number, 0):
                continue
            anywhere = length >= INSIDE_WORDS and kind != "date" and not is_part
            if (anywhere or is_apart(kind, text, start, end)) and not (is_part and is_in_address(text, start, end)):
                reach[number] = end
                yield start, end, kind


def forms(kind: Kind, text: str) -> Iterable[str]:
    """The texts that are this value: a day is the same one however it is written."""
    return dict.fromkeys((text, *spellings(text))) if kind == "date" else (text,)


def is_date(kind: Kind, text: str) -> bool:
    """Whether the value is a day."""
    return kind == "date" and parsed(text) is not None


def is_apart(kind: Kind, text: str, start: int, end: int) -> bool:
    """Whether the span is a value of its own: a word, or a day, which a time may follow."""
    if kind == "date":
        return not (text[max(start - 1, 0) : start].isdigit() or text[end : end + 1].isdigit())
    return stands_alone(text, start, end)


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the span begins and ends where a word does."""
    begins = start == 0 or not (text[start - 1].isalnum() and text[start].isalnum())
    return begins and (end == len(text) or not (text[end - 1].isalnum() and text[end].isalnum()))


def automaton(texts: dict[str, Any]) -> Any:
    """An Aho-Corasick automaton that gives (length, value) for each text of a mapping; the mapping may be empty."""
    if not texts:
        return _Nothing()
    made = ahocorasick.Automaton()
    for text, value in texts.items():
        made.add_word(text, (len(text), value))
    made.make_automaton()
    return made


class _Nothing:
    """Looks for nothing: the automaton of the library must know a word."""

    def iter(self, text: str) -> Iterator[Any]:
        return iter(())
