"""One surrogate for each value of a case: keyed, the same each time, and nobody else's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from datetime import timedelta

from replaycases.redaction.canonical import canonical
from replaycases.redaction.originals import Originals
from replaycases.redaction.places import Kind
from replaycases.redaction.surrogates import dates, ranks, shapes
from replaycases.redaction.surrogates.draws import Draw
from replaycases.redaction.surrogates.ids import identifier, split
from replaycases.redaction.surrogates.secrets import secret
from replaycases.redaction.surrogates.words import Words

TRIES = 100
WITH_PREFIX = 20
"""Tries in which a known prefix is kept."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_SHAPES: dict[Kind, Callable[[str, Draw], str]] = {
    "card": shapes.card,
    "iban": shapes.iban,
    "ssn": shapes.ssn,
    "phone": shapes.phone,
    "uuid": shapes.uuid,
}


class NoSurrogate(Exception):
    """No surrogate was found that is free. Names the kind and the length of the value, never the value."""


class Surrogates:
    """The surrogates of one case.

    `key` is 32 random octets of that case alone. `originals` are all the values that are to be replaced, as they were
    found: ranked ids need the whole set, and no surrogate may equal or hold one of them. `present` are the texts that
    stay in the document: a surrogate that equals one would make two things the same. `numeric` are the originals that
    stand somewhere as JSON numbers: their surrogates are numbers of as many digits. `is_suspect` says whether a
    scanner would take a text for a secret or for personal data of somebody; such a surrogate is drawn again.

    Raises NoSurrogate if the dates cannot be moved without meeting one another.
    """

    def __init__(
        self,
        key: bytes,
        originals: Iterable[tuple[Kind, str]],
        present: Iterable[str] = (),
        numeric: Iterable[tuple[Kind, str]] = (),
        is_suspect: Callable[[Kind, str], bool] = lambda kind, text: False,
    ) -> None:
        self._key = key
        self._is_suspect = is_suspect
        known = sorted(set(originals))
        self._originals = Originals(known)
        self._occupied = {text.casefold() for _, text in known} | {text.casefold() for text in present}
        self._numeric = {(kind, canonical(kind, text)) for kind, text in numeric}
        self._words = Words(key, self._is_free)
        self._ranked = ranks.by_rank(key, (text for kind, text in known if kind == "id" and split(text)[1]))
        self._weeks = self._weeks_for({text for kind, text in known if kind == "date"})
        self._of: dict[tuple[Kind, str], int] = {}
        self._spelled: dict[tuple[Kind, str], str] = {}
        self._owner: dict[str, tuple[Kind, str]] = {}

    def of(self, kind: Kind, text: str) -> str:
        """The surrogate of `text`, in the form that this text has. Raises NoSurrogate.

        Two spellings of one value (`canonical`) get one surrogate in two spellings; two values never get the same.
        """
        spelling = (kind, text)
        if spelling not in self._spelled:
            self._spelled[spelling] = self._chosen(kind, text)
        return self._spelled[spelling]

    def _chosen(self, kind: Kind, text: str) -> str:
        owner = (kind, canonical(kind, text))
        if owner in self._of:
            return self._made(kind, text, self._of[owner])
        for attempt in range(TRIES):
            made = self._made(kind, text, attempt)
            if self._fits(kind, made, owner):
                self._of[owner] = attempt
                self._owner[canonical(kind, made).casefold()] = owner
                return made
        raise NoSurrogate(f"no surrogate is free for a value of kind {kind} with {len(text)} characters")

    def _made(self, kind: Kind, text: str, attempt: int) -> str:
        draw = Draw(self._key, kind, canonical(kind, text), attempt)
        if kind == "date":
            return dates.moved(text, self._weeks)
        if kind == "ip":
            return shapes.ip(text, self._key + attempt.to_bytes(2, "big"))
        if kind == "secret":
            return secret(text, draw, with_prefix=attempt < WITH_PREFIX)
        if kind == "text":
            return f"[removed text {draw.digits(6)}, {len(text)} characters]"
        if kind == "email":
            return self._email(text, attempt)
        if kind in ("id", "opaque_id"):
            ending = self._ranked.get(text) if kind == "id" and attempt < WITH_PREFIX else None
            return identifier(text, self._words, draw, with_prefix=attempt < WITH_PREFIX, ending=ending)
        shape = _SHAPES.get(kind)
        return self._words.phrase(text, attempt=attempt) if shape is None else shape(text, draw)

    def _email(self, text: str, attempt: int) -> str:
        local, _, domain = text.rpartition("@")
        labels = domain.split(".")
        host = ".".join(labels[:-1]) or domain
        return f"{self._words.phrase(local, attempt=attempt)}@{self._words.phrase(host)}.example"

    def _fits(self, kind: Kind, made: str, owner: tuple[Kind, str]) -> bool:
        taken = self._owner.get(canonical(kind, made).casefold())
        if taken not in (None, owner) or (owner in self._numeric and not _NUMBER.fullmatch(made)):
            return False
        return kind == "date" or (self._is_free(made) and not self._is_suspect(kind, made))

    def _is_free(self, made: str) -> bool:
        folded = made.casefold()
        return folded not in self._occupied and next(self._originals.spans(made), None) is None

    def _weeks_for(self, texts: Set[str]) -> int:
        days = {day for day in map(dates.parsed, texts) if day is not None}
        for attempt in range(TRIES):
            weeks = dates.weeks(self._key, attempt)
            if days.isdisjoint(day - timedelta(weeks=weeks) for day in days):
                return weeks
        raise NoSurrogate("the dates lie too far apart to be moved without one becoming another")
