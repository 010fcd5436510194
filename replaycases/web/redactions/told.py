"""Kinds, detectors, readings and what people decided, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from replaycases.redaction.placed import UNFIT
from replaycases.redaction.places import Certainty, Kind

KINDS: Final[Mapping[Kind, str]] = {
    "secret": "secret",
    "email": "e-mail",
    "phone": "phone number",
    "card": "card number",
    "iban": "IBAN",
    "ssn": "social security number",
    "ip": "IP address",
    "person": "name of a person",
    "address": "postal address",
    "organisation": "organisation",
    "username": "user name",
    "uuid": "UUID",
    "id": "identifier",
    "date": "date",
    "url": "URL",
    "opaque_id": "opaque token",
    "text": "free text",
    "blind": "could not be read",
}
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


def kind(name: str) -> str:
    return KINDS.get(name, name)  # type: ignore[call-overload,no-any-return]


def counted(counts: Mapping[str, int]) -> str:
    """How many values of each kind were replaced, most first."""
    most_first = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{count} {kind(name)}" for name, count in most_first) or "nothing"


def path(names: tuple[str, ...]) -> str:
    """How a reading was reached, innermost first: "in JSON in URL encoding". "" for the text itself."""
    words = [_READINGS.get(name.partition(":")[0].partition("@")[0], name.partition(":")[0]) for name in names]
    return " ".join(f"in {word}" for word in reversed(words))


def needs(kind_of: str, detector: str, certainty: str) -> str:
    """What an open finding asks of a reviewer."""
    if detector == UNFIT:
        return "A rule does not fit any more, or cannot be carried out. Take it back."
    if kind_of == "blind":
        return "It could not be read. Mark it, leave it out, or waive it by itself with a reason of its own."
    if certainty == "suggested":
        return "It may be one. Replace it, keep it, or waive it."
    return "It still stands. Replace it by a rule, or waive it."
