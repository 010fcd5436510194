"""OpenTelemetry as a format of the registry: the runs of a file are its traces."""

from __future__ import annotations

from dataclasses import dataclass, field

from replaycases.importers.findings import refused
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.formats import Format
from replaycases.importers.neutral import NeutralRun, RunHead
from replaycases.importers.otlp.envelope import read_file
from replaycases.importers.otlp.instants import instant
from replaycases.importers.otlp.json_form import too_many
from replaycases.importers.otlp.run import NAME, run_of
from replaycases.importers.otlp.spans import Export, LogRecord, Span
from replaycases.importers.otlp.values import is_hex


@dataclass(kw_only=True)
class _Trace:
    spans: list[Span] = field(default_factory=list)
    records: list[LogRecord] = field(default_factory=list)


def sniff(file: ForeignFile) -> bool:
    return _export(file) is not None


def heads(file: ForeignFile) -> tuple[RunHead, ...]:
    return tuple(
        RunHead(index=at, label=_label(name, at), source=trace.spans[0].source, started_at=_start(trace))
        for at, (name, trace) in enumerate(file.read_once(_traces).items())
    )


def read(file: ForeignFile, run: int) -> NeutralRun:
    export = _export(file)
    trace = list(file.read_once(_traces).values())[run]
    return run_of(
        trace.spans, trace.records, cut=export is not None and export.cut, faults=export.faults if export else ()
    )


def _export(file: ForeignFile) -> Export | None:
    return file.once(read_file)


def _traces(file: ForeignFile) -> dict[str, _Trace]:
    """By trace id, in the order of the file. Raises ImportRefused where there are no spans."""
    export = _export(file) or Export()
    if export.too_many:
        raise too_many()
    traces: dict[str, _Trace] = {}
    for span in export.spans:
        traces.setdefault(span.trace_id, _Trace()).spans.append(span)
    if not traces:
        hint = "Put the spans into the same file: one after the other, or as two keys of one object."
        what = "log records and no spans" if export.logs else "no spans"
        raise refused("no-spans", "", f"the file holds {what}", hint)
    for record in export.logs:
        if record.trace_id in traces:
            traces[record.trace_id].records.append(record)
    return traces


def _label(name: str, at: int) -> str:
    return f"trace {name}" if is_hex(name) and len(name) <= 64 else f"trace {at}"


def _start(trace: _Trace) -> str | None:
    return instant(min((span.start_ns for span in trace.spans if span.start_ns), default=0))


FORMAT = Format(name=NAME, title="OpenTelemetry trace (OTLP)", sniff=sniff, heads=heads, read=read, reads_bytes=True)
