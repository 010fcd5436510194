"""Which spans of a trace are boundaries, each once: instrumentations nest, repeat each other and export twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from replaycases.importers.otlp.dialect import Dialect, dialect_of
from replaycases.importers.otlp.site import Notes, Site, site_of
from replaycases.importers.otlp.spans import LogRecord, Span
from replaycases.importers.otlp.telling import Telling, error_of

_TWICE = "this span was exported twice; the fuller one of the two was taken"
_SAME_MODEL = "the same model call was recorded by two instrumentations: this record of it was not taken"
_SAME_TOOL = "the same tool call was recorded by two instrumentations: this record of it was not taken"
_INSIDE = "this happened inside a tool or retrieval that is answered from the recording as a whole"
_EMBEDDING = "an embedding call is no boundary of a run"
_CIRCLE = "parents go round in a circle: it was cut open here"
_NO_PARENT = "the parent of a span is not in the file: it was not sampled, not exported, or is another service's"


@dataclass(eq=False, slots=True, kw_only=True)
class Place:
    """A span that is a boundary. `owner` is the next boundary around it, `around` the next tool or retrieval that is
    taken; `agent`: a tool with model calls inside."""

    site: Site
    dialect: Dialect
    kind: Literal["model", "tool", "retrieval"]
    owner: Place | None = None
    around: Place | None = None
    told: Telling | None = None
    agent: bool = False
    taken: bool = True

    def tell(self, notes: Notes) -> Telling:
        if self.told is None:
            self.told = self.dialect.model(self.site, notes)
        return self.told


@dataclass(kw_only=True)
class Selection:
    """`places` are the boundaries, each after what is around it; `others` are the spans that are none. `parents` is
    the parent of each span that has one, by the span's id; `roots` are those without. `deadlines` are looked up once a
    span."""

    places: list[Place] = field(default_factory=list)
    others: list[Span] = field(default_factory=list)
    roots: list[Span] = field(default_factory=list)
    parents: dict[str, Span] = field(default_factory=dict)
    children: dict[str, list[Span]] = field(default_factory=dict)
    deadlines: dict[int, int | None] = field(default_factory=dict)


def select(spans: Sequence[Span], records: Iterable[LogRecord], notes: Notes) -> Selection:
    at_span: dict[str, list[LogRecord]] = defaultdict(list)
    for record in records:
        at_span[record.span_id].append(record)
        notes.faults(record.source, record.faults)
    found = Selection()
    owners: dict[int, Place | None] = {}
    for span, parent in _from_the_roots(_once(spans, notes), found, notes):
        notes.faults(span.source, span.faults)
        owner = owners[id(parent)] if parent is not None else None
        site = site_of(span, at_span.get(span.span_id, ()) if span.span_id else (), notes)
        dialect, kind = dialect_of(site)
        if kind == "none" or kind == "embedding":
            found.others.append(span)
            owners[id(span)] = owner
            if kind == "embedding":
                notes.add("left_out", span.source, _EMBEDDING)
        else:
            place = owners[id(span)] = Place(site=site, dialect=dialect, kind=kind, owner=owner)
            found.places.append(place)
    _take_once(found, notes)
    return found


def _once(spans: Sequence[Span], notes: Notes) -> list[Span]:
    kept: dict[str | int, Span] = {}
    for at, span in enumerate(spans):
        key = span.span_id or at
        before = kept.get(key)
        if before is not None:
            notes.add("left_out", span.source, _TWICE)
        if before is None or _fullness(span) > _fullness(before):
            kept[key] = span
    return list(kept.values())


def _fullness(span: Span) -> tuple[bool, int, int]:
    return span.end_ns > 0, len(span.attributes), len(span.events)


def _from_the_roots(spans: Sequence[Span], found: Selection, notes: Notes) -> Iterator[tuple[Span, Span | None]]:
    """(span, its parent), parents first. Parents that go round in a circle are cut open at their first span."""
    by_id = {span.span_id: span for span in spans if span.span_id}
    found.roots = [span for span in spans if span.parent_id not in by_id]
    for span in spans:
        if span.parent_id in by_id:
            found.children.setdefault(span.parent_id, []).append(span)
    for span in found.roots:
        if span.parent_id:
            notes.add("unresolved_reference", span.source, _NO_PARENT)
    reached: set[int] = set()
    for span in [*found.roots, *spans]:
        if id(span) in reached:
            continue
        if span.parent_id in by_id:
            notes.add("unresolved_reference", span.source, _CIRCLE)
        yield from _below(span, found, reached)


def _below(root: Span, found: Selection, reached: set[int]) -> Iterator[tuple[Span, Span | None]]:
    reached.add(id(root))
    stack: list[tuple[Span, Span | None]] = [(root, None)]
    while stack:
        span, parent = stack.pop()
        yield span, parent
        if parent is not None:
            found.parents[span.span_id] = parent
        for child in found.children.get(span.span_id, ()):
            if id(child) not in reached:
                reached.add(id(child))
                stack.append((child, span))


def _take_once(found: Selection, notes: Notes) -> None:
    near: dict[int, list[Place]] = {}
    holding: set[int] = set()
    for place in reversed(found.places):
        models = near.pop(id(place), [])
        if place.kind == "model":
            if models:
                _one_record(place, models, notes)
            _pass_up([place] if place.taken else models, place.owner, near)
        place.agent = place.kind == "tool" and id(place) in holding
        if place.owner is not None and (place.kind == "model" or id(place) in holding):
            holding.add(id(place.owner))
    for place in found.places:
        _inside(place, notes)


def _pass_up(models: list[Place], owner: Place | None, near: dict[int, list[Place]]) -> None:
    """To a model call around them, if that is the next boundary."""
    if owner is not None and owner.kind == "model":
        if id(owner) in near:
            near[id(owner)].extend(models)
        else:
            near[id(owner)] = models


def _one_record(outer: Place, near: list[Place], notes: Notes) -> None:
    """Model calls inside a model call, with no tool between, are the same call seen nearer to the provider; they are
    taken if they hold what was said."""
    whole = all(place.tell(notes).answered or error_of(place.site) for place in near)
    if whole or not outer.tell(notes).holds_content:
        _complete(outer.tell(notes), near)
        left = [outer]
    else:
        left = near
    for place in left:
        place.taken = False
        notes.add("left_out", place.site.span.source, _SAME_MODEL, boundary="model")


def _complete(more: Telling, inner: list[Place]) -> None:
    """What only the outer record of one call says of it is kept."""
    told = inner[0].told
    if len(inner) == 1 and told is not None:
        unknown = told.request is None
        inner[0].told = replace(
            told,
            sent=more.sent if told.sent is None and unknown else told.sent,
            partial=told.partial or (more.partial and told.sent is None and unknown),
            tools=more.tools if told.tools is None and unknown else told.tools,
            usage=told.usage or more.usage,
            serving={**more.serving, **told.serving},
        )


def _inside(place: Place, notes: Notes) -> None:
    """What is inside a tool or retrieval that is taken as a whole is no step of its own."""
    owner = place.owner
    if owner is not None:
        place.around = owner if owner.taken and owner.kind != "model" else owner.around
    around = place.around
    if around is None or around.agent or place.kind == "model" or not place.taken:
        return
    if place.kind == around.kind == "tool" and _same_tool(place, around, notes):
        return
    notes.add("left_out", place.site.span.source, _INSIDE)
    place.taken = False


def _same_tool(place: Place, owner: Place, notes: Notes) -> bool:
    """Whether both are the record of one call; the fuller one is taken then, the outer one if they are equally full."""
    inner, outer = (which.dialect.tool(which.site, notes) for which in (place, owner))
    if inner.tool != outer.tool:
        return False
    full = [(step.arguments is not None) + step.answered for step in (outer, inner)]
    left = owner if full[1] > full[0] else place
    left.taken = False
    notes.add("left_out", left.site.span.source, _SAME_TOOL, boundary="tool")
    return True
