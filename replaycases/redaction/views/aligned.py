"""Decodings whose every character has a place in the text that it was read from, and how each is written back.

A decoding gives the decoded text with its units, or None where it changes nothing.
"""

from __future__ import annotations

import heapq
import html
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote_to_bytes

from replaycases.redaction.views.view import NO_UNITS, Units

Decoded = tuple[str, Units]
_Span = tuple[int, int, str]
"""Start and end in the encoded text, and what stands there once it is decoded."""

_PAIR = r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_JSON_ESCAPE = re.compile(rf'\\(?:{_PAIR}|u[0-9a-fA-F]{{4}}|["\\/bfnrt])')
_LONG = r"U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}"
_ESCAPE = re.compile(rf"\\(?:{_PAIR}|u[0-9a-fA-F]{{4}}|{_LONG}|[\"'\\/bfnrt])")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_RUN = re.compile(r"[^\s\"'<>]+")
_QUERY = re.compile("[?&=]")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0]"
)
_BEYOND_ASCII = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")


def json_string(literal: str) -> Decoded:
    """The text of a JSON string literal (given without its quotes)."""
    if "\\" not in literal:
        return literal, NO_UNITS
    return _decoded(literal, _escaped(literal, _JSON_ESCAPE)) or (literal, NO_UNITS)


def escapes(text: str) -> Decoded | None:
    r"""Backslash escapes as JSON, JavaScript and Python write them: `\n`, `\"`, `\x40`, `\u0040`."""
    return _decoded(text, _escaped(text, _ESCAPE)) if "\\" in text else None


def percent(text: str) -> Decoded | None:
    """Percent-encoded UTF-8; octets that are no UTF-8 stay as they are."""
    return _decoded(text, _percent_characters(text)) if "%" in text else None


def form(text: str) -> Decoded | None:
    """Percent-encoding as forms write it: in what looks like a query string a plus sign is a space."""
    if "+" not in text:
        return None
    spaces = list(_plus_signs(text))
    return _decoded(text, heapq.merge(spaces, _percent_characters(text))) if spaces else None


def entities(text: str) -> Decoded | None:
    """HTML character references that end in a semicolon."""
    if "&" not in text:
        return None
    return _decoded(text, ((*match.span(), html.unescape(match[0])) for match in _ENTITY.finditer(text)))


def normal(text: str) -> Decoded | None:
    """The text in Unicode's compatibility form (NFKC), without the characters that show nothing."""
    if text.isascii() or (unicodedata.is_normalized("NFKC", text) and not _INVISIBLE.search(text)):
        return None
    return _decoded(text, _compatibility_forms(text))


def as_json_string(replacement: str, source: str) -> str:
    """`replacement` as it stands inside a JSON string literal, in ASCII where `source` is."""
    return json.dumps(replacement, ensure_ascii=source.isascii())[1:-1]


def as_percent(replacement: str, source: str) -> str:
    """`replacement` percent-encoded, but for what stands bare in `source`."""
    return quote(replacement, safe="".join(set(source) - {"%"}), errors="surrogatepass")


def as_form(replacement: str, source: str) -> str:
    """`replacement` encoded as in a query string, but for what stands bare in `source`."""
    return quote(replacement, safe="".join(set(source) - {"%", "+", " "}), errors="surrogatepass").replace("%20", "+")


def as_entities(replacement: str, source: str) -> str:
    """`replacement` with the characters escaped that HTML reads as markup."""
    return html.escape(replacement)


def as_it_is(replacement: str, source: str) -> str:
    """`replacement` itself: it is in compatibility form, or a person chose it so."""
    return replacement


def _decoded(text: str, spans: Iterable[_Span]) -> Decoded | None:
    pieces: list[str] = []
    units = Units()
    read = written = 0
    for start, end, decoded in spans:
        if text.startswith(decoded, start) and end - start == len(decoded):
            continue
        written += start - read
        units.add(view=written, view_length=len(decoded), source=start, source_length=end - start)
        pieces += (text[read:start], decoded)
        read = end
        written += len(decoded)
    if not len(units):
        return None
    pieces.append(text[read:])
    return "".join(pieces), units


def _escaped(text: str, pattern: re.Pattern[str]) -> Iterator[_Span]:
    for match in pattern.finditer(text):
        yield *match.span(), _unescaped(match[0])


def _unescaped(escape: str) -> str:
    if escape[1] not in "uUx":
        return _SHORT.get(escape[1], escape[1])
    if len(escape) == 12:
        return chr(0x10000 + ((int(escape[2:6], 16) - 0xD800) << 10) + int(escape[8:], 16) - 0xDC00)
    return chr(int(escape[2:], 16))


def _plus_signs(text: str) -> Iterator[_Span]:
    for run in _RUN.finditer(text):
        at = text.find("+", *run.span()) if _QUERY.search(run[0]) else -1
        while at >= 0:
            yield at, at + 1, " "
            at = text.find("+", at + 1, run.end())


def _percent_characters(text: str) -> Iterator[_Span]:
    for match in _PERCENT.finditer(text):
        octets = unquote_to_bytes(match[0])
        at = 0
        while at < len(octets):
            length = _utf8_length(octets[at])
            try:
                character = octets[at : at + length].decode()
            except UnicodeDecodeError:
                at += 1
                continue
            yield match.start() + 3 * at, match.start() + 3 * (at + length), character
            at += length


def _utf8_length(lead: int) -> int:
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def _compatibility_forms(text: str) -> Iterator[_Span]:
    for match in _BEYOND_ASCII.finditer(text):
        at = match.start()
        while at < match.end():
            end = at + 1
            while end < match.end() and _belongs(text[at], text[end]):
                end += 1
            yield at, end, unicodedata.normalize("NFKC", _INVISIBLE.sub("", text[at:end]))
            at = end


def _belongs(base: str, following: str) -> bool:
    """Whether composing may join `following` to what began with `base`: a combining mark, a syllable's next letter."""
    return unicodedata.combining(following) > 0 or ("\u1100" <= base <= "\u11ff" and "\u1160" <= following <= "\u11ff")
