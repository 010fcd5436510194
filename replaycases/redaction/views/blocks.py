"""Blocks of text that hold another text whole: base64, base64url and hexadecimal.

A block has no character-by-character relation to what it holds, so that an edited text is encoded anew in its place,
with the block's own alphabet, padding and line length.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
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
MOST_CONTROLS = 4
"""One control character in so many is the most that a text holds."""

FEWEST_PLAIN = 8
"""One octet in so many is the most of a text in an 8-bit charset that is not plain ASCII."""

_BREAK = re.compile(r"\r?\n")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]")
_PLAIN = bytes([9, 10, 13, *range(32, 127)])
_TO_STANDARD = str.maketrans("-_", "+/")
_TO_URL = str.maketrans("+/", "-_")


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """The text that some octets are, and the charset in which they are it. One that is not `is_clean` holds control
    characters or is in a charset of 8 or 16 bits: it may as well be no text, and is read all the same."""

    text: str = field(repr=False)
    charset: str
    is_clean: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A block at `start` to `end` of a text: what it holds, or None if that is no text, and how to encode another."""

    name: str
    start: int
    end: int
    held: Held | None = field(repr=False)
    encode: Encoding


def blocks(text: str) -> Iterator[Block]:
    """The blocks of `text` that hold text, and those that hold none and are too long to be an id or a digest."""
    for match in _HEX.finditer(text):
        held = held_in(bytes.fromhex(match[0]))
        if held is not None or _is_unreadable(match[0], ("[A-Fa-f]", "[0-9]")):
            yield _block("hex", match.start(), match.end(), held, _as_hex)
    for match in _BASE64.finditer(text):
        yield from _base64_blocks(match[0], match.start())


def octets_in(text: str) -> Iterator[tuple[int, int, bytes]]:
    """Start, end and octets of every block of `text`, whether they are text or not."""
    for match in _HEX.finditer(text):
        yield match.start(), match.end(), bytes.fromhex(match[0])
    for match in _BASE64.finditer(text):
        for start, end in _parts(match[0]):
            octets = _octets_of_base64(match[0][start:end])
            if octets is not None:
                yield match.start() + start, match.start() + end, octets


def _base64_blocks(run: str, at: int) -> Iterator[Block]:
    """What `run`, which stands at `at`, holds: whole, or in a part between slashes, which base64 and paths both use. A
    part holds text only if that is clean: of many parts one may look like text by chance."""
    found = False
    for start, end in _parts(run):
        octets = _octets_of_base64(run[start:end])
        held = None if octets is None else held_in(octets)
        if held is not None and (held.is_clean or end - start == len(run)):
            found = True
            yield _block("base64", at + start, at + end, held, _as_base64)
            if end - start == len(run):
                return
    if not found and not _HEX.fullmatch(run) and _is_unreadable(run, ("[A-Z]", "[a-z]", "[0-9]")):
        yield _block("base64", at, at + len(run), None, _as_base64)


def _parts(run: str) -> Iterator[tuple[int, int]]:
    yield 0, len(run)
    starts = [match.end() for match in re.finditer("/", run)][:MOST_PARTS]
    for start in starts:
        for end in {len(run), run.find("/", start)}:
            if end - start >= SHORTEST:
                yield start, end


def _block(name: str, start: int, end: int, held: Held | None, encode: Callable[[str, str, str], str]) -> Block:
    charset = held.charset if held is not None else "utf-8"
    return Block(
        name=f"{name}@{start}",
        start=start,
        end=end,
        held=held,
        encode=lambda replacement, source: encode(replacement, source, charset),
    )


def _is_unreadable(block: str, kinds: tuple[str, ...]) -> bool:
    """Whether `block`, which holds no text, is long and of all these kinds of characters: no word and no ruler."""
    return len(block) >= UNREADABLE and all(re.search(kind, block) for kind in kinds)


def _octets_of_base64(block: str) -> bytes | None:
    bare = _BREAK.sub("", block).rstrip("=")
    if ("-" in bare or "_" in bare) and ("+" in bare or "/" in bare):
        return None
    try:
        return base64.b64decode(bare.translate(_TO_STANDARD) + "=" * (-len(bare) % 4), validate=True)
    except binascii.Error:
        return None


def held_in(octets: bytes) -> Held | None:
    """The text that the octets are: UTF-8 with few control characters, UTF-16 of mostly ASCII, or an 8-bit charset of
    which hardly anything lies beyond ASCII. None for what is mostly something else."""
    if len(octets.translate(None, _PLAIN)) == 0:
        return Held(text=octets.decode("ascii"), charset="utf-8", is_clean=True)
    for charset in _charsets(octets):
        try:
            text = octets.decode(charset)
        except UnicodeDecodeError:
            continue
        controls = len(_CONTROL.findall(text))
        if controls * MOST_CONTROLS <= len(text):
            return Held(text=text, charset=charset, is_clean=charset == "utf-8" and not controls)
    return None


def _charsets(octets: bytes) -> Iterator[str]:
    if octets.count(0) * 3 >= len(octets):
        yield "utf-16-le" if octets[1::2].count(0) > octets[::2].count(0) else "utf-16-be"
        return
    yield "utf-8"
    if len(octets.translate(None, _PLAIN)) * FEWEST_PLAIN <= len(octets):
        yield "latin-1"


def _octets(text: str, charset: str) -> bytes:
    """A surrogate may hold what an 8-bit charset lacks: then it is UTF-8."""
    try:
        return text.encode(charset, errors="surrogatepass")
    except UnicodeEncodeError:
        return text.encode(errors="surrogatepass")


def _as_hex(replacement: str, source: str, charset: str) -> str:
    digits = _octets(replacement, charset).hex()
    return digits if source == source.lower() else digits.upper()


def _as_base64(replacement: str, source: str, charset: str) -> str:
    encoded = base64.b64encode(_octets(replacement, charset)).decode()
    if not source.endswith("=") and len(_BREAK.sub("", source)) % 4:
        encoded = encoded.rstrip("=")
    if "-" in source or "_" in source:
        encoded = encoded.translate(_TO_URL)
    line_break = _BREAK.search(source)
    if line_break is None:
        return encoded
    width = line_break.start()
    return line_break[0].join(encoded[at : at + width] for at in range(0, len(encoded), width))
