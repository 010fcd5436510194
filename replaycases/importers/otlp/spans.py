"""What an OTLP export says, in one shape for its JSON and its protobuf form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from replaycases.importers.findings import ImportRefused, refused

JSON = Any
SpanKind = Literal["unspecified", "internal", "server", "client", "producer", "consumer"]
MAX_ROWS = 300_000
Status = Literal["unset", "ok", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """How many attributes, events and links of a span its recorder left out because they were past its limits."""

    attributes: int = 0
    events: int = 0
    links: int = 0


NOTHING_DROPPED = Dropped()


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened during a span. `time_ns` is 0 where the file has none."""

    name: str
    time_ns: int
    attributes: Mapping[str, JSON]
    dropped_attributes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Another span that a span names."""

    trace_id: str
    span_id: str
    attributes: Mapping[str, JSON]
    trace_state: str = ""
    flags: int = 0
    dropped_attributes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span. Ids are hexadecimal in lower case, "" where the file has none; times are nanoseconds since 1970, 0
    where it has none. Attributes are plain JSON that may stand in a fixture: numbers that may not are kept as text,
    and `faults` says so. `resource` holds the resource's attributes. `source` is a JSON Pointer into the export, for
    protobuf into its JSON form."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: SpanKind
    start_ns: int
    end_ns: int
    status: Status
    status_message: str
    attributes: Mapping[str, JSON]
    events: tuple[Event, ...]
    resource: Mapping[str, JSON]
    scope_name: str
    scope_version: str
    source: str
    faults: tuple[str, ...] = ()
    dropped: Dropped = NOTHING_DROPPED
    links: tuple[Link, ...] = ()
    trace_state: str = ""
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """One log record, joined to its span by `trace_id` and `span_id`. `event_name` is "" for one that is no event."""

    trace_id: str
    span_id: str
    time_ns: int
    observed_ns: int
    event_name: str
    body: JSON
    attributes: Mapping[str, JSON]
    resource: Mapping[str, JSON]
    scope_name: str
    scope_version: str
    source: str
    faults: tuple[str, ...] = ()
    dropped_attributes: int = 0
    severity: int = 0
    severity_text: str = ""
    flags: int = 0

    @property
    def at_ns(self) -> int:
        return self.time_ns or self.observed_ns


@dataclass(kw_only=True)
class Export:
    """What a file holds. `faults` are about the file as a whole; `cut` says that its end is missing, `too_many` that it
    holds more than is read at once, so that the rest was not read."""

    spans: list[Span] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)
    faults: tuple[str, ...] = ()
    cut: bool = False
    too_many: bool = False

    def is_full(self) -> bool:
        """Whether no more is taken in, which is noted."""
        self.too_many = self.too_many or len(self.spans) + len(self.logs) > MAX_ROWS
        return self.too_many


def other_signal(found: Literal["spans", "log records"]) -> ImportRefused:
    """A request of the one signal that came where the other one is taken: what it holds would be gone in silence."""
    hint = "Send spans to /v1/traces and log records to /v1/logs."
    return refused("other-signal", "", f"the request holds {found}, which are not taken here", hint)
