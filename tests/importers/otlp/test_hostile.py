"""Exports that are cut, doubled, shuffled or of wrong types: refused by name or read, and no call is lost unseen."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaycases.fixture.findings import FixtureInvalid
from replaycases.importers.completeness import report_of
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import NeutralRun
from replaycases.importers.otlp import envelope
from replaycases.importers.otlp.run import run_of as run_of_spans
from replaycases.importers.registry import open_recording, to_case
from replaycases.importers.supplied import Supplied
from tests.importers.corpus import CORPUS
from tests.importers.otlp import test_genai_legacy as legacy
from tests.importers.otlp import test_openinference as openinference
from tests.importers.otlp import test_pydantic_ai as pydantic_ai
from tests.importers.otlp import test_traceloop as traceloop
from tests.importers.otlp.exports import export, sdk_request, span
from tests.importers.otlp.runs import kinds, run_of, tools
from tests.importers.otlp.test_genai import ASKED, CALLS, FIRST, SECOND, TOLD, TOOL, chat

EVERYTHING = export(
    span(20, attributes=FIRST),
    span(21, attributes=TOOL, parent=20),
    span(22, attributes=SECOND | {"gen_ai.tool.definitions": "[{}]"}, status={"code": 2, "message": "timeout"}),
    span(23, attributes=traceloop.FIRST),
    span(24, attributes=traceloop.ran({"args": [], "kwargs": {}}, "x"), parent=23),
    span(25, attributes=openinference.FLAT),
    span(26, attributes=openinference.TOOL),
    span(27, attributes={"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.content": "x"}),
    span(28, attributes=pydantic_ai.CHAT | {"events": json.dumps(pydantic_ai.EVENTS)}),
    span(29, attributes=pydantic_ai.RAN | {"timeout_ms": 5}),
    span(30, attributes={"pydantic_ai.all_messages": json.dumps([ASKED, CALLS, TOLD])}),
    *legacy.spans(),
    logs=legacy.logs(),
)
STRANGE: tuple[Any, ...] = (
    *(None, True, -1, 1.5, 1e308, 2**63, "", "x", "9" * 30, [], {}, [[]], [None], {"a": 1}, "{", "[", "[1]", "NaN"),
    '[{"role": []}]',
    '[{"role": "assistant", "parts": 7}]',
    '[{"role": "assistant", "parts": [{"type": "tool_call"}]}]',
    '[{"type": {}, "parts": [{"type": []}]}]',
    '{"messages": [{"role": {}}]}',
    '[{"role": "user", "content": "\\ud800"}]',
    '[{"role": "assistant", "tool_calls": [{"id": 5, "function": {"name": "f", "arguments": 3}}]}]',
    '[{"role": "assistant", "tool_calls": {"a": 1}}]',
    '[{"role": "tool", "parts": [{"type": "tool_call_response"}]}]',
)


def paths(node: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inner:
        yield (*place, key)
        yield from paths(value, (*place, key))


DOCUMENT = json.loads(EVERYTHING)
PATHS = list(paths(DOCUMENT))
PROTOBUF = sdk_request((("a", FIRST), ("b", TOOL), ("c", SECOND)))


def is_read_or_refused(data: bytes) -> None:
    try:
        recording = open_recording(data)
    except ImportRefused:
        return
    assert recording.runs
    for head in recording.runs:
        run = recording.read(head.index)
        assert report_of(run, ()).replayable <= len(run.steps)
        try:
            to_case(run, Supplied(case_id="c", incident_id="i", frozen_at="2026-09-21T14:13:20Z"))
        except (ImportRefused, FixtureInvalid):
            continue


def changed(document: Any, path: tuple[Any, ...], what: str, value: Any) -> None:
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    if what == "replace":
        holder[path[-1]] = value
    elif what == "delete":
        del holder[path[-1]]
    elif isinstance(holder, list):
        holder.append(holder[path[-1]]) if what == "double" else holder.reverse()


@settings(max_examples=150, deadline=None)
@given(
    changes=st.lists(
        st.tuples(
            st.sampled_from(PATHS),
            st.sampled_from(["replace", "delete", "double", "reverse"]),
            st.sampled_from(STRANGE),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_an_export_of_the_wrong_shape_is_read_or_refused(changes: list[Any]) -> None:
    document = copy.deepcopy(DOCUMENT)
    for path, what, value in changes:
        try:
            changed(document, path, what, copy.deepcopy(value))
        except (KeyError, IndexError, TypeError):
            continue
    is_read_or_refused(json.dumps(document).encode())


RECORDED = sorted(CORPUS.glob("*/*.otlp.json"))


@pytest.mark.skipif(not RECORDED, reason="the recorded files are not here (REPLAYCASES_CORPUS)")
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_recorded_file_that_was_damaged_is_read_or_refused(data: st.DataObject) -> None:
    recorded = data.draw(st.sampled_from(RECORDED)).read_bytes()
    document = json.loads(recorded)
    places = list(paths(document))
    for path in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=4)):
        what = data.draw(st.sampled_from(["replace", "delete", "double", "reverse"]))
        try:
            changed(document, path, what, copy.deepcopy(data.draw(st.sampled_from(STRANGE))))
        except (KeyError, IndexError, TypeError):
            continue
    is_read_or_refused(json.dumps(document).encode())
    is_read_or_refused(recorded[: data.draw(st.integers(0, len(recorded)))])


@settings(max_examples=60, deadline=None)
@given(end=st.integers(0, len(EVERYTHING)), again=st.booleans())
def test_an_export_that_breaks_off_is_read_or_refused(end: int, again: bool) -> None:
    is_read_or_refused((EVERYTHING + b"\n" if again else b"") + EVERYTHING[:end])


@settings(max_examples=100, deadline=None)
@given(at=st.integers(0, len(PROTOBUF) - 1), byte=st.integers(0, 255), end=st.integers(1, len(PROTOBUF)))
def test_damaged_protobuf_is_read_or_refused(at: int, byte: int, end: int) -> None:
    damaged = bytearray(PROTOBUF)
    damaged[at] = byte
    is_read_or_refused(bytes(damaged))
    is_read_or_refused(len(PROTOBUF).to_bytes(4) + PROTOBUF + bytes(damaged[:end]))


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[int], list[int]]:
    """(the spans of a run in any order, the calls of each model call, the numbers of the spans that were lost)."""
    asked = draw(st.lists(st.integers(0, 3), min_size=1, max_size=5))
    rows: list[dict[str, Any]] = []
    talk: list[Any] = [ASKED]
    number = 0
    for turn, count in enumerate(asked):
        calls = [
            {"type": "tool_call", "id": f"c{turn}.{n}", "name": "find", "arguments": f'{{"n": "{turn}.{n}"}}'}
            for n in range(count)
        ]
        said = {"role": "assistant", "parts": calls or [{"type": "text", "content": f"said {turn}"}]}
        rows.append(span(number := number + 1, attributes=chat(talk, [said])))
        rows += [span(number := number + 1, attributes=TOOL | ran(turn, n)) for n in range(count)]
        answers = [{"type": "tool_call_response", "id": f"c{turn}.{n}", "response": "x"} for n in range(count)]
        talk = [*talk, said, {"role": "tool", "parts": answers} if calls else ASKED]
    lost = draw(st.lists(st.integers(1, len(rows)), unique=True, max_size=len(rows) - 1))
    return draw(st.permutations(rows)), asked, sorted(lost)


def ran(turn: int, n: int) -> dict[str, str]:
    return {"gen_ai.tool.call.id": f"c{turn}.{n}", "gen_ai.tool.call.arguments": f'{{"n": "{turn}.{n}"}}'}


@settings(max_examples=150, deadline=None)
@given(conversation=conversations(), twice=st.booleans())
def test_every_call_is_a_step_or_said_to_be_missing(conversation: Any, twice: bool) -> None:
    rows, asked, lost = conversation
    kept = [row for row in rows if int(row["spanId"], 16) not in lost]
    run = run_of(export(*kept, *(kept if twice else ())))
    calls, unanswered = expected(asked, lost)
    assert len(tools(run)) == calls
    assert sum(not step.answered for step in tools(run)) == unanswered
    assert kinds(run).count("call_without_result") == unanswered
    if hidden(asked, lost):
        assert {"sequence_gap", "left_out"} & set(kinds(run))


def expected(asked: list[int], lost: list[int]) -> tuple[int, int]:
    """(calls that the kept spans tell of, those of them that nothing answers), counted from the plan of the run."""
    calls = unanswered = number = 0
    starts = [1 + turn + sum(asked[:turn]) for turn in range(len(asked))]
    for turn, count in enumerate(asked):
        model_kept, number = starts[turn] not in lost, starts[turn]
        told_later = any(start not in lost for start in starts[turn + 1 :])
        for n in range(1, count + 1):
            tool_kept = number + n not in lost
            calls += model_kept or tool_kept
            unanswered += model_kept and not tool_kept and not told_later
    return calls, unanswered


def hidden(asked: list[int], lost: list[int]) -> bool:
    """Whether calls of a model call that was lost stand in a later request."""
    starts = [1 + turn + sum(asked[:turn]) for turn in range(len(asked))]
    last = max((turn for turn, start in enumerate(starts) if start not in lost), default=0)
    return any(start in lost and asked[turn] for turn, start in enumerate(starts[:last]))


def without_sources(run: NeutralRun) -> Any:
    return [replace(step, source="") for step in run.steps], run.serving, run.input, run.tools, run.identity


@pytest.mark.parametrize("data", [EVERYTHING, PROTOBUF], ids=["json", "protobuf"])
def test_what_was_gathered_and_dumped_makes_the_same_run(data: bytes) -> None:
    found = envelope.read_file(data)
    assert found is not None
    dumped = open_recording(envelope.dump(found.spans, found.logs)).read()
    assert without_sources(dumped) == without_sources(run_of_spans(found.spans, found.logs))
    assert without_sources(dumped) == without_sources(open_recording(data).read())
