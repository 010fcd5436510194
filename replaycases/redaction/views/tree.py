"""All readings of one string: what a person would find in it who decoded every layer."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from replaycases.fixture.patterns import compile_pattern
from replaycases.redaction.folding import encodable
from replaycases.redaction.views import aligned
from replaycases.redaction.views.blocks import SHORTEST, blocks
from replaycases.redaction.views.nested_json import Scalar, TooMuch, scalars
from replaycases.redaction.views.view import Encoding, View

DEEPEST = 4
"""Decodings on top of one another that are read."""

SPREAD = 8
"""How many times the characters of the raw text all its views together may hold; what needs more is a bomb."""

ALWAYS = 64 * 1024
"""Characters that the views of any text may hold, however short it is."""

_MAY_HOLD = compile_pattern(r"[\\%&+{\[]|[^\x00-\x7f]|[A-Za-z0-9+/_-]{16}")
_SIGN = re.compile(r"[\\%&+{\[]")

_ALIGNED: tuple[tuple[str, Callable[[str], aligned.Decoded | None], Encoding], ...] = (
    ("escapes", aligned.escapes, aligned.as_json_string),
    ("percent", aligned.percent, aligned.as_percent),
    ("form", aligned.form, aligned.as_form),
    ("entities", aligned.entities, aligned.as_entities),
    ("normal", aligned.normal, aligned.as_it_is),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """A span of a view that could not be read to its end. `reason` is a few words and quotes nothing."""

    view: View
    start: int
    end: int
    reason: str


@dataclass(kw_only=True, slots=True)
class Reading:
    """The views of one string, and what of it stayed unread."""

    root: View
    unread: Sequence[Unread] = ()


def read(text: str) -> Reading:
    """Every view of `text` to four decodings deep, breadth first.

    The characters of all views together are at most `SPREAD` times those of `text` (and `ALWAYS` at least), so that
    time and memory are linear; a text that would need more, or nests deeper, is given as unread there.
    """
    return _Reader(text).read() if _may_hold(text) else Reading(root=View(text=text))


def _may_hold(text: str) -> bool:
    """Whether the text has what one that holds another reading has at least."""
    if len(text) < SHORTEST:
        return not text.isascii() or _SIGN.search(text) is not None
    return _MAY_HOLD.search(encodable(text)) is not None


class _Reader:
    def __init__(self, text: str) -> None:
        self._root = View(text=text)
        self._unread: list[Unread] = []
        self._left = max(SPREAD * len(text), ALWAYS)
        self._waiting = deque([self._root])

    def read(self) -> Reading:
        while self._waiting:
            view = self._waiting.popleft()
            deepest = view.depth == DEEPEST
            children: list[View] = []
            for child in self._children(view):
                if deepest:
                    self._not_read(view, child.start, child.end, "more than four encodings deep")
                elif len(child.text) > self._left:
                    self._not_read(view, child.start, child.end, "decodes to more than is read")
                else:
                    self._left -= len(child.text)
                    children.append(child)
                    if _may_hold(child.text):
                        self._waiting.append(child)
            view.children = children
        return Reading(root=self._root, unread=self._unread)

    def _not_read(self, view: View, start: int, end: int, reason: str) -> None:
        self._unread.append(Unread(view=view, start=start, end=end, reason=reason))

    def _children(self, view: View) -> Iterator[View]:
        inside = self._json(view)
        if inside is not None:
            yield from inside
            return
        if view.readings is None:
            view.readings = {view.text}
        for name, decode, encode in _ALIGNED:
            decoded = decode(view.text)
            if decoded is not None and decoded[0] not in view.readings:
                view.readings.add(decoded[0])
                yield View(
                    text=decoded[0],
                    parent=view,
                    name=name,
                    keys=view.keys,
                    named=view.named,
                    end=len(view.text),
                    units=decoded[1],
                    encode=encode,
                    readings=view.readings,
                )
        yield from self._blocks(view)

    def _json(self, view: View) -> Iterator[View] | None:
        try:
            found = scalars(view.text)
        except TooMuch as reason:
            self._not_read(view, 0, len(view.text), str(reason))
            return None
        return None if found is None else (self._scalar(view, scalar) for scalar in found)

    def _scalar(self, view: View, scalar: Scalar) -> View:
        text, units = aligned.json_string(view.text[scalar.start : scalar.end])
        return View(
            text=text,
            parent=view,
            name=f"json-key:{scalar.pointer}" if scalar.in_key else f"json:{scalar.pointer}",
            keys=view.keys + scalar.keys,
            named=scalar.named or ("" if scalar.keys else view.named),
            in_key=scalar.in_key,
            start=scalar.start,
            end=scalar.end,
            units=units,
            encode=aligned.as_json_string if scalar.is_string else aligned.as_it_is,
            is_number=not scalar.is_string,
        )

    def _blocks(self, view: View) -> Iterator[View]:
        for block in blocks(view.text):
            if block.held is None:
                self._not_read(view, block.start, block.end, "looks encoded and holds no text")
            else:
                yield View(
                    text=block.held.text,
                    parent=view,
                    name=block.name,
                    keys=view.keys,
                    named=view.named,
                    start=block.start,
                    end=block.end,
                    encode=block.encode,
                    is_clean=block.held.is_clean,
                )
