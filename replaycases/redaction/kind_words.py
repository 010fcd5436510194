"""The kinds of found values in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from replaycases.redaction.places import Kind

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


def kind_word(name: str) -> str:
    return KINDS.get(name, name)  # type: ignore[call-overload,no-any-return]


def counted(counts: Mapping[str, int]) -> str:
    """How many values there are of each kind, most first; "nothing" where there are none."""
    most_first = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{count} {kind_word(name)}" for name, count in most_first) or "nothing"
