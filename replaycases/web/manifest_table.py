"""Two manifests as the sections of one table. Pure: a fixture and two manifests in, frozen rows out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from replaycases.fixture.model import Fixture
from replaycases.verdict.manifest import Manifest
from replaycases.web import words
from replaycases.web.call_rows import call_rows
from replaycases.web.rows import Cell, Kind, Row, Section, compared

Document = Mapping[str, Any]


def sections(fixture: Fixture, old: Manifest, new: Manifest) -> list[Section]:
    """Every row of both manifests, in the order in which an incident owner reads them."""
    effects = (*_counts(old, new), *_authorization(old, new))
    return [
        Section(id="boundary", title="Boundary", note="the one value that decides", rows=tuple(_boundary(old, new))),
        Section(id="checks", title="Checks", note="", rows=tuple(_checks(old, new, fixture.boundary))),
        Section(id="effects", title="Side effects and authorization", note="always shown", rows=effects),
        Section(id="calls", title="Calls, aligned by event", note="", rows=tuple(call_rows(fixture, old, new))),
        Section(id="unconsumed", title="Unconsumed events", note="", rows=tuple(_left_over(fixture, old, new))),
        Section(id="surfaces", title="Surfaces and isolation", note="", rows=tuple(_surroundings(old, new))),
        Section(id="outcome", title="Raw outcome", note="as the run reported it", rows=tuple(_outcome(old, new))),
    ]


def _boundary(old: Manifest, new: Manifest) -> Iterator[Row]:
    same = old.boundary_passed is new.boundary_passed
    kind: Kind = "equal" if same else "changed"
    yield Row(name="boundary_passed", kind=kind, old=_decided(old), new=_decided(new), always=True)
    yield compared("run status", _status(old), _status(new), always=True)


def _decided(manifest: Manifest) -> Cell:
    value = manifest.boundary_passed
    return Cell(state="null" if value is None else str(value).lower())


def _status(manifest: Manifest) -> str:
    return f"{manifest.status}: {manifest['reason']}" if manifest["reason"] else manifest.status


def _checks(old: Manifest, new: Manifest, boundary: Sequence[str]) -> Iterator[Row]:
    left = {check["id"]: check for check in old["checks"]}
    right = {check["id"]: check for check in new["checks"]}
    for id_ in dict.fromkeys((*left, *right)):
        one, other = left.get(id_), right.get(id_)
        some: Document = one or other or {}
        also = f"{some['kind']}, boundary" if id_ in boundary else str(some["kind"])
        yield Row(name=id_, also=also, kind=_check_kind(one, other), old=_ruled(one), new=_ruled(other), prose=True)


def _check_kind(one: Document | None, other: Document | None) -> Kind:
    if one is None:
        return "only_new"
    if other is None:
        return "only_old"
    return "equal" if one["result"] == other["result"] else "changed"


def _ruled(check: Document | None) -> Cell:
    if check is None:
        return Cell(hole="This side has no such check")
    return Cell(state=check["result"], text=words.whole(check["observed"]) if check["observed"] else None)


def _counts(old: Manifest, new: Manifest) -> Iterator[Row]:
    left, right = old["action_counts"], new["action_counts"]
    for action in sorted({*left, *right}):
        yield compared(action, _interval(left.get(action)), _interval(right.get(action)), always=True)


def _interval(count: Document | None) -> str:
    """How often an action took effect: what is certain of it, and what may be more."""
    if count is None:
        return "0"
    low, high = count["min"], count["max"]
    if high is None:
        return f"{low} or more: the run ended on a tool that the recording lacks, which may have done anything"
    if high == low:
        return str(low)
    open_calls = f"perhaps {high}" if not low else f"{low}, perhaps {high}"
    whose = "1 call was" if high - low == 1 else f"{high - low} calls were"
    return f"{open_calls}: whether {whose} accepted is not known"


def _authorization(old: Manifest, new: Manifest) -> Iterator[Row]:
    left, right = old["authorization"]["observed"], new["authorization"]["observed"]
    for action in sorted({*left, *right}):
        decisions = (side.get(action, "no guarded call") for side in (left, right))
        yield compared(f"authorization {action}", *decisions, also="from observed calls", always=True)
    reported = [side["authorization"]["reported"] for side in (old, new)]
    if any(value is not None for value in reported):
        told = ("not reported" if value is None else words.as_text(value) for value in reported)
        yield compared("authorization", *told, also="as reported: never acquits", always=True)


def _left_over(fixture: Fixture, old: Manifest, new: Manifest) -> Iterator[Row]:
    """Required events that nobody asked for, and optional ones that were passed over."""
    events = {event.seq: event for event in fixture.events}
    sides = [(set(side["unconsumed"]), set(side["optional_skipped"])) for side in (old, new)]
    for seq in sorted(set().union(*(part for side in sides for part in side))):
        one, other = (_left(seq, *side) for side in sides)
        event = events.get(seq)
        yield Row(
            name=f"event {seq}",
            also=(event.tool or event.boundary) if event else "",
            anchor=f"event-{seq}",
            kind=_left_kind(one, other),
            old=_left_cell(one),
            new=_left_cell(other),
            always=True,
        )


def _left(seq: int, required: set[int], optional: set[int]) -> str:
    if seq in required:
        return "left over: the recording requires it"
    return "passed over: declared optional, does not count against this side" if seq in optional else ""


def _left_kind(old: str, new: str) -> Kind:
    if old == new:
        return "equal"
    return "only_new" if not old else "only_old" if not new else "changed"


def _left_cell(text: str) -> Cell:
    return Cell(text=words.whole(text)) if text else Cell(hole="Used by this side")


def _surroundings(old: Manifest, new: Manifest) -> Iterator[Row]:
    for surface, one in old["surfaces"].items():
        other = new["surfaces"][surface]
        kind: Kind = "equal" if one == other else "changed"
        yield Row(name=surface.replace("_", " "), kind=kind, old=Cell(state=one), new=Cell(state=other))
    yield compared("isolation tier", old["isolation"]["tier"], new["isolation"]["tier"])
    yield compared("limits", *words.as_texts(old["limits"], new["limits"]))


def _outcome(old: Manifest, new: Manifest) -> Iterator[Row]:
    """`message` first and as prose; the other fields of the report as they stand."""
    left, right = old["raw_outcome"], new["raw_outcome"]
    if left is None or right is None:
        yield compared("finish", _finished(left), _finished(right), anchor="outcome-finish", always=True)
    for key in sorted(dict.fromkeys((*(left or {}), *(right or {}))), key=lambda key: key != "message"):
        anchor = f"outcome-{key}" if key.isidentifier() else ""
        yield compared(key, *_reported(key, left or {}, right or {}), prose=key == "message", anchor=anchor)


def _reported(key: str, *outcomes: Document) -> list[str]:
    texts = iter(words.as_texts(*(outcome[key] for outcome in outcomes if key in outcome)))
    told = [next(texts) if key in outcome else "not reported" for outcome in outcomes]
    if key != "message":
        return told
    messages = (outcome.get(key) for outcome in outcomes)
    return [message if isinstance(message, str) else text for message, text in zip(messages, told, strict=True)]


def _finished(outcome: Document | None) -> str:
    return "the run ended without a report" if outcome is None else "reported"
