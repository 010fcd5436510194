"""All readings of one string: what a person would find in it who decoded every layer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from replaycases.fixture.patterns import compile_pattern
from replaycases.redaction.folding import encodable
from replaycases.redaction.views import aligned
from replaycases.redaction.views.blocks import blocks
from replaycases.redaction.views.nested_json import Scalar, TooDeep, scalars
from replaycases.redaction.views.view import Encoding, View

DEEPEST = 4
"""Decodings on top of one another that are read."""

SPREAD = 8
"""How many times the characters of the raw text all its views together may hold; what needs more is a bomb."""

ALWAYS = 64 * 1024
"""Characters that the views of any text may hold, however short it is."""

_MAY_HOLD = compile_pattern(r"[\\%&+{\[]|[^\x00-\x7f]|[A-Za-z0-9+/_-]{16}")
"""What a text has at least that holds another reading."""

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
    unread: list[Unread] = field(default_factory=list)


def read(text: str) -> Reading:
    """Every view of `text` to four decodings deep, breadth first.

    The characters of all views together are at most `SPREAD` times those of `text` (and `ALWAYS` at least), so that
    time and memory are linear; a text that would need more, or nests deeper, is given as unread there.
    """
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._reading = Reading(root=View(text=text))
        self._left = max(SPREAD * len(text), ALWAYS)
        self._waiting = deque([self._reading.root])

    def read(self) -> Reading:
        if not _MAY_HOLD.search(encodable(self._reading.root.text)):
            return self._reading
        while self._waiting:
            view = self._waiting.popleft()
            for child in self._children(view):
                if child.depth > DEEPEST:
                    self._unread(view, child.start, child.end, "more than four encodings deep")
                elif len(child.text) > self._left:
                    self._unread(view, child.start, child.end, "decodes to more than is read")
                else:
                    self._left -= len(child.text)
                    view.children.append(child)
                    if _MAY_HOLD.search(encodable(child.text)):
                        self._waiting.append(child)
        return self._reading

    def _unread(self, view: View, start: int, end: int, reason: str) -> None:
        self._reading.unread.append(Unread(view=view, start=start, end=end, reason=reason))

    def _children(self, view: View) -> Iterator[View]:
        inside = self._json(view)
        if inside is not None:
            yield from inside
            return
        for name, decode, encode in _ALIGNED:
            decoded = decode(view.text)
            if decoded is not None and decoded[0] not in view.readings:
                view.readings.add(decoded[0])
                yield View(
                    text=decoded[0],
                    parent=view,
                    name=name,
                    keys=view.keys,
                    end=len(view.text),
                    units=decoded[1],
                    encode=encode,
                    readings=view.readings,
                )
        yield from self._blocks(view)

    def _json(self, view: View) -> Iterator[View] | None:
        try:
            found = scalars(view.text)
        except TooDeep:
            self._unread(view, 0, len(view.text), "nests too deep")
            return None
        return None if found is None else (self._scalar(view, scalar) for scalar in found)

    def _scalar(self, view: View, scalar: Scalar) -> View:
        text, units = aligned.json_string(view.text[scalar.start : scalar.end])
        return View(
            text=text,
            parent=view,
            name=f"json-key:{scalar.pointer}" if scalar.in_key else f"json:{scalar.pointer}",
            keys=view.keys + scalar.keys,
            in_key=scalar.in_key,
            start=scalar.start,
            end=scalar.end,
            units=units,
            encode=aligned.as_json_string if scalar.is_string else aligned.as_it_is,
            is_number=not scalar.is_string,
        )

    def _blocks(self, view: View) -> Iterator[View]:
        for block in blocks(view.text):
            if block.text is None:
                self._unread(view, block.start, block.end, "looks encoded and holds no text")
            else:
                yield View(
                    text=block.text,
                    parent=view,
                    name=block.name,
                    keys=view.keys,
                    start=block.start,
                    end=block.end,
                    encode=block.encode,
                )
