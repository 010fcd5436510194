"""Detectors, readings and what people decided, in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from replaycases.cases.models import RuleAction
from replaycases.redaction.kind_words import KINDS
from replaycases.redaction.placed import UNFIT
from replaycases.redaction.places import Certainty

MARKED: Final = tuple((kind, word) for kind, word in KINDS.items() if kind != "blind")
"""What somebody can say that a place is."""

CERTAINTIES: Final[Mapping[Certainty, str]] = {"certain": "certain", "likely": "likely", "suggested": "only suggested"}

_READINGS = {
    "json": "JSON",
    "json-key": "a name in JSON",
    "percent": "URL encoding",
    "form": "form encoding",
    "entities": "HTML entities",
    "escapes": "escapes",
    "normal": "another form of the same letters",
    "base64": "base64",
    "base64url": "base64",
    "hex": "hexadecimal",
}


def path(names: tuple[str, ...]) -> str:
    """How a reading was reached, innermost first: "in JSON in URL encoding". "" for the text itself."""
    words = [_READINGS.get(name.partition(":")[0].partition("@")[0], name.partition(":")[0]) for name in names]
    return " ".join(f"in {word}" for word in reversed(words))


_UNFIT: Mapping[str, str] = {
    RuleAction.SURROGATE: (
        "The chosen text cannot stand there: it was recorded, stands for another value, holds one or looks like a "
        "secret; or no single value is replaced at the place any more. Take the rule back, or choose another text."
    ),
    RuleAction.KEEP: "It cannot be kept: it is part of a longer value that is replaced, or is another value now.",
    RuleAction.JOIN: "They cannot be one: two members of an object would get one name, or one of them is gone.",
}


def unfit(actions: Collection[str]) -> str:
    """Why a rule, one of these actions, could not be carried out."""
    why = [_UNFIT[action] for action in actions if action in _UNFIT]
    return " ".join(dict.fromkeys(why)) or "The rule does not fit any more, or cannot be carried out. Take it back."


def needs(kind_of: str, detector: str, certainty: str, *, in_review: bool = True) -> str:
    """What an open finding asks of a reviewer."""
    if not in_review:
        return "It stands open in what is approved. Send the case back to review: there it is replaced, or waived."
    if detector == UNFIT:
        return "A rule does not fit any more, or cannot be carried out. Take it back."
    if kind_of == "blind":
        return "It could not be read. Mark it, leave it out, or waive it by itself with a reason of its own."
    if certainty == "suggested":
        return "It may be one. Replace it, keep it, or waive it."
    return "It still stands. Replace it by a rule, or waive it."
