"""Recordings of our own recorder: every crossing as it happened, and nothing to guess."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from replaycases.fixture.instants import parse_instant
from replaycases.fixture.timeouts import says_why_it_ended
from replaycases.importers.agreement import serving_of
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.formats import Format
from replaycases.importers.neutral import (
    ClockStep,
    HumanStep,
    ModelStep,
    NeutralRun,
    Note,
    Part,
    RandomStep,
    RetrievalStep,
    RunHead,
    Step,
    ToolStep,
    boundary_of,
)
from replaycases.importers.recorded_lines import Line, is_full, is_recording, lines_of
from replaycases.importers.retrieved import documents_of
from replaycases.importers.run_record import of_trace

JSON = Any
NAME = "recorded"
_DRIFT = timedelta(seconds=2)
_UNSEEN: tuple[Part, ...] = ("clock", "random", "retrieval")
_UNKNOWN_TOOL = "unknown"


@dataclass(frozen=True, kw_only=True)
class _Crossing:
    """A call or a read with its answer, if there is one, and the places of both among the lines. `overlaps`: another
    call of a tool was under way when it was sent, `crosses`: a call of another boundary was."""

    at: int
    call: Line
    answer: Line | None
    overlaps: bool
    crosses: bool

    @property
    def source(self) -> str:
        return f"/{self.at}"


def _heads(file: ForeignFile) -> Sequence[RunHead]:
    head = lines_of(file)[0]
    return [RunHead(index=0, label=head["run_id"], source="/0", started_at=head["at"])]


def _read(file: ForeignFile, index: int) -> NeutralRun:
    lines = lines_of(file)
    head = lines[0]
    crossings = list(_crossings(lines))
    steps = _grouped([(crossing, _step(crossing, head)) for crossing in crossings])
    models = [step for step in steps if isinstance(step, ModelStep)]
    agreed, notes = serving_of(models)
    serving = {**head.get("serving", {}), **(agreed or {})}
    return NeutralRun(
        format=NAME,
        input=head["input"],
        steps=tuple(steps),
        serving=serving or None,
        absent=tuple(_absent(head, steps)),
        notes=(*notes, *_notes(lines, crossings)),
        cut=_cut(lines, file),
        left_out=tuple(f"/{at}" for at, line in enumerate(lines) if line["line"] == "finish"),
        started_at=head["at"],
        identity=head.get("identity"),
        workflow_version=head.get("workflow_version"),
        prompt_version=head.get("prompt_version"),
        time_zone=head.get("time_zone"),
        locale=head.get("locale"),
        templates=tuple(head.get("templates", ())),
        policies=tuple(head.get("policies", ())),
        recorded_by={
            "commit": head.get("commit"),
            "recorder": head["recorder"]["name"],
            "version": head["recorder"]["version"],
        },
        record=of_trace(run_id=head["run_id"]),
    )


def _crossings(lines: Sequence[Line]) -> Iterator[_Crossing]:
    answers = {line["seq"]: line for line in lines if line["line"] == "answer"}
    under_way: dict[int, str] = {}
    for at, line in enumerate(lines):
        if line["line"] == "answer":
            under_way.pop(line["seq"], None)
        if line["line"] not in ("call", "read"):
            continue
        others = set(under_way.values())
        crosses = line["line"] == "call" and bool(others - {"tool"} if line["boundary"] == "tool" else others)
        overlaps = line["boundary"] == "tool" and "tool" in others
        yield _Crossing(at=at, call=line, answer=answers.get(line["seq"]), overlaps=overlaps, crosses=crosses)
        if line["line"] == "call":
            under_way[line["seq"]] = line["boundary"]


# --- steps ----------------------------------------------------------------------------------------------------------


def _step(crossing: _Crossing, head: Line) -> Step:
    call, answer = crossing.call, crossing.answer or {}
    lost = "lost" in call
    asked = call.get("asked", {})
    times: dict[str, Any] = {"source": crossing.source, "started_at": call["at"], "ended_at": answer.get("at")}
    if call["line"] == "read":
        times["ended_at"] = call["at"]
        return _read_step(call, times, answered=not lost)
    value, answered = answer.get("value"), not lost and "value" in answer
    match call["boundary"]:
        case "tool":
            return _tool(asked, answer, times, lost=lost, timing=_timing(call, answer, head))
        case "model":
            return ModelStep(
                request=asked["request"] if isinstance(asked.get("request"), dict) else {},
                response=value,
                answered=answered,
                usage=answer.get("usage"),
                serving=asked.get("serving"),
                **times,
            )
        case "retrieval":
            chunks = value if isinstance(value, list) else []
            given = {"query": asked.get("query"), "parameters": asked.get("parameters")}
            return RetrievalStep(chunks=chunks, answered=answered, documents=documents_of(chunks), **given, **times)
        case _:
            return HumanStep(question=asked.get("question"), decision=value, answered=answered, **times)


def _read_step(line: Line, times: Mapping[str, Any], *, answered: bool) -> Step:
    if line["boundary"] == "clock":
        return ClockStep(now=line.get("now", line["at"]), answered=answered, **times)
    return RandomStep(name=line.get("name", "unknown"), value=line.get("value"), answered=answered, **times)


def _tool(asked: Line, answer: Line, times: Mapping[str, Any], *, lost: bool, timing: dict[str, JSON] | None) -> Step:
    return ToolStep(
        tool=asked.get("tool", _UNKNOWN_TOOL),
        arguments=asked.get("arguments"),
        value=answer.get("value"),
        error=answer.get("error"),
        answered=not lost and ("value" in answer or "error" in answer),
        call_id=asked.get("call_id"),
        timing=timing,
        **times,
    )


def _timing(call: Line, answer: Line, head: Line) -> dict[str, JSON] | None:
    """What the recording tells of a call that ran out of time; None for one that ended in the ordinary way."""
    failure = answer.get("error") or answer.get("interrupted")
    if failure is None or not says_why_it_ended(failure["kind"]):
        return None
    found = {"dispatched_at": call["at"], "ended_by": failure["kind"]}
    over = _deadline(head)
    return found | ({"budget_started_at": head["at"], "deadline_at": over} if over else {})


def _deadline(head: Line) -> str | None:
    begun = parse_instant(head["at"])
    try:
        over = begun + timedelta(seconds=head["budget_seconds"]) if begun and "budget_seconds" in head else None
    except OverflowError:
        return None
    return over.isoformat() if over else None


def _grouped(rows: Sequence[tuple[_Crossing, Step]]) -> list[Step]:
    """The steps, with calls of tools in one group that were under way together, or that one answer of the model asked
    for by their ids."""
    steps: list[Step] = []
    before: int | None = None
    groups = 0
    ids: frozenset[str] = frozenset()
    for crossing, step in rows:
        if isinstance(step, ToolStep):
            previous = steps[before] if before is not None else None
            if (
                isinstance(previous, ToolStep)
                and before is not None
                and (crossing.overlaps or {previous.call_id, step.call_id} <= ids)
            ):
                groups += previous.group is None
                steps[before] = replace(previous, group=groups)
                step = replace(step, group=groups)
            before = len(steps)
        elif not isinstance(step, ClockStep | RandomStep):
            before = None
            ids = frozenset(_texts(step.response)) if isinstance(step, ModelStep) else frozenset()
        steps.append(step)
    return steps


def _texts(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


# --- what is lacking ------------------------------------------------------------------------------------------------


def _absent(head: Line, steps: Sequence[Step]) -> Iterator[Part]:
    if "identity" not in head:
        yield "identity"
    crossed = {boundary_of(step) for step in steps}
    for boundary in _UNSEEN:
        # What a workflow reads past the session, the recorder does not see.
        if boundary not in head["sees"] and boundary not in head["none"] and boundary not in crossed:
            yield boundary
    models = [step for step in steps if isinstance(step, ModelStep)]
    if any(step.usage is None for step in models if step.answered):
        yield "usage"


def _cut(lines: Sequence[Line], file: ForeignFile) -> str:
    if is_full(lines):
        return "it reached its size, and what came after was not recorded"
    if lines[-1]["line"] == "end":
        return ""
    if file.cut_line:
        return "its last line is cut, as when a machine stops"
    return "it has no end: the process ended before its workflow did, or it is recording still"


def _notes(lines: Sequence[Line], crossings: Sequence[_Crossing]) -> Iterator[Note]:
    for at, line in enumerate(lines):
        if line["line"] == "fault" and line["kind"] != "full":
            cost = "" if line["kind"] == "misuse" else "the recording says that it is incomplete here"
            yield Note(kind="content_lost", source=f"/{at}", text=_FAULTS[line["kind"]], cost=cost)
    for crossing in crossings:
        yield from _of_crossing(crossing)
    yield from _clocks(lines)


_FAULTS = {
    "payload": "what was asked or answered here could not be recorded",
    "usage": "the tokens of this model call could not be recorded",
    "misuse": "the session was used after it had finished",
}


def _of_crossing(crossing: _Crossing) -> Iterator[Note]:
    call, answer = crossing.call, crossing.answer
    boundary = call["boundary"]
    if crossing.crosses:
        text = "calls of several boundaries were under way at once: their order is that in which they were sent"
        yield Note(kind="guessed_pairing", source=crossing.source, text=text, boundary=boundary)
    if call["line"] == "read" or "lost" in call:
        return
    if answer is None:
        text = "the call was sent, and the recording ends without its answer"
        cost = "whether it was carried out is not known"
        yield Note(kind="call_without_result", source=crossing.source, text=text, cost=cost, boundary=boundary)
    elif "interrupted" in answer:
        text = "the workflow was interrupted while it waited for the answer"
        cost = "whether it was carried out is not known"
        yield Note(kind="call_without_result", source=crossing.source, text=text, cost=cost, boundary=boundary)
    elif "error" in answer and boundary != "tool":
        text = "the call failed, and a replay can answer it with nothing"
        cost = "only what comes before it can be replayed"
        yield Note(kind="failed_call", source=crossing.source, text=text, cost=cost, boundary=boundary)


def _clocks(lines: Sequence[Line]) -> Iterator[Note]:
    """A wall clock that was set while the run went on: the monotonic one beside it tells."""
    begun = parse_instant(lines[0]["at"])
    for at, line in enumerate(lines):
        now = parse_instant(line["at"])
        if begun is None or now is None:
            continue
        gone = timedelta(microseconds=(line["ns"] - lines[0]["ns"]) // 1000)
        if abs(now - begun - gone) > _DRIFT:
            text = "the wall clock was set while the run went on"
            cost = "times before and after it cannot be compared"
            yield Note(kind="clock_contradiction", source=f"/{at}", text=text, cost=cost, boundary="clock")
            return


FORMAT = Format(
    name=NAME,
    title="recording of replaycases' own recorder",
    sniff=is_recording,
    heads=_heads,
    read=_read,
    witnessed=True,
)
