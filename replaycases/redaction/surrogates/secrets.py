"""Surrogates of secrets: recognisable by their prefix, and plainly no secret to any scanner that comes after us."""

from __future__ import annotations

import re

from replaycases.redaction.surrogates.draws import Draw

LETTERS = "abcdefghijklmnop"
MARK = "synthetic-"
"""Stands in every surrogate of a secret."""

_PREFIX = re.compile(
    r"(?:gh[opusr]_|github_pat_|glpat-|sk-(?:proj-|ant-)?|[srp]k_(?:live|test)_|xox[abeprs]-|xapp-|AKIA|ASIA|AIza|ya29\."
    r"|eyJ|hf_|npm_|pypi-|shp(?:at|ca|pa|ss)_|SG\.|dop_v1_|lin_api_|whsec_|dckr_pat_|figd_|ntn_|r8_|gsk_|xai-)(?=.{8})",
    re.DOTALL,
)
"""What issuers put before a secret. Nothing else stays: it may be a part of the secret."""


def secret(text: str, draw: Draw, *, with_prefix: bool) -> str:
    """The prefix that names the issuer, a mark, and letters. Its length says nothing of the original's."""
    prefix = _PREFIX.match(text) if with_prefix else None
    return (prefix[0] if prefix else "") + MARK + "".join(draw.of(LETTERS) for _ in range(16))
