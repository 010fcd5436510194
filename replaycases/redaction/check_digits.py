"""Check digits of cards and bank accounts."""

from __future__ import annotations


def luhn_digit(body: str) -> str:
    """The digit that completes `body` (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, digit in enumerate(reversed(body)):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return str(-total % 10)


def mod_97(bare: str) -> int:
    """The remainder (ISO 7064, mod 97-10) of letters and digits in upper case; 1 where the check digits are right."""
    return int("".join(str(int(character, 36)) for character in bare)) % 97
