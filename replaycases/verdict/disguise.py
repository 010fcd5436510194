"""A message as a reader takes it: look-alike letters, other widths, invisible characters, marks of emphasis and runs of
white space replaced by what they stand for, tags left out. Only ever used to doubt that a prohibited claim was avoided
or that a required statement was made; nothing is acquitted by it."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = frozenset({"Cf", "Mn", "Me"})
"""Format characters, and marks that did not combine with the letter before them into one of its own."""
_LOOKS_LIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТХУасеіјорѕухһԁԛԝ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρυ" + "ıɡɑ",
    "ABESIJKMHOPCTXYaceijopsyxhdqw" + "ABEZHIKMNOPTYXovpu" + "iga",
)
"""Cyrillic, Greek and some further letters that most typefaces draw as Latin ones."""


_TAG = re.compile(r"<[^<>]*>")
"""A tag or a comment of HTML."""
_EMPHASIS = re.compile(r"[*_`~]")
"""The characters with which Markdown sets words off."""


def undisguised(message: str) -> str:
    """`message` in NFKC, without invisible characters and emphasis, with look-alikes as the Latin letters they look
    like and one space for each run of white space."""
    plain = message if message.isascii() else _in_latin(message)
    return " ".join(_EMPHASIS.sub("", without_tags(plain)).split())


def without_tags(message: str) -> str:
    """`message` without HTML tags and comments, in which words can stand that nobody is shown."""
    return _TAG.sub("", message)


def _in_latin(message: str) -> str:
    kept = (c for c in unicodedata.normalize("NFKC", message) if unicodedata.category(c) not in _INVISIBLE)
    return "".join(kept).translate(_LOOKS_LIKE)
