"""Which characters of a line are marked on each side: what was replaced, and what was found and still stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from replaycases.redaction.manual import PlaceUnknown, mac, span_in, view_at
from replaycases.redaction.places import Place
from replaycases.redaction.record import Open
from replaycases.redaction.views.tree import read
from replaycases.web.redactions.spans import OpenAt, Span

Marks = list[tuple[int, int, str]]
"""(start, end, by which mark); "" is that of the side."""
_Pair = tuple[tuple[int, int], tuple[int, int]]
"""A replaced span: where it stood, and where what replaced it stands."""
STANDS = "f"


def of_equal(text: str, opened: Iterable[OpenAt]) -> Marks:
    """Of a line that is the same on both sides."""
    found = (found_at(text, at.one.place) for at in opened)
    return sorted((*span, "") for span in found if span is not None)


def of_sides(
    raw: str, redacted: str, changed: Iterable[Span], opened: Sequence[OpenAt], key: bytes
) -> tuple[Marks, Marks]:
    """Of a line that changed. A finding is known by its value, in the text of the side on which it was found, and
    stands where that text is on the other side; without `key` what still stands is not marked."""
    seams = [span.seam for span in changed if span.seam is not None]
    pairs = sorted(((one.start, one.end), (one.new_start, one.new_end)) for one in seams)
    old: Marks = [(*before, "") for before, _ in pairs]
    new: Marks = [(*after, "") for _, after in pairs]
    for at in opened if key else ():
        here = found_at(raw, at.one.place, is_it=_is_value(at.one, key))
        there = found_at(redacted, at.one.place, is_it=_is_value(at.one, key))
        here, there = here or _across([(b, a) for a, b in pairs], there), there or _across(pairs, here)
        old += [(*here, STANDS)] if here else []
        new += [(*there, STANDS)] if there else []
    return sorted(old), sorted(new)


def found_at(text: str, place: Place, *, is_it: Callable[[str], bool] | None = None) -> tuple[int, int] | None:
    """Where in the text as it is recorded a finding stands, in whatever reading it was found; None where that is
    unknown, or where `is_it` says that it is another value."""
    try:
        view = view_at(read(text).root, place.path) if place.path else None
        shown = text if view is None else view.text
        start, end = span_in(shown, place)
    except PlaceUnknown:
        return None
    if is_it is not None and not is_it(shown[start:end]):
        return None
    while view is not None and view.parent is not None and start < end:
        start, end = view.in_parent(start, end)
        view = view.parent
    return start, end


def _is_value(one: Open, key: bytes) -> Callable[[str], bool]:
    return lambda value: mac(key, value) == one.fits


def _across(pairs: Iterable[_Pair], span: tuple[int, int] | None) -> tuple[int, int] | None:
    """The same characters on the other side; None where they were replaced."""
    if span is None:
        return None
    (start, end), moved = span, 0
    for (old_start, old_end), (_, new_end) in pairs:
        if old_start < end and start < old_end:
            return None
        if old_end <= start:
            moved = new_end - old_end
    return start + moved, end + moved
