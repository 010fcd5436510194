"""JSON inside a string: its strings, keys and numbers, each with the place of its characters in the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from replaycases.fixture.pointer import escape
from replaycases.redaction.leaves import NAMES, VALUES

DEEPEST = 100
"""Levels of nesting that are read; a text that nests deeper is no data that anybody wrote."""

_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|[{}\[\],:]|true|false|null', re.DOTALL)
_READER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
"""Takes a number of any length and line breaks in strings: a lenient reader must not find what this one passes over."""

_VALUE = re.compile('"[Vv]alues?"')
_OPENED = re.compile(r"\s*[{\[]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scalar:
    """A string or a number in nested JSON.

    `start` and `end` are the characters of the text that hold it, a string's without its quotes. `pointer` leads to
    the value, or to the member whose key this is; `keys` are the member names above it, and `named` is what the value
    is called beside them, as that of a `Leaf`.
    """

    start: int
    end: int
    pointer: str
    keys: tuple[str, ...]
    in_key: bool
    is_string: bool
    named: str = ""


MOST = 300_000
"""Strings and numbers of one text that are read."""


class TooMuch(Exception):
    """The text nests deeper, or holds more, than is read. Its text says which."""


def scalars(text: str) -> list[Scalar] | None:
    """The strings, keys and numbers of the JSON object or array that `text` is; None where it is none.

    Raises TooMuch. Members of the same name are all given: a reader that keeps the last one must not hide the first.
    """
    if not _OPENED.match(text):
        return None
    try:
        _READER.decode(text)
    except ValueError:
        return None
    except RecursionError:
        raise TooMuch("nests too deep") from None
    found = list(islice(_Walk(text).scalars(), MOST + 1))
    if len(found) > MOST:
        raise TooMuch("holds more than is read")
    _name(found, text)
    return found


def _name(found: list[Scalar], text: str) -> None:
    """Says of the scalars what they are called beside their keys."""
    names: dict[str, str] = {}
    if _VALUE.search(text):
        for one in found:
            if one.is_string and not one.in_key and one.keys and one.keys[-1] in NAMES:
                parent, is_member, _ = one.pointer.rpartition(f"/{one.keys[-1]}")
                if is_member and len(parent) + len(one.keys[-1]) + 1 == len(one.pointer):
                    names.setdefault(parent, json.loads(f'"{text[one.start : one.end]}"', strict=False))
    for at, one in enumerate(found):
        named = ""
        if one.in_key:
            continue
        if names and one.keys and one.keys[-1] in VALUES:
            named = names.get(one.pointer.rpartition(f"/{one.keys[-1]}")[0], "")
        elif at and one.is_string and one.pointer.endswith("/1"):
            named = _first_of_two(found, at, text)
        if named:
            found[at] = replace(one, named=named)


def _first_of_two(found: list[Scalar], at: int, text: str) -> str:
    first, array = found[at - 1], found[at].pointer[:-2]
    is_pair = first.is_string and not first.in_key and first.pointer == f"{array}/0"
    if not is_pair or (at + 1 < len(found) and found[at + 1].pointer == f"{array}/2"):
        return ""
    return str(json.loads(f'"{text[first.start : first.end]}"', strict=False))


class _Walk:
    """One pass over the tokens of a text that is known to be JSON."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pointers: list[str] = [""]
        self._keys: list[tuple[str, ...]] = [()]
        self._indexes: list[int] = [-1]
        self._expects_key = False

    def scalars(self) -> Iterator[Scalar]:
        for match in _PIECE.finditer(self._text):
            piece = match[0]
            if piece in "{[":
                self._open(piece)
            elif piece in "}]":
                self._close()
            elif piece == ",":
                self._next()
            elif piece[0] == '"':
                yield self._string(match)
            elif piece[0] in "-0123456789":
                yield self._scalar(match.start(), match.end(), is_string=False)

    def _open(self, piece: str) -> None:
        if len(self._indexes) > DEEPEST:
            raise TooMuch("nests too deep")
        is_array = piece == "["
        self._indexes.append(0 if is_array else -1)
        self._pointers.append(f"{self._pointers[-1]}/0" if is_array else self._pointers[-1])
        self._keys.append(self._keys[-1])
        self._expects_key = not is_array

    def _close(self) -> None:
        self._indexes.pop()
        self._pointers.pop()
        self._keys.pop()
        self._expects_key = False

    def _next(self) -> None:
        if self._indexes[-1] < 0:
            self._expects_key = True
            return
        self._indexes[-1] += 1
        self._pointers[-1] = f"{self._pointers[-2]}/{self._indexes[-1]}"

    def _string(self, match: re.Match[str]) -> Scalar:
        if not self._expects_key:
            return self._scalar(match.start() + 1, match.end() - 1, is_string=True)
        self._expects_key = False
        key = json.loads(match[0])
        above = self._keys[-2]
        self._pointers[-1] = f"{self._pointers[-2]}/{escape(key)}"
        self._keys[-1] = (*above, key)
        return Scalar(
            start=match.start() + 1,
            end=match.end() - 1,
            pointer=self._pointers[-1],
            keys=above,
            in_key=True,
            is_string=True,
        )

    def _scalar(self, start: int, end: int, *, is_string: bool) -> Scalar:
        return Scalar(
            start=start,
            end=end,
            pointer=self._pointers[-1],
            keys=self._keys[-1],
            in_key=False,
            is_string=is_string,
        )
