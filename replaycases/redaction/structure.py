"""Which values of a fixture are content, and which are the frame that a replay stands on.

The frame (names of tools and actions, kinds and ids of checks, digests, instants of the recording) is never replaced:
a replay would no longer be the same one. It is scanned like the rest, and what is found in it stays an open finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from replaycases.redaction.places import Kind

_OUTCOME = ("value/**", "error/message")
_CLAIMS = ("prohibited_claims", "required_claims", "required_disclosures")
_ASKED = ("request", "response", "query", "parameters", "value", "question", "decision")

_CONTENT_1 = (
    "input/**",
    "identity/**",
    "tool_events/*/arguments/**",
    *(f"tool_events/*/outcome/{place}" for place in (*_OUTCOME, "error")),
    "expected/prohibited_claims/*",
    "expected/required_claims/*",
)
_CONTENT_2 = (
    "input/**",
    "identity/**",
    "events/*/arguments/**",
    "events/*/alternatives/*/arguments/**",
    *(f"events/*/{of}outcome/{place}" for of in ("", "alternatives/*/") for place in _OUTCOME),
    *(f"events/*/alternatives/*/then/*/{place}" for place in _OUTCOME),
    *(f"events/*/{part}/**" for part in _ASKED),
    "events/*/chunks/*/id",
    "events/*/chunks/*/text",
    "events/*/timing/late_result/**",
    "templates/*/content",
    "policies/*/content",
    "serving/settings/**",
    "missing/*/cost",
    "replayability/reason",
    *(f"expected/{claims}/*/{part}" for claims in _CLAIMS for part in ("statement", "detect/any/*", "detect/none/*")),
    "expected/citations/*/chunk",
    "expected/action/one_of/*",
    "expected/status/one_of/*",
    "expected/schema/schema/**",
    "expected/grade/result/**",
)


def _values(places: tuple[str, ...]) -> re.Pattern[str]:
    return _any_of(re.escape(place).replace(r"/\*\*", "(?:/.*)?") for place in places)


def _keys(places: tuple[str, ...]) -> re.Pattern[str]:
    return _any_of(re.escape(place).replace(r"\*\*", ".*") for place in places if place.endswith("**"))


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("/(?:" + "|".join(pattern.replace(r"\*", "[^/]*") for pattern in patterns) + ")", re.DOTALL)


_VALUES = {"1.0": _values(_CONTENT_1), "2.0": _values(_CONTENT_2)}
_KEYS = {"1.0": _keys(_CONTENT_1), "2.0": _keys(_CONTENT_2)}


OWN: frozenset[Kind] = frozenset({"id", "opaque_id", "uuid", "username", "person", "date", "organisation"})
"""Kinds that the frame is made of: names and digests that say which case, version and tool this is. Whatever else is
found in it stays open."""


class Frame:
    """Tells content from frame in one document. A document that is no fixture is content throughout, and its `version`
    is empty."""

    def __init__(self, document: Any) -> None:
        version = document.get("schema_version") if isinstance(document, dict) else None
        self.version = version if isinstance(version, str) and version in _VALUES else ""
        self._values = _VALUES.get(self.version)
        self._keys = _KEYS.get(self.version)

    def may_change(self, pointer: str, *, in_key: bool = False) -> bool:
        """Whether the value at `pointer` is content; with `in_key`, whether the name of that member is."""
        pattern = self._keys if in_key else self._values
        return pattern is None or pattern.fullmatch(pointer) is not None
