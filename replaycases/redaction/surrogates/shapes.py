"""Surrogates of values with a fixed shape: valid where the original is, and in ranges that belong to nobody."""

from __future__ import annotations

import ipaddress
import re
import string

from replaycases.redaction.check_digits import luhn_digit, mod_97
from replaycases.redaction.places import Kind
from replaycases.redaction.surrogates import dates
from replaycases.redaction.surrogates.draws import Draw
from replaycases.redaction.surrogates.ids import alike

_TEST_RANGES = {"4": "400000", "5": "555555", "2": "222300", "3": "370000", "6": "601100"}
_NOBODYS_CARDS = "999999"
LONGEST = 320
"""Characters of the longest value with a shape, an e-mail address."""

_FEWEST = {"card": 4, "ssn": 4, "phone": 4}
"""Digits from which a text can be made over as one of these."""

_UUID = re.compile("[0-9A-Fa-f]{32}")
_IBAN = re.compile("[A-Za-z]{2}[0-9A-Za-z]{6,}")
_MAILBOX = re.compile(r"(?=[^@]*[^\W_])[^@]+@(?=[^@]*[^\W_])[^@]+")
_HOST = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_][\w-]{1,23}")
_NANP = re.compile(r"(?:1)?([2-9][0-9]{2})[2-9][0-9]{6}")
_PRIVATE = tuple(
    ipaddress.ip_network(network)
    for network in (
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "100.64.0.0/10",
        "169.254.0.0/16",
        "fc00::/7",
        "fe80::/10",
    )
)


def has_shape(kind: Kind, text: str) -> bool:
    """Whether `text` is what values of this kind look like, so that a surrogate can be made after it. A field says what
    kind a value is, and a person too, whatever it looks like."""
    if len(text) > LONGEST:
        return False
    bare = "".join(character for character in text if character.isalnum())
    match kind:
        case "uuid":
            return _UUID.fullmatch(bare) is not None
        case "ip":
            return _is_address(text)
        case "card" | "ssn" | "phone":
            return len(_digits_of(text)) >= _FEWEST[kind]
        case "iban":
            return _IBAN.fullmatch(bare) is not None
        case "email":
            return _MAILBOX.fullmatch(text) is not None
        case "date":
            return dates.parsed(text) is not None
        case _:
            return False


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_host(text: str) -> bool:
    """Whether the text is the name of a host, as it stands in an e-mail address."""
    return _HOST.fullmatch(text) is not None


def card(text: str, draw: Draw) -> str:
    """A card number in a range for tests, of the same length and grouping, with a right check digit (Luhn)."""
    digits = _digits_of(text)
    start = _TEST_RANGES.get(digits[:1], _NOBODYS_CARDS)[: len(digits) - 2]
    body = start + draw.digits(len(digits) - 1 - len(start))
    return with_digits(text, body + luhn_digit(body))


def iban(text: str, draw: Draw) -> str:
    """An IBAN of the same country, length and grouping, with right check digits (ISO 13616, mod 97)."""
    bare = [character for character in text if character.isalnum()]
    country, body = "".join(bare[:2]).upper(), "".join(alike(character.upper(), draw) for character in bare[4:])
    letters = iter(f"{country}{98 - mod_97(body + country + '00'):02}{body}")
    return "".join(_cased(next(letters), character) if character.isalnum() else character for character in text)


def ssn(text: str, draw: Draw) -> str:
    """A United States social security number with area 000, which is never issued."""
    return with_digits(text, "000" + draw.digits(len(_digits_of(text)) - 3))


def phone(text: str, draw: Draw) -> str:
    """A number with the same country code and punctuation, in a range kept for fiction where the country has one."""
    digits = _digits_of(text)
    if _NANP.fullmatch(digits):
        return with_digits(text, digits[:-10] + str(2 + draw.below(8)) + draw.digits(2) + "55501" + draw.digits(2))
    if digits.startswith("44") and len(digits) == 12:
        return with_digits(text, "447700900" + draw.digits(3))
    kept = _country_code(text, digits)
    middle = "555"[: max(len(digits) - len(kept) - 4, 0)]
    return with_digits(text, kept + middle + draw.digits(len(digits) - len(kept) - len(middle)))


def _country_code(text: str, digits: str) -> str:
    """Up to three digits that a leading plus sign (or 00) makes a country code, as far as punctuation ends them."""
    code = re.match(r"\s*\(?(?:\+|00)([0-9]{1,3})(?![0-9])", text)
    if code:
        return ("00" if not text.lstrip(" (").startswith("+") else "") + code[1]
    return digits[:2] if text.lstrip(" (").startswith("+") else digits[:1] if digits.startswith("0") else ""


def uuid(text: str, draw: Draw) -> str:
    """A UUID of the same version, variant, case and punctuation."""
    hexadecimal = [character for character in text if character in string.hexdigits]
    drawn = [draw.of("0123456789abcdef") for _ in hexadecimal]
    drawn[12], drawn[16] = hexadecimal[12], hexadecimal[16]
    characters = iter(drawn)
    made = "".join(next(characters) if character in string.hexdigits else character for character in text)
    return made.upper() if text != text.lower() else made.lower()


def ip(text: str, key: bytes) -> str:
    """An address that shares as many leading bits with other surrogates as the originals share.

    Addresses of private networks stay in theirs. The bit at each place is flipped or not by a keyed choice over the
    bits before it (the construction of Xu, Fan, Ammar and Moon, 2002).
    """
    address = ipaddress.ip_address(text)
    kept = next(
        (network.prefixlen for network in _PRIVATE if network.version == address.version and address in network), 0
    )
    bits = format(int(address), f"0{address.max_prefixlen}b")
    flipped = [
        bit if place < kept else str(int(bit) ^ Draw(key, "ip", address.version, bits[:place]).below(2))
        for place, bit in enumerate(bits)
    ]
    return str(type(address)(int("".join(flipped), 2)))


def _cased(character: str, like: str) -> str:
    return character.lower() if like.islower() else character


def _digits_of(text: str) -> str:
    return "".join(character for character in text if character in string.digits)


def with_digits(text: str, digits: str) -> str:
    """`text` with its decimal digits replaced, one by one, by `digits` (as many)."""
    rest = iter(digits)
    return "".join(next(rest) if character in string.digits else character for character in text)
