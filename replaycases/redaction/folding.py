"""Lower case that keeps every character in its place."""

from __future__ import annotations


def folded(text: str) -> str:
    """`text` in lower case, character for character: positions in it are positions in `text`."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(character if len(character.lower()) > 1 else character.lower() for character in text)
