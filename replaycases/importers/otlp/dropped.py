"""What a recorder dropped because it was past its limits, and what that costs the run.

An SDK keeps 128 attributes of a span by default and counts those that it drops, be it the oldest or the newest. Which
they were is not in the file.
"""

from __future__ import annotations

from replaycases.importers.neutral import Boundary
from replaycases.importers.otlp.dialect import is_known
from replaycases.importers.otlp.selection import Place, Selection
from replaycases.importers.otlp.site import Notes, Site
from replaycases.importers.otlp.spans import Span

_ATTRIBUTES = "the recorder dropped attributes of this span, past its limit"
_EVENTS = "the recorder dropped events of this span, past its limit"
_LINKS = "the recorder dropped links of this span, past its limit"
_OF_AN_EVENT = "the recorder dropped attributes of an event or a log record of this span, past its limit"
_UNKNOWN = "what this span was is not known for sure: it may have been a call"
_COSTS: dict[Boundary, str] = {
    "model": "a part of what was sent or answered, of the tools or the settings may be missing",
    "tool": "a part of what the tool was asked or answered may be missing",
    "retrieval": "a part of what was looked up or found may be missing",
}


def note_dropped(selection: Selection, notes: Notes) -> None:
    for place in selection.places:
        _of_boundary(place, notes)
    for span in selection.others:
        _of_other(span, notes)


def _of_boundary(place: Place, notes: Notes) -> None:
    """What was dropped of a step costs it; of a span that is not taken, nothing."""
    span, cost = place.site.span, _COSTS[place.kind] if place.taken else ""
    found = {
        _ATTRIBUTES: span.dropped.attributes,
        _EVENTS: span.dropped.events,
        _OF_AN_EVENT: any(item.partial for item in place.site.happenings),
    }
    for text in (text for text, lost in found.items() if lost):
        notes.each("content_lost", span.source, text, cost=cost, boundary=place.kind)
    _links(span, notes)


def _of_other(span: Span, notes: Notes) -> None:
    if span.dropped.attributes:
        cost = "" if is_known(Site(span=span)) else _UNKNOWN
        notes.add("content_lost", span.source, _ATTRIBUTES, cost=cost)
    if span.dropped.events:
        notes.add("content_lost", span.source, _EVENTS)
    _links(span, notes)


def _links(span: Span, notes: Notes) -> None:
    """No link is read: what was dropped of them is said and costs nothing."""
    if span.dropped.links:
        notes.add("content_lost", span.source, _LINKS)
