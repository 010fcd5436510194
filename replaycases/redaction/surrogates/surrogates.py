"""One surrogate for each value of a case: keyed, the same each time, and nobody else's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from datetime import timedelta

from replaycases.fixture.canonical import MAX_INTEGER
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
"""Tries in which a known prefix is kept, and in which a number is made like other values of its kind."""

LIKE_ITS_KIND = 60
"""Tries after which a placeholder takes the place of a value: what consists of signs only has no like."""

WITH_WORDS = 80
"""Tries after which the placeholder has no words: they may be originals."""

MOST_MORE = 15
"""Digits after the first one up to which a number is read as what it is by every reader of JSON."""

LONGEST_VALUE = 1000
"""Characters beyond which a value is free text, whatever its field says."""

HELD = 3
"""Characters from which no original may stand in a surrogate that a person chose, not even within a word."""

Owner = tuple[Kind, str, str]
"""Whose a surrogate is: kind, canonical text, and a label that sets one occurrence apart from its equals ("" for none).
"""

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
    stay in the document: a surrogate that equals one would make two things the same. `staying` are the ids among them
    that were found: those that are replaced keep their order with them, where there is room. `numeric` are the
    originals that stand somewhere as JSON numbers: their surrogates are numbers of as many digits. `is_suspect` says
    whether a scanner would take a text for a secret or for personal data of somebody; such a surrogate is drawn again.

    Raises NoSurrogate if the dates cannot be moved without meeting one another.
    """

    def __init__(
        self,
        key: bytes,
        originals: Iterable[tuple[Kind, str]],
        present: Iterable[str] = (),
        staying: Iterable[str] = (),
        numeric: Iterable[tuple[Kind, str]] = (),
        is_suspect: Callable[[Kind, str], bool] = lambda kind, text: False,
    ) -> None:
        self._key = key
        self._is_suspect = is_suspect
        known = sorted(set(originals))
        self._originals = Originals(known)
        self._occupied = {text.casefold() for _, text in known} | {text.casefold() for text in present}
        self._long = {text.casefold() for _, text in known if len(text) >= HELD}
        self._numeric = {(kind, canonical(kind, text)) for kind, text in numeric}
        self._words = Words(key, self._is_free)
        self._ranked = ranks.by_rank(key, (text for kind, text in known if kind == "id" and split(text)[1]), staying)
        self._weeks = self._weeks_for({text for kind, text in known if kind == "date"})
        self._of: dict[Owner, int] = {}
        self._spelled: dict[tuple[Kind, str, str], str] = {}
        self._owner: dict[str, Owner] = {}
        self._by_hand: dict[Owner, str] = {}
        self._starts: dict[tuple[str, int], str] = {}
        self._start_owner: dict[str, str] = {}
        self._hosts: dict[str, int] = {}
        self._host_owner: dict[str, str] = {}

    def of(self, kind: Kind, text: str, apart: str = "") -> str:
        """The surrogate of `text`, in the form that this text has. Raises NoSurrogate.

        Two spellings of one value (`canonical`) get one surrogate in two spellings; two values never get the same.
        `apart` sets an occurrence apart: it is another value than its equals then.
        """
        spelling = (kind, text, apart)
        if spelling not in self._spelled:
            self._spelled[spelling] = self._chosen(kind, text, apart)
        return self._spelled[spelling]

    def choose(self, kind: Kind, text: str, chosen: str, apart: str = "") -> bool:
        """Let `chosen` stand for `text` in each of its spellings, unless it is or holds an original, is another's
        surrogate or a text that stays, or looks like a secret. Comes before the first `of`. Says whether it does."""
        owner = (kind, canonical(kind, text), apart)
        shown = chosen.casefold()
        if owner in self._by_hand:
            return self._by_hand[owner] == chosen
        if not chosen.strip() or any(value in shown for value in self._long):
            return False
        if not self._fits(kind, chosen, owner):
            return False
        self._owner[canonical(kind, chosen).casefold()] = owner
        self._by_hand[owner] = chosen
        return True

    def _chosen(self, kind: Kind, text: str, apart: str) -> str:
        owner = (kind, canonical(kind, text), apart)
        if owner in self._by_hand:
            return self._by_hand[owner]
        if owner in self._of:
            return self._made(kind, text, owner, self._of[owner])
        for attempt in range(TRIES):
            made = self._made(kind, text, owner, attempt)
            if self._fits(kind, made, owner):
                self._of[owner] = attempt
                self._owner[canonical(kind, made).casefold()] = owner
                return made
        raise NoSurrogate(f"no surrogate is free for a value of kind {kind} with {len(text)} characters")

    def _made(self, kind: Kind, text: str, owner: Owner, attempt: int) -> str:
        draw = Draw(self._key, *_label(owner), attempt)
        if owner[:2] in self._numeric and attempt >= WITH_PREFIX:
            more = max(len(text) - 1, 0) + attempt // LIKE_ITS_KIND
            return str(1 + draw.below(8)) + draw.digits(min(more, MOST_MORE))
        if attempt >= LIKE_ITS_KIND:
            return f"[removed {kind} {draw.digits(6)}]" if attempt < WITH_WORDS else f"[{draw.digits(8)}]"
        if kind == "secret":
            return secret(text, draw, with_prefix=attempt < WITH_PREFIX)
        if kind == "text" or len(text) > LONGEST_VALUE:
            return f"[removed text {draw.digits(6)}, {len(text)} characters]"
        if kind in ("id", "opaque_id"):
            if kind == "id" and attempt < WITH_PREFIX and not owner[2] and text in self._ranked:
                return self._start(split(text)[0], attempt) + self._ranked[text]
            return identifier(text, self._words, draw, with_prefix=attempt < WITH_PREFIX)
        # Another word for each attempt: an occurrence that is set apart shares no word with its equals.
        turn = attempt if not owner[2] else Draw(self._key, *_label(owner)).below(MAX_INTEGER) + attempt
        if kind == "url" and shapes.is_host(text) and not owner[2]:
            return f"{self._host(text)}.example"
        if not shapes.has_shape(kind, text):
            return self._words.phrase(text, attempt=turn)
        if kind == "date":
            return dates.moved(text, self._weeks)
        if kind == "ip":
            return shapes.ip(text, self._key + turn.to_bytes(8, "big"))
        if kind == "email":
            return self._email(text, turn)
        return _SHAPES[kind](text, draw)

    def _start(self, start: str, attempt: int) -> str:
        """What ids begin with that end in digits: one for each start, so that their order stays, and no other's."""
        if (start, attempt) not in self._starts:
            made = start
            for counter in range(TRIES):
                made = identifier(
                    start, self._words, Draw(self._key, "start", start, attempt, counter), with_prefix=True
                )
                if self._start_owner.setdefault(made, start) == start:
                    break
            self._starts[start, attempt] = made
        return self._starts[start, attempt]

    def _email(self, text: str, attempt: int) -> str:
        local, _, domain = text.rpartition("@")
        return f"{self._words.phrase(local, attempt=attempt)}@{self._host(domain)}.example"

    def _host(self, domain: str) -> str:
        """One for each domain and never the same for two, whatever they end in."""
        labels = domain.split(".")
        host, owner = ".".join(labels[:-1]) or domain, domain.casefold()
        if owner not in self._hosts:
            self._hosts[owner] = next(
                (attempt for attempt in range(TRIES) if self._is_theirs(host, attempt, owner)), TRIES
            )
        attempt = self._hosts[owner]
        return self._words.phrase(host, attempt=attempt) if attempt < TRIES else self._words.word(owner)

    def _is_theirs(self, host: str, attempt: int, owner: str) -> bool:
        made = self._words.phrase(host, attempt=attempt).casefold()
        return self._host_owner.setdefault(made, owner) == owner

    def _fits(self, kind: Kind, made: str, owner: Owner) -> bool:
        taken = self._owner.get(canonical(kind, made).casefold())
        if taken not in (None, owner) or (owner[:2] in self._numeric and not _is_number(made)):
            return False
        if kind == "date" and shapes.has_shape(kind, made):
            return not owner[2]
        return self._is_free(made) and not self._is_suspect(kind, made)

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


def _label(owner: Owner) -> tuple[str, ...]:
    return owner if owner[2] else owner[:2]


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and abs(float(text)) <= MAX_INTEGER
