"""The way through a long document: its parts, each with the address of the row where it begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from replaycases.web.document_rows import Place
from replaycases.web.pages import ROWS_A_PAGE

LONG = 30
"""A document of fewer rows is seen at a glance."""
EVENTS_ALONE = 100
EVENTS_TOGETHER = 50


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A part, or several events where there are many. `code` is the tool or name that an event is about."""

    title: str
    code: str
    address: str
    is_event: bool


def of(places: Sequence[Place]) -> list[Entry]:
    """Empty for a short document."""
    if len(places) < LONG:
        return []
    begins: list[int] = []
    for at, place in enumerate(places):
        if not at or places[at - 1].part != place.part:
            begins.append(at)
    events = sum(places[at].part.is_event for at in begins)
    return list(_entries(places, begins, EVENTS_TOGETHER if events > EVENTS_ALONE else 1))


def _entries(places: Sequence[Place], begins: Sequence[int], together: int) -> Iterator[Entry]:
    for is_event, found in groupby(begins, key=lambda at: places[at].part.is_event):
        group = list(found)
        size = together if is_event else 1
        for start in range(0, len(group), size):
            first, last = group[start], group[min(start + size, len(group)) - 1]
            part = places[first].part
            title = part.title if first == last else f"{part.title} to {places[last].part.title.rpartition(' ')[2]}"
            code = part.code if first == last else ""
            yield Entry(title=title, code=code, address=_beginning(places, first), is_event=is_event)


def _beginning(places: Sequence[Place], at: int) -> str:
    """Of the heading, which stands above the first row of its part."""
    part = places[at].part
    return _on_page(at, part.anchor if part.pointer else places[at].anchor)


def address_of(places: Sequence[Place], at: int | None) -> str:
    """Of a row, relative to the document's page; "" for none."""
    return "" if at is None else _on_page(at, places[at].anchor)


def _on_page(at: int, anchor: str) -> str:
    page = at // ROWS_A_PAGE + 1
    return f"{f'?page={page}' if page > 1 else ''}#{anchor}"
