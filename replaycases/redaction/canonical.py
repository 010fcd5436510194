"""When two texts are one value: the form in which values of a kind are compared."""

from __future__ import annotations

import ipaddress
import re
import unicodedata

from replaycases.redaction.places import Kind
from replaycases.redaction.surrogates.dates import one_form

_NOT_DIGIT = re.compile(r"[^0-9]")
_NOT_ALPHANUMERIC = re.compile(r"[^0-9A-Za-z]")
_SPACE = re.compile(r"\s+")


def canonical(kind: Kind, text: str) -> str:
    """The form of `text` that every spelling of the same value shares.

    E-mail addresses and UUIDs ignore case, cards, phones and social security numbers all but their digits, IBANs
    spacing and case, names and addresses case and spacing, dates how the day is written. Ids and secrets are what they
    are, character for character.
    """
    text = unicodedata.normalize("NFKC", text)
    match kind:
        case "card" | "ssn":
            return _NOT_DIGIT.sub("", text)
        case "phone":
            return _NOT_DIGIT.sub("", text).lstrip("0")
        case "iban":
            return _NOT_ALPHANUMERIC.sub("", text).upper()
        case "email" | "uuid" | "username":
            return text.casefold()
        case "url":
            return text if "/" in text else text.casefold()
        case "date":
            return one_form(text)
        case "ip":
            return _address(text)
        case "person" | "address" | "organisation":
            return _SPACE.sub(" ", text).strip().casefold()
        case _:
            return text


def _address(text: str) -> str:
    try:
        return ipaddress.ip_address(text).compressed
    except ValueError:
        return text
