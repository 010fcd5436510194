"""Forms of a text that keep every character in its place."""

from __future__ import annotations

import re

_LONE = re.compile("[\ud800-\udfff]")


def folded(text: str) -> str:
    """`text` in lower case, character for character: positions in it are positions in `text`."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(character if len(character.lower()) > 1 else character.lower() for character in text)


def encodable(text: str) -> str:
    """`text` with U+FFFD for each lone surrogate: RE2 reads UTF-8, which has none."""
    return text if text.isascii() else _LONE.sub("\ufffd", text)


def is_encodable(text: str) -> bool:
    """Whether `text` has no lone surrogate, so that it can be written as UTF-8."""
    return text.isascii() or _LONE.search(text) is None
