"""Personal data with a form that can be checked: a match counts only if it is valid."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

import phonenumbers

from replaycases.redaction.check_digits import luhn_digit, mod_97
from replaycases.redaction.detectors.base import Context, Hit
from replaycases.redaction.places import Certainty, Kind

EMAIL = re.compile(r"(?<![\w.+-])[\w.%+'-]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_][\w-]{1,23}(?![\w-])")
_CARD = re.compile(r"(?<![\w.,-])(?:[0-9][ -]?){11,18}[0-9](?![\w-]|[.,][0-9])")
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]){11,30}(?![A-Za-z0-9])")
_SSN = re.compile(r"(?<![\w-])(?!000|666|9)[0-9]{3}([- ])(?!00)[0-9]{2}\1(?!0000)[0-9]{4}(?![\w-])")
_UUID = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z])")
_IPV4 = re.compile(r"(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w.]*[0-9])")
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9a-fA-F]{0,4}:){2,7}(?:[0-9a-fA-F]{1,4}|(?:[0-9]{1,3}\.){3}[0-9]{1,3})?(?![\w:])")
_PHONE = re.compile(
    r"(?<![\w.,#-])(?:\+|00)?\(?[0-9]{1,4}\)?(?:[ ./-]{0,2}+\(?+[0-9]{1,5}+\)?+){2,7}+(?![\w-]|[.,][0-9])"
)
_DAY = re.compile(r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}.*|[0-9]{1,2}([-/.])[0-9]{1,2}\1(?:19|20)[0-9]{2}")
_DAYS = re.compile(r"(?:(?:19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}[ -]?){2}")
_ANY_DIGITS = re.compile("[0-9]{2}")
_LOCAL_REGIONS = ("US", "GB", "DE", "FR")


class Personal:
    """E-mail addresses, cards, IBANs, social security numbers, UUIDs, IP addresses and phone numbers."""

    def hits(self, text: str, context: Context) -> Iterator[Hit]:
        """Every valid match. Cards by their check digit, IBANs by mod 97, phones by their country's numbering plan."""
        if "@" in text:
            yield from _all("email", EMAIL, text, lambda found: "certain")
        if ":" in text:
            yield from _all("ip", _IPV6, text, _ip)
        if not _ANY_DIGITS.search(text):
            return
        yield from _all("uuid", _UUID, text, lambda found: "certain")
        yield from _all("card", _CARD, text, _card)
        yield from _all("iban", _IBAN, text, _iban)
        yield from _all("ssn", _SSN, text, lambda found: "certain")
        if "." in text:
            yield from _all("ip", _IPV4, text, _ip)
        if context.leaf != "number":
            yield from _all("phone", _PHONE, text, _phone)


def _all(
    kind: Kind, pattern: re.Pattern[str], text: str, certainty_of: Callable[[str], Certainty | None]
) -> Iterator[Hit]:
    for match in pattern.finditer(text):
        found = match[0]
        certainty = certainty_of(found)
        if certainty is not None:
            yield Hit(kind=kind, detector=f"personal:{kind}", start=match.start(), end=match.end(), certainty=certainty)


def _card(found: str) -> Certainty | None:
    digits = "".join(character for character in found if character.isdigit())
    if len(set(digits)) < 2 or _DAYS.fullmatch(found) or luhn_digit(digits[:-1]) != digits[-1]:
        return None
    return "certain"


def _iban(found: str) -> Certainty | None:
    bare = "".join(character for character in found if character.isalnum()).upper()
    return "certain" if mod_97(bare[4:] + bare[:4]) == 1 else None


def _ip(found: str) -> Certainty | None:
    try:
        address = ipaddress.ip_address(found)
    except ValueError:
        return None
    if address.is_loopback or address.is_unspecified or address.is_multicast:
        return None
    return "certain" if address.version == 4 or found.count(":") >= 3 or len(found) >= 8 else None


@lru_cache(maxsize=4096)
def _phone(found: str) -> Certainty | None:
    digits = sum(character.isdigit() for character in found)
    if not 7 <= digits <= 17 or _DAY.fullmatch(found):
        return None
    if found.startswith(("+", "00")):
        return _is_valid("+" + found.lstrip("+0") if found.startswith("00") else found, None)
    if re.fullmatch(r"[0-9]+", found):
        return "suggested" if digits in (10, 11) and _is_valid(found, "US") else None
    return next((valid for region in _LOCAL_REGIONS if (valid := _is_valid(found, region))), None)


def _is_valid(found: str, region: str | None) -> Certainty | None:
    try:
        number = phonenumbers.parse(found, region)
    except phonenumbers.NumberParseException:
        return None
    return "certain" if phonenumbers.is_possible_number(number) and phonenumbers.is_valid_number(number) else None
