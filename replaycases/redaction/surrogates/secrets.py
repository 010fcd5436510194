"""Surrogates of secrets: recognisable by their prefix, and plainly no secret to any scanner that comes after us."""

from __future__ import annotations

import re

from replaycases.redaction.surrogates.draws import Draw

LETTERS = "abcdefghijklmnop"
MARK = "synthetic-"
"""Stands in every surrogate of a secret."""

_PREFIX = re.compile(r"(?:AKIA|ASIA|AIza|eyJ|[A-Za-z][A-Za-z0-9]{1,6}[_-](?:[a-z]{2,5}[_-])?)(?=.{8})", re.DOTALL)


def secret(text: str, draw: Draw, *, with_prefix: bool) -> str:
    """The prefix that names the issuer, a mark, and letters. Its length says nothing of the original's."""
    prefix = _PREFIX.match(text) if with_prefix else None
    return (prefix[0] if prefix else "") + MARK + "".join(draw.of(LETTERS) for _ in range(16))
