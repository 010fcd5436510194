"""The strings, keys and numbers of a JSON document, with their places, and the document with some of them changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from replaycases.fixture.pointer import escape, join

JSON = Any
Address = tuple[str, bool]
"""A JSON Pointer, and whether the name of the member there is meant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Leaf:
    """A string, a number (as its JSON text) or the key of a member.

    `pointer` leads to the value, or to the member whose key it is; `keys` are the member names above it, outermost
    first (of a value its own name too). `named` is what the value is called beside its key: by a sibling of a member
    `value`, `{"name": "Cookie", "value": …}`, or by the first of two strings, `["Cookie", …]`.
    """

    pointer: str
    kind: Literal["string", "number", "key"]
    keys: tuple[str, ...] = field(repr=False)
    text: str = field(repr=False)
    named: str = field(default="", repr=False)

    @property
    def address(self) -> Address:
        """What tells a leaf from every other of its document."""
        return self.pointer, self.kind == "key"


def leaves(document: JSON, pointer: str = "", keys: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Every leaf of `document`, in its order, keys before their values. `pointer` and `keys` lead to the document where
    it is a part of another."""
    waiting: list[tuple[str, tuple[str, ...], str | None, JSON, str]] = [(pointer, keys, None, document, "")]
    while waiting:
        place, above, name, value, named = waiting.pop()
        if name is not None:
            yield Leaf(pointer=place, kind="key", keys=above, text=name)
            above = (*above, name)
        if isinstance(value, str):
            yield Leaf(pointer=place, kind="string", keys=above, text=value, named=named)
        elif isinstance(value, dict):
            beside = _beside(value)
            waiting += [
                (f"{place}/{escape(key)}", above, key, member, beside if key in VALUES else "")
                for key, member in reversed(value.items())
            ]
        elif isinstance(value, list):
            first = value[0] if len(value) == 2 and all(isinstance(one, str) for one in value) else ""
            waiting += [
                (f"{place}/{at}", above, None, value[at], named or (first if at == 1 else ""))
                for at in range(len(value) - 1, -1, -1)
            ]
        elif (number := text_of(value)) is not None:
            yield Leaf(pointer=place, kind="number", keys=above, text=number, named=named)


VALUES = frozenset({"value", "values", "Value", "Values"})
NAMES = ("name", "key", "header", "field", "Name", "Key", "Header", "Field")
"""Members whose text says what the member `value` beside them is."""


def _beside(members: dict[str, JSON]) -> str:
    if VALUES.isdisjoint(members):
        return ""
    return next((members[name] for name in NAMES if isinstance(members.get(name), str)), "")


def text_of(value: JSON) -> str | None:
    """The text of a string, a number's as JSON writes it; None for what is no leaf."""
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


class KeysCollide(ValueError):
    """Two members of one object would get the same name. Its text is the JSON Pointer of the object."""


def changed(document: JSON, texts: Mapping[Address, str], pointer: str = "") -> JSON:
    """A copy of `document` in which the leaf at each address has the text given for it; what is not named is shared.

    Addresses are those of the document as it stands. A number's text must be that of a JSON number. Raises KeysCollide.
    """
    if isinstance(document, dict):
        members: dict[str, JSON] = {}
        for key, value in document.items():
            place = join(pointer, key)
            members[texts.get((place, True), key)] = changed(value, texts, place)
        if len(members) < len(document):
            raise KeysCollide(pointer)
        return members
    if isinstance(document, list):
        return [changed(value, texts, join(pointer, index)) for index, value in enumerate(document)]
    text = texts.get((pointer, False))
    if text is None:
        return document
    return text if isinstance(document, str) else json.loads(text)
