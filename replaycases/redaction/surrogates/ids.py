"""Surrogates of identifiers, part by part: a known prefix stays, words become words, the rest keeps its form."""

from __future__ import annotations

import re
import string

from replaycases.redaction.surrogates.draws import Draw
from replaycases.redaction.surrogates.words import Words

PREFIXES = frozenset(
    re.findall(
        "[a-z]+",
        """
        acc acct asst booking call case cart ch chatcmpl chunk claim conv cus customer cust dep doc ev event
        evt fc file flight gen inc incident inv invoice item job msg order ord org pay payment pi pkg prod
        product ref req request res resp rs rsv run sess session ship span srv step sub task thread ticket
        tkt tool toolu trace tx txn usr user
        """,
    )
)
"""What issuers put before an id to say what it is. Only these stay: another first part may be a name."""

_PART = re.compile(r"[A-Za-z0-9]+")
MOST_DIGITS = 18
"""Digits that tell an order; a longer row of them is no number that grows."""


def identifier(text: str, words: Words, draw: Draw, *, with_prefix: bool) -> str:
    """The surrogate of an id, or of what an id begins with."""
    parts = list(_PART.finditer(text))
    pieces: list[str] = []
    read = 0
    for place, part in enumerate(parts):
        is_prefix = place == 0 and with_prefix and part[0].lower() in PREFIXES and len(text) > part.end()
        pieces += (text[read : part.start()], part[0] if is_prefix else _replaced(part[0], words, draw))
        read = part.end()
    pieces.append(text[read:])
    return "".join(pieces)


def split(text: str) -> tuple[str, str]:
    """`text` as what stands before the digits that it ends in, and these digits: "" where there are none, or more than
    a number has."""
    start = text.rstrip(string.digits)
    digits = text[len(start) :]
    return (start, digits) if len(digits) <= MOST_DIGITS else (text, "")


def _replaced(part: str, words: Words, draw: Draw) -> str:
    if part.isalpha() and (part.islower() or part.istitle()) and len(part) > 1:
        return words.word(part)
    return "".join(alike(character, draw) for character in part)


def alike(character: str, draw: Draw) -> str:
    """Another character of the same kind: a digit for a digit, a letter of the same case for a letter."""
    for group in (string.digits, string.ascii_lowercase, string.ascii_uppercase):
        if character in group:
            return draw.of(group)
    return character if character.isascii() else draw.of(string.ascii_lowercase)
