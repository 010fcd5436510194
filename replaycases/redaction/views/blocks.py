"""Blocks of text that hold another text whole: base64, base64url and hexadecimal.

A block has no character-by-character relation to what it holds, so that an edited text is encoded anew in its place,
with the block's own alphabet, padding and line length.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass

from replaycases.redaction.views.view import Encoding

SHORTEST = 16
"""Characters below which a run is no block: a shorter one holds fewer than 12 octets."""

UNREADABLE = 200
"""Characters from which a block that holds no text is too much to pass unread. Digests and ids are shorter."""

_HEX = re.compile(
    r"(?<![0-9A-Za-z])(?:[0-9a-f]{2}){8,}(?![0-9A-Za-z])|(?<![0-9A-Za-z])(?:[0-9A-F]{2}){8,}(?![0-9A-Za-z])"
)
_LINE = r"[A-Za-z0-9+/]"
_BASE64 = re.compile(
    rf"(?<![A-Za-z0-9+/_-])(?:{_LINE}{{60,76}}\r?\n(?:{_LINE}{{60,76}}\r?\n)*{_LINE}{{1,76}}={{0,2}}"
    r"|[A-Za-z0-9+/_-]{16,}={0,2})(?![A-Za-z0-9+/_=-])"
)
_BREAK = re.compile(r"\r?\n")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A block at `start` to `end` of a text: what it holds and how to encode it, or None if it holds no text."""

    name: str
    start: int
    end: int
    text: str | None
    encode: Encoding


def blocks(text: str) -> Iterator[Block]:
    """The blocks of `text` that hold text, and those that hold none and are too long to be an id or a digest."""
    for match in _HEX.finditer(text):
        held = _text_of(bytes.fromhex(match[0]))
        if held is not None or len(match[0]) >= UNREADABLE:
            yield Block(name=f"hex@{match.start()}", start=match.start(), end=match.end(), text=held, encode=_as_hex)
    for match in _BASE64.finditer(text):
        held = _text_in_base64(match[0])
        if held is not None or (len(match[0]) >= UNREADABLE and not _HEX.fullmatch(match[0]) and _is_mixed(match[0])):
            yield Block(
                name=f"base64@{match.start()}", start=match.start(), end=match.end(), text=held, encode=_as_base64
            )


def _is_mixed(block: str) -> bool:
    """Whether upper case, lower case and digits all stand in it: a long word or a ruler of dashes is no base64."""
    return all(re.search(group, block) for group in ("[A-Z]", "[a-z]", "[0-9]"))


def _text_in_base64(block: str) -> str | None:
    bare = _BREAK.sub("", block).rstrip("=")
    if ("-" in bare or "_" in bare) and ("+" in bare or "/" in bare):
        return None
    try:
        octets = base64.b64decode(bare.translate(_TO_STANDARD) + "=" * (-len(bare) % 4), validate=True)
    except binascii.Error:
        return None
    return _text_of(octets)


_TO_STANDARD = str.maketrans("-_", "+/")
_TO_URL = str.maketrans("+/", "-_")


def _text_of(octets: bytes) -> str | None:
    try:
        text = octets.decode()
    except UnicodeDecodeError:
        return None
    return None if _CONTROL.search(text) else text


def _as_hex(replacement: str, source: str) -> str:
    digits = replacement.encode(errors="surrogatepass").hex()
    return digits.upper() if source.upper() == source and source.lower() != source else digits


def _as_base64(replacement: str, source: str) -> str:
    encoded = base64.b64encode(replacement.encode(errors="surrogatepass")).decode()
    if not source.endswith("=") and len(_BREAK.sub("", source)) % 4:
        encoded = encoded.rstrip("=")
    if "-" in source or "_" in source:
        encoded = encoded.translate(_TO_URL)
    line_break = _BREAK.search(source)
    if line_break is None:
        return encoded
    width = line_break.start()
    return line_break[0].join(encoded[at : at + width] for at in range(0, len(encoded), width))
