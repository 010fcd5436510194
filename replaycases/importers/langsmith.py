"""LangSmith runs: what the read API lists, {"runs": […]} or a bare list, one run with its `child_runs`, JSON lines of
runs, and the wire of its clients {"post": […], "patch": […]}, where a run's start and its end are records of their own.

run_type llm is a model call, tool a tool call, retriever a retrieval; chain, prompt, parser are code of the workflow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from replaycases.importers import langsmith_steps
from replaycases.importers.agreement import absent_parts, serving_of, tools_of
from replaycases.importers.conversation import assemble
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.formats import Format
from replaycases.importers.neutral import ModelStep, NeutralRun, RunHead
from replaycases.importers.run_record import of_trace
from replaycases.importers.times import moment
from replaycases.importers.trace_tree import Kind, Record, Tree
from replaycases.importers.typed import object_or_empty

JSON = Any
NAME = "langsmith"
KINDS: dict[str, Kind] = {"llm": "model", "tool": "tool", "retriever": "retrieval", "embedding": "embedding"}
TYPES = (*KINDS, "chain", "prompt", "parser")


def sniff(file: ForeignFile) -> bool:
    """True where some record is a run."""
    if b'"run_type"' not in file.data and b'"dotted_order"' not in file.data:
        return False
    return any(_is_run(row) for _, row in _rows(file))


def heads(file: ForeignFile) -> tuple[RunHead, ...]:
    found = []
    for index, (trace, records) in enumerate(file.read_once(_traces).items()):
        tree = Tree(records)
        label = trace if 0 < len(trace) <= 100 else f"run {index}"
        found.append(RunHead(index=index, label=label, source=records[0].source, started_at=tree.started_at))
    return tuple(found)


def read(file: ForeignFile, index: int) -> NeutralRun:
    trace, records = list(file.read_once(_traces).items())[index]
    tree = Tree(records)
    recorded, noted = langsmith_steps.recorded(tree)
    assembled = assemble(recorded)
    models = [step for step in assembled.steps if isinstance(step, ModelStep)]
    serving, differing = serving_of(models)
    return NeutralRun(
        format=NAME,
        input=assembled.input,
        steps=assembled.steps,
        system=assembled.system,
        serving=serving,
        tools=tools_of(models),
        absent=absent_parts(assembled.steps, serving=serving, system=assembled.system),
        notes=(*tree.notes, *noted, *differing, *assembled.notes),
        cut="the last line of the file breaks off" if file.cut_line else "",
        ends_on_answer=assembled.ends_on_answer,
        left_out=tuple(record.source for record in records if record.kind == "code"),
        started_at=tree.started_at,
        trace_id=trace,
        workflow_version=_version(records),
        record=_record_of(records),
        documents=langsmith_steps.documents_in(records),
    )


def _record_of(records: list[Record]) -> dict[str, str]:
    """The run is the outermost record; its parent, where that is not in the file, the run that it was a part of."""
    known = {record.id for record in records}
    roots = [record for record in records if record.parent not in known]
    root = roots[0] if len(roots) == 1 else None
    runtime = next((found for record in records if (found := _runtime(record.row))), {})
    return of_trace(
        run_id=root and root.id,
        parent_run_id=root and root.parent,
        commit=_version(records),
        toolchain=_named(runtime.get("runtime"), runtime.get("runtime_version")),
        harness=_named(runtime.get("library"), runtime.get("library_version") or runtime.get("sdk_version")),
    )


def _named(*parts: JSON) -> str:
    return " ".join(part for part in parts if isinstance(part, str))


def _runtime(row: dict[str, JSON]) -> dict[str, JSON]:
    return object_or_empty(object_or_empty(row.get("extra")).get("runtime"))


def _version(records: list[Record]) -> str | None:
    """The commit that LangSmith's client found, of the first run that names one."""
    for record in records:
        revision = langsmith_steps.metadata_of(record.row).get("revision_id")
        if isinstance(revision, str) and revision:
            return revision
    return None


def _traces(file: ForeignFile) -> dict[str, list[Record]]:
    """The runs of each trace, in the order in which the file first speaks of it."""
    merged: dict[str, tuple[str, str, dict[str, JSON]]] = {}
    for source, row in _flat(_rows(file)):
        name = row["id"] if isinstance(row.get("id"), str) and row["id"] else source
        start, end, known = merged.get(name, (source, source, {}))
        merged[name] = (start, source if row.get("outputs") else end, _merged(known, row))
    records = {name: _record(name, *found) for name, found in merged.items()}
    traces: dict[str, list[Record]] = defaultdict(list)
    roots: dict[str, str] = {}
    for record in records.values():
        traces[_trace(record, records, roots)].append(record)
    return traces


def _rows(file: ForeignFile) -> list[tuple[str, JSON]]:
    """Every record of the file that is a run, with its pointer."""
    document = file.json
    if isinstance(document, dict):
        lists = [key for key in ("post", "patch", "runs") if isinstance(document.get(key), list)]
        rows = [(f"/{key}/{at}", row) for key in lists for at, row in enumerate(document[key])]
        rows = rows if lists else [("", document)]
    elif isinstance(document, list):
        rows = [(f"/{at}", row) for at, row in enumerate(document)]
    else:
        rows = [(f"/{at}", row) for at, row in enumerate(file.json_lines)]
    return rows


def _is_run(row: JSON) -> bool:
    if not isinstance(row, dict):
        return False
    return str(row.get("run_type")) in TYPES or isinstance(row.get("dotted_order"), str)


def _is_end(source: str, row: JSON) -> bool:
    """Whether this is the end of a run, which need not say again what it was."""
    return source.startswith("/patch/") and isinstance(row, dict) and isinstance(row.get("id"), str)


def _flat(rows: list[tuple[str, JSON]]) -> Iterator[tuple[str, dict[str, JSON]]]:
    """The runs with their children, each child with its parent's id."""
    waiting = [(source, row) for source, row in reversed(rows)]
    while waiting:
        source, row = waiting.pop()
        if not _is_run(row) and not _is_end(source, row):
            continue
        children = row.get("child_runs")
        for at, child in reversed(list(enumerate(children if isinstance(children, list) else ()))):
            if isinstance(child, dict):
                known = {"parent_run_id": row.get("id"), "trace_id": row.get("trace_id")}
                given = {key: value for key, value in child.items() if value is not None}
                waiting.append((f"{source}/child_runs/{at}", {**known, **given}))
        yield source, row


def _merged(known: dict[str, JSON], row: dict[str, JSON]) -> dict[str, JSON]:
    """A run's end fills in what its start left out or empty, and takes the place of what it says anew."""
    return {**known, **{key: value for key, value in row.items() if value not in (None, {}, []) or key not in known}}


def _record(name: str, source: str, end: str, row: dict[str, JSON]) -> Record:
    parent, order = row.get("parent_run_id"), row.get("dotted_order")
    return Record(
        id=name,
        parent=parent if isinstance(parent, str) and parent else _parent_by_order(order),
        kind=KINDS.get(str(row.get("run_type")), "code"),
        name=str(row.get("name") or ""),
        source=source,
        end=end,
        row=row,
        started=moment(row.get("start_time")),
        ended=moment(row.get("end_time")),
        place=order if isinstance(order, str) else "",
    )


def _parent_by_order(order: JSON) -> str | None:
    """The id in the last part but one of a dotted order, {time}Z{id}.{time}Z{id}."""
    parts = order.split(".") if isinstance(order, str) else []
    return parts[-2].partition("Z")[2] or None if len(parts) > 1 else None


def _trace(record: Record, records: dict[str, Record], roots: dict[str, str]) -> str:
    """What the run says of its trace, else the id of its topmost parent."""
    said = record.row.get("trace_id")
    if isinstance(said, str) and said:
        return said
    path: dict[str, None] = {}
    at = record
    while at.id not in roots and at.id not in path:
        path[at.id] = None
        if at.parent is None or at.parent not in records:
            break
        at = records[at.parent]
    root = roots.get(at.id, at.id)
    for name in path:
        roots[name] = root
    return root


FORMAT = Format(name=NAME, title="list of LangSmith runs", sniff=sniff, heads=heads, read=read)
