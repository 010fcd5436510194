"""Keyed draws: what looks random to whoever has no key, and is the same each time for whoever has it."""

from __future__ import annotations

import hashlib
import hmac

_AT_ONCE = 18
"""Digits that are drawn as one number."""


class Draw:
    """An endless row of choices that is decided by a key and a label, and by nothing else."""

    __slots__ = ("_block", "_key", "_label", "_left", "_pool")

    def __init__(self, key: bytes, *label: str | int) -> None:
        self._key = key
        self._label = "\0".join(str(part) for part in label).encode(errors="surrogatepass")
        self._block = 0
        self._pool = 0
        self._left = 1

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound` - 1."""
        while self._left < bound << 64:
            digest = hmac.digest(self._key, self._block.to_bytes(8, "big") + self._label, hashlib.sha256)
            self._pool = (self._pool << 256) | int.from_bytes(digest, "big")
            self._left <<= 256
            self._block += 1
        self._pool, choice = divmod(self._pool, bound)
        self._left //= bound
        return choice

    def of(self, choices: str) -> str:
        """One of the characters of `choices`."""
        return choices[self.below(len(choices))]

    def digits(self, count: int) -> str:
        """`count` decimal digits."""
        pieces = [min(_AT_ONCE, count - at) for at in range(0, count, _AT_ONCE)]
        return "".join(str(self.below(10**width)).zfill(width) for width in pieces)
