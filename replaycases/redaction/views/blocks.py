"""Blocks of text that hold another text whole: base64, base64url and hexadecimal.

A block has no character-by-character relation to what it holds, so that an edited text is encoded anew in its place,
with the block's own alphabet, padding and line length.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from replaycases.redaction.views.view import Encoding

SHORTEST = 16
"""Characters below which a run is no block: a shorter one holds fewer than 12 octets."""

UNREADABLE = 200
"""Characters from which a block that holds no text is too much to pass unread. Digests and ids are shorter."""

MOST_PARTS = 8
"""Slashes of one run behind which a block may begin."""

_HEX = re.compile(r"(?<![0-9A-Za-z])(?:(?:[0-9a-f]{2}){8,}|(?:[0-9A-F]{2}){8,})(?![0-9A-Za-z])")
_LINE = r"[A-Za-z0-9+/]"
_BASE64 = re.compile(
    rf"(?<![A-Za-z0-9+/_-])(?:{_LINE}{{60,76}}\r?\n(?:{_LINE}{{60,76}}\r?\n)*{_LINE}{{1,76}}={{0,2}}"
    r"|[A-Za-z0-9+/_-]{16,}={0,2})(?![A-Za-z0-9+/_=-])"
)
_BREAK = re.compile(r"\r?\n")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]")
_TO_STANDARD = str.maketrans("-_", "+/")
_TO_URL = str.maketrans("+/", "-_")


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A block at `start` to `end` of a text: what it holds, or None if that is no text, and how to encode another."""

    name: str
    start: int
    end: int
    text: str | None = field(repr=False)
    encode: Encoding


def blocks(text: str) -> Iterator[Block]:
    """The blocks of `text` that hold text, and those that hold none and are too long to be an id or a digest."""
    for match in _HEX.finditer(text):
        held = _text_of(bytes.fromhex(match[0]))
        if held is not None or _is_unreadable(match[0], ("[A-Fa-f]", "[0-9]")):
            yield Block(name=f"hex@{match.start()}", start=match.start(), end=match.end(), text=held, encode=_as_hex)
    for match in _BASE64.finditer(text):
        yield from _base64_blocks(match[0], match.start())


def _base64_blocks(run: str, at: int) -> Iterator[Block]:
    """What `run`, which stands at `at`, holds: whole, or in a part between slashes, which base64 and paths both use."""
    found = False
    for start, end in _parts(run):
        held = _text_in_base64(run[start:end])
        if held is not None:
            found = True
            yield _base64_block(at + start, at + end, held)
            if start == 0:
                return
    if not found and not _HEX.fullmatch(run) and _is_unreadable(run, ("[A-Z]", "[a-z]", "[0-9]")):
        yield _base64_block(at, at + len(run), None)


def _parts(run: str) -> Iterator[tuple[int, int]]:
    yield 0, len(run)
    starts = [match.end() for match in re.finditer("/", run)][:MOST_PARTS]
    for start in starts:
        for end in {len(run), run.find("/", start)}:
            if end - start >= SHORTEST:
                yield start, end


def _base64_block(start: int, end: int, text: str | None) -> Block:
    return Block(name=f"base64@{start}", start=start, end=end, text=text, encode=_as_base64)


def _is_unreadable(block: str, kinds: tuple[str, ...]) -> bool:
    """Whether `block`, which holds no text, is long and of all these kinds of characters: no word and no ruler."""
    return len(block) >= UNREADABLE and all(re.search(kind, block) for kind in kinds)


def _text_in_base64(block: str) -> str | None:
    bare = _BREAK.sub("", block).rstrip("=")
    if ("-" in bare or "_" in bare) and ("+" in bare or "/" in bare):
        return None
    try:
        octets = base64.b64decode(bare.translate(_TO_STANDARD) + "=" * (-len(bare) % 4), validate=True)
    except binascii.Error:
        return None
    return _text_of(octets)


def _text_of(octets: bytes) -> str | None:
    try:
        text = octets.decode()
    except UnicodeDecodeError:
        return None
    return None if _CONTROL.search(text) else text


def _as_hex(replacement: str, source: str) -> str:
    digits = replacement.encode(errors="surrogatepass").hex()
    return digits if source == source.lower() else digits.upper()


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
