"""Langfuse: the export of a trace {trace, observations} (also with the observations inside the trace), a trace of the
API, and a list of observations, {"data": […]} or bare.

GENERATION is a model call, TOOL a tool call, RETRIEVER a retrieval. Older exports know no TOOL: a SPAN whose output is
a tool's message, or that has the name of a tool that a model asked for and nothing inside, is one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from replaycases.importers import langfuse_steps
from replaycases.importers.agreement import absent_parts, serving_of, tools_of
from replaycases.importers.conversation import assemble
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.formats import Format
from replaycases.importers.neutral import ModelStep, NeutralRun, RunHead
from replaycases.importers.run_record import of_trace
from replaycases.importers.times import moment
from replaycases.importers.trace_tree import Kind, Record, Tree, distinct
from replaycases.importers.typed import text_or_none

JSON = Any
NAME = "langfuse"
KINDS: dict[str, Kind] = {
    "GENERATION": "model",
    "TOOL": "tool",
    "RETRIEVER": "retrieval",
    "EMBEDDING": "embedding",
}
TYPES = frozenset({*KINDS, "SPAN", "EVENT", "AGENT", "CHAIN", "EVALUATOR", "GUARDRAIL"})


@dataclass(frozen=True, kw_only=True)
class _Trace:
    """`row` is what the file says of the trace itself, {} where it says nothing."""

    row: dict[str, JSON]
    source: str
    observations: list[tuple[str, dict[str, JSON]]]


def sniff(file: ForeignFile) -> bool:
    if not any(mark in file.data for mark in (b'"observations"', b'"traceId"', b'"parentObservationId"')):
        return False
    return bool(file.read_once(_traces))


def heads(file: ForeignFile) -> tuple[RunHead, ...]:
    found = []
    for index, trace in enumerate(file.read_once(_traces)):
        label = text_or_none(trace.row.get("id")) or text_or_none(
            trace.observations[0][1].get("traceId") if trace.observations else None
        )
        short = label if label and len(label) <= 100 else f"run {index}"
        started = Tree(_records(trace)).started_at
        found.append(RunHead(index=index, label=short, source=trace.source, started_at=started))
    return tuple(found)


def read(file: ForeignFile, index: int) -> NeutralRun:
    trace = file.read_once(_traces)[index]
    records, twice = distinct(_records(trace))
    tree = Tree(langfuse_steps.with_tools(records))
    recorded, noted = langfuse_steps.recorded(tree)
    assembled = assemble(recorded)
    models = [step for step in assembled.steps if isinstance(step, ModelStep)]
    serving, differing = serving_of(models)
    user = text_or_none(trace.row.get("userId"))
    identity = None if user is None else {"user_id": user}
    return NeutralRun(
        format=NAME,
        input=assembled.input,
        steps=assembled.steps,
        system=assembled.system,
        serving=serving,
        tools=tools_of(models),
        absent=absent_parts(assembled.steps, serving=serving, system=assembled.system, identity=identity),
        notes=(*twice, *tree.notes, *noted, *differing, *assembled.notes),
        cut="the last line of the file breaks off" if file.cut_line else "",
        ends_on_answer=assembled.ends_on_answer,
        left_out=tuple(record.source for record in tree.records if record.kind == "code"),
        started_at=tree.started_at,
        identity=identity,
        trace_id=text_or_none(trace.row.get("id")) or _first(records, "traceId"),
        workflow_version=text_or_none(trace.row.get("release"))
        or text_or_none(trace.row.get("version"))
        or _first(records, "version"),
        record=_record_of(trace, records),
        documents=langfuse_steps.documents_in(records),
    )


def _record_of(trace: _Trace, records: list[Record]) -> dict[str, str]:
    return of_trace(
        run_id=text_or_none(trace.row.get("id")) or _first(records, "traceId"),
        commit=trace.row.get("release"),
        deployment=trace.row.get("environment") or _first(records, "environment"),
    )


def _records(trace: _Trace) -> list[Record]:
    return [
        Record(
            id=text_or_none(row.get("id")) or source,
            parent=text_or_none(row.get("parentObservationId")),
            kind=KINDS.get(str(row.get("type")).upper(), "code"),
            name=str(row.get("name") or ""),
            source=source,
            row=row,
            started=moment(row.get("startTime")),
            ended=moment(row.get("endTime")),
        )
        for source, row in trace.observations
    ]


def _traces(file: ForeignFile) -> list[_Trace]:
    document = file.json
    if isinstance(document, dict):
        one = _export(document, "")
        return [one] if one else _grouped(_observations(document.get("data"), "/data"))
    if isinstance(document, list):
        several = [_export(item, f"/{at}") if isinstance(item, dict) else None for at, item in enumerate(document)]
        whole = [one for one in several if one is not None]
        return whole if whole and len(whole) == len(document) else _grouped(_observations(document, ""))
    return _grouped(_observations(list(file.json_lines), ""))


def _export(document: dict[str, JSON], source: str) -> _Trace | None:
    """{trace, observations}, or a trace with its observations; None if this is neither."""
    trace = document.get("trace")
    row, place = (trace, f"{source}/trace") if isinstance(trace, dict) else (document, source)
    for holder, base in ((document, source), (row, place)):
        listed = holder.get("observations")
        if isinstance(listed, list):
            observations = _observations(listed, f"{base}/observations")
            if observations or (isinstance(trace, dict) and not listed):
                return _Trace(row=row, source=source, observations=observations)
    return None


def _observations(rows: JSON, source: str) -> list[tuple[str, dict[str, JSON]]]:
    rows = rows if isinstance(rows, list) else []
    return [(f"{source}/{at}", row) for at, row in enumerate(rows) if _is_observation(row)]


def _is_observation(row: JSON) -> bool:
    if not isinstance(row, dict) or str(row.get("type")).upper() not in TYPES:
        return False
    return any(key in row for key in ("traceId", "startTime", "parentObservationId"))


def _grouped(observations: Sequence[tuple[str, dict[str, JSON]]]) -> list[_Trace]:
    by_trace: dict[str, list[tuple[str, dict[str, JSON]]]] = defaultdict(list)
    for source, row in observations:
        by_trace[text_or_none(row.get("traceId")) or ""].append((source, row))
    return [_Trace(row={}, source=rows[0][0], observations=rows) for rows in by_trace.values()]


def _first(records: list[Record], key: str) -> str | None:
    return next((said for record in records if (said := text_or_none(record.row.get(key)))), None)


FORMAT = Format(name=NAME, title="Langfuse trace", sniff=sniff, heads=heads, read=read)
