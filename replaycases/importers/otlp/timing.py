"""What spans tell of a tool call that ran out of time: a budget, a deadline, who ended it, a result that came late.

Nothing is filled in for a call that ended in the ordinary way, and of the other calls only what the file says: the
start of the span whose attributes name a timeout or a deadline (its budget began there), the start of the client's
span (dispatch), the start of the server's span (the dependency saw it), the error's own word for the end, and a result
or an answer of the server that is later than the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from replaycases.fixture.instants import parse_instant
from replaycases.importers.otlp.instants import instant
from replaycases.importers.otlp.selection import Selection
from replaycases.importers.otlp.site import Notes, Site
from replaycases.importers.otlp.spans import Span

JSON = Any
_ENDED = re.compile(r"time.?d?.?out|deadline|cancel|abort", re.IGNORECASE)
_DEADLINE = re.compile(r"(?:^|[._])deadline(?:[._](?:at|time|unix_nano|unix_ms))?$")
_TIMEOUT = re.compile(r"(?:^|[._])(?:timeout|budget)[._](ms|milliseconds|s|seconds|ns|nanoseconds)$")
_UNITS = {
    "ms": 1_000_000,
    "milliseconds": 1_000_000,
    "s": 1_000_000_000,
    "seconds": 1_000_000_000,
    "ns": 1,
    "nanoseconds": 1,
}
_LONGEST_WAY = 64
_FIRST_ERROR = 400
_RPC_OK = ("0", "OK")
_CLOCKS = "the clocks of caller and dependency contradict each other: the call was received before it was sent"


def timing_of(site: Site, selection: Selection, result: JSON, notes: Notes) -> dict[str, JSON] | None:
    """The fixture's `timing` of one tool call; None where the file tells nothing of its time but start and end."""
    span = site.span
    budget = _budget(span, selection)
    client, server = _pair(span, selection)
    ended_by, ended_ns = _end(span)
    if not ended_by and client is not None:
        ended_by, ended_ns = _end(client)
    if budget is None and not ended_by and server is None:
        return None
    dispatched = client if client is not None else span
    found: dict[str, JSON] = {"dispatched_at": instant(dispatched.start_ns)}
    if budget is not None:
        found |= {"budget_started_at": instant(budget[0]), "deadline_at": instant(budget[1])}
    if server is not None:
        found["received_at"] = instant(server.start_ns)
        if 0 < server.start_ns < dispatched.start_ns:
            notes.add("clock_contradiction", server.source, _CLOCKS, boundary="tool")
    if ended_by:
        found |= {"ended_by": ended_by, "late_result": _late(span, server, result, ended_ns)}
    return {name: value for name, value in found.items() if value is not None} or None


def _budget(span: Span, selection: Selection) -> tuple[int, int] | None:
    """(its start, its end) of the nearest span around the call that has a deadline, else of the call itself."""
    for owner in (*_upwards(span, selection), span):
        if id(owner) not in selection.deadlines:
            selection.deadlines[id(owner)] = _deadline(owner)
        deadline = selection.deadlines[id(owner)]
        if deadline is not None:
            return owner.start_ns, deadline
    return None


def _upwards(span: Span, selection: Selection) -> Iterator[Span]:
    at = span
    for _ in range(_LONGEST_WAY):
        if at.span_id not in selection.parents:
            return
        at = selection.parents[at.span_id]
        yield at


def _deadline(span: Span) -> int | None:
    """The instant in nanoseconds at which this span's own attributes say that its time is over."""
    for key, value in span.attributes.items():
        if _DEADLINE.search(key):
            found = _instant_ns(key, value)
            if found is not None:
                return found
        limit = _TIMEOUT.search(key)
        if limit and span.start_ns and isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return span.start_ns + int(value * _UNITS[limit[1]])
    return None


def _instant_ns(key: str, value: JSON) -> int | None:
    if isinstance(value, str):
        at = parse_instant(value)
        if at is not None:
            return int(at.timestamp()) * 1_000_000_000 + at.microsecond * 1000
        value = int(value) if value.isdecimal() and len(value) <= 20 else None
    if isinstance(value, int) and not isinstance(value, bool):
        if key.endswith("unix_nano"):
            return value
        return value * 1_000_000 if key.endswith("unix_ms") else None
    return None


def _end(span: Span) -> tuple[str, int]:
    """(the word for what ended the call before its answer, when); "" where nothing says that something did."""
    if span.status != "error" and "error.type" not in span.attributes:
        return "", 0
    for event in span.events:
        kind = event.attributes.get("exception.type")
        if event.name == "exception" and isinstance(kind, str) and _ENDED.search(kind):
            return kind, event.time_ns or span.end_ns
    for word in (span.attributes.get("error.type"), _code(span.attributes)):
        if isinstance(word, str) and _ENDED.search(word):
            return word, span.end_ns
    said = _ENDED.search(span.status_message)
    return (f"status: {said[0].lower()}", span.end_ns) if said else ("", 0)


def _code(attributes: Mapping[str, JSON]) -> str:
    code = attributes.get("rpc.grpc.status_code", attributes.get("rpc.response.status_code"))
    return {1: "CANCELLED", 4: "DEADLINE_EXCEEDED"}.get(code, "") if isinstance(code, int) else ""


def _pair(span: Span, selection: Selection) -> tuple[Span | None, Span | None]:
    """The client's span of the call and the server's below it: the only one of each kind, else none."""
    client = span if span.kind == "client" else _only(selection.children.get(span.span_id, ()), "client")
    below = client if client is not None else span
    return client, _only(selection.children.get(below.span_id, ()), "server")


def _only(spans: Any, kind: str) -> Span | None:
    found = [span for span in spans if span.kind == kind]
    return found[0] if len(found) == 1 else None


def _late(span: Span, server: Span | None, result: JSON, ended_ns: int) -> JSON:
    if result is not None and span.end_ns > ended_ns:
        return {"value": result, "at": instant(span.end_ns)}
    if server is not None and server.end_ns > ended_ns and _succeeded(server):
        return {"answered_at": instant(server.end_ns)}
    return None


def _succeeded(server: Span) -> bool:
    """Whether the server did not answer with an error. The status of its span alone does not say so: by OpenTelemetry's
    conventions a 4xx leaves it unset, and so do gRPC's codes for what the caller did."""
    attributes = server.attributes
    if server.status == "error" or attributes.get("error.type"):
        return False
    http = attributes.get("http.response.status_code", attributes.get("http.status_code"))
    if isinstance(http, int | str) and re.fullmatch(r"[0-9]{3}", str(http)) and int(http) >= _FIRST_ERROR:
        return False
    rpc = (attributes.get(key) for key in ("rpc.grpc.status_code", "rpc.response.status_code"))
    return all(code is None or str(code).upper() in _RPC_OK for code in rpc)
