"""Runs of characters that mean nothing to a reader: ids, handles and keys without a format that anybody knows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from replaycases.redaction.detectors.base import Context, Hit
from replaycases.redaction.detectors.rules import entropy
from replaycases.redaction.policy import Opaque

LONGEST = 200
"""Characters from which a run is a block of data and no identifier."""

_DATE = r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
_PART = rf"(?:[A-Z]?[a-z]+|[A-Z]+|[0-9]{{1,4}}|{_DATE})"
_WORDS = re.compile(rf"{_PART}(?:[_+=-]{_PART})*")
_MODEL = re.compile(rf"[a-z]{{2,}}-[0-9]{{1,3}}[a-z](?:-[a-z]{{3,}})*-(?:{_DATE}|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})")
"""A model of a provider with its day: `gpt-4o-mini-2024-07-18`."""


class OpaqueRuns:
    """Takes a long run with digits and letters and much variety for an identifier."""

    def __init__(self, rule: Opaque) -> None:
        self._rule = rule
        beside = "A-Za-z0-9_+=-"
        more = f"{{{rule.min_length - 2},{LONGEST}}}"
        self._run = re.compile(rf"(?<![{beside}])[A-Za-z0-9][{beside}]{more}(?<=[A-Za-z0-9=])(?![{beside}])")

    def hits(self, text: str, context: Context) -> Iterator[Hit]:
        """Runs of `min_length` characters or more with digits among letters and at least `min_entropy` bits."""
        if not self._rule.on or len(text) < self._rule.min_length:
            return
        for match in self._run.finditer(text):
            run = match[0]
            if run.isdigit() or run.isalpha() or _WORDS.fullmatch(run) or _MODEL.fullmatch(run):
                continue
            if any(character.isdigit() for character in run) and entropy(run) >= self._rule.min_entropy:
                yield Hit(kind="opaque_id", detector="opaque", start=match.start(), end=match.end(), certainty="likely")
