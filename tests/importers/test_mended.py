"""What two readers of JSON could understand differently is kept, exactly, and said: in every format, at every depth."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest
import yaml

from replaycases.fixture.findings import FixtureInvalid
from replaycases.importers.findings import ImportRefused
from replaycases.importers.mended import is_strict, read_json, unmarked
from replaycases.importers.neutral import NeutralRun, ToolStep
from replaycases.importers.registry import open_recording, to_case
from tests.importers import cassettes
from tests.importers.http.streams import sse
from tests.importers.samples import SAMPLES
from tests.importers.test_claude_code import SESSION, call, line, result, text
from tests.importers.transcripts import answers, asks, says, supplied, transcript, user
from tests.importers.transcripts import call as chat_call

JSON = Any
BIG = 12345678901234567890
KEPT = {"channel": str(BIG)}
NUMBER = "a number that JSON does not hold exactly is kept as text"


def tools(run: NeutralRun) -> list[ToolStep]:
    return [step for step in run.steps if isinstance(step, ToolStep)]


def said(run: NeutralRun, wanted: str = NUMBER) -> list[str]:
    """The boundaries of the notes that say so, each of which costs something."""
    return [str(note.boundary) for note in run.notes if note.text == wanted and note.cost]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("12345678901234567890", "12345678901234567890"),
        ("-9007199254740993", "-9007199254740993"),
        ("0.12345678901234567890123", "0.12345678901234567890123"),
        ("1e999", "1e999"),
        ("1E300", "1E300"),
        ("9" * 500, "9" * 500),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        (r'"cut \ud83d"', "cut \ufffd"),
        (r'{"\udc00":"x"}', {"\ufffd": "x"}),
        ('{"k":1,"k":2}', {"k": 2}),
    ],
)
def test_what_is_not_strict_is_kept_as_it_was_written_and_marked(written: str, kept: JSON) -> None:
    data = f'{{"a": 1.10, "odd": [{written}], "z": "7"}}'.encode()
    found = read_json(data)
    assert not is_strict(found)
    assert unmarked(found) == {"a": 1.1, "odd": [kept], "z": "7"}
    assert is_strict(unmarked(found))


@pytest.mark.parametrize("data", [b'{"a": 1, "b": [0.1, "x", 9007199254740991]}', b"[]"])
def test_what_is_strict_is_not_marked(data: bytes) -> None:
    assert is_strict(read_json(data))


@pytest.mark.parametrize("data", [b"{", b'{"a": NaN', b"[" * 200 + b"NaN" + b"]" * 200, b'{"a": nan}', b"\xff"])
def test_what_is_no_json_is_still_none(data: bytes) -> None:
    with pytest.raises(FixtureInvalid):
        read_json(data)


ODD = b'{"odd": [12345678901234567890, NaN, 0.12345678901234567890123, "\\ud83d", {"k": 1, "k": 2}], '


PARSED = ("chat-transcript", "claude-code", "langfuse", "langsmith", "vcr:json")


@pytest.mark.parametrize("name", sorted(name for name in SAMPLES if name.startswith(PARSED)))
def test_an_odd_value_beside_what_is_read_changes_nothing(name: str) -> None:
    data = SAMPLES[name].replace(b"{", ODD, 1)
    assert open_recording(data).read(0).steps == open_recording(SAMPLES[name]).read(0).steps


def test_our_own_recorder_writes_no_such_value() -> None:
    with pytest.raises(ImportRefused) as caught:
        open_recording(SAMPLES["recorded:lines"].replace(b"\n{", b"\n" + ODD, 1)).read(0)
    assert caught.value.finding.id == "import.recording-line"


def big_call(n: int = 1) -> dict[str, JSON]:
    return {**call("c1", n), "input": {"channel": BIG}}


def session() -> bytes:
    rows = [line("u", None, "user", "hi"), line("a", "u", "assistant", [big_call()], 1)]
    rows += [line("r", "a", "user", [result("c1", "ok")], 2), line("e", "r", "assistant", [text("done")], 3)]
    return "\n".join(map(json.dumps, rows)).encode()


def runs() -> bytes:
    root = {"id": "r", "trace_id": "r", "run_type": "chain", "name": "agent", "start_time": "2026-01-02T03:04:00Z"}
    one = {"id": "t", "trace_id": "r", "parent_run_id": "r", "run_type": "tool", "name": "look"}
    told = {"inputs": {"channel": BIG}, "outputs": {"output": "ok"}, "start_time": "2026-01-02T03:04:01Z"}
    return json.dumps([root, {**one, **told}]).encode()


def observations(of: JSON) -> bytes:
    row = {"id": "o", "traceId": "t", "type": "TOOL", "name": "look", "startTime": "2026-01-02T03:04:00.000Z"}
    return json.dumps([{**row, "input": of, "output": "ok"}]).encode()


def blocks(first: JSON) -> bytes:
    """Two calls of the Messages API; `first` is what came back of the first one."""
    asked = {"role": "user", "content": "hi"}
    told = {"role": "user", "content": [result("c1", "ok")]}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    calls = {"role": "assistant", "content": [big_call()]}
    later = {**message, "content": [text("done")]}
    body = first or {**message, "stop_reason": "tool_use", "content": [big_call()]}
    return cassettes.cassette(
        cassettes.interaction({"model": "m", "max_tokens": 9, "messages": [asked]}, body, url=cassettes.MESSAGES),
        cassettes.interaction(
            {"model": "m", "max_tokens": 9, "messages": [asked, calls, told]}, later, url=cassettes.MESSAGES
        ),
    )


def parsed() -> bytes:
    """As recorders keep it that write the values of bodies into the YAML."""
    document = yaml.safe_load(blocks(None))
    for side, body in (("request", None), ("response", "string")):
        for one in document["interactions"]:
            held = one[side].pop("body")
            one[side]["parsed_body"] = json.loads(held if body is None else held[body])
    return yaml.safe_dump(document).encode()


def streamed() -> bytes:
    start = {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}}
    block = {"type": "content_block_start", "index": 0, "content_block": {**call("c1"), "input": {}}}
    delta = {"type": "input_json_delta", "partial_json": json.dumps({"channel": BIG})}
    pieces = [{"type": "content_block_delta", "index": 0, "delta": delta}, {"type": "message_stop"}]
    return blocks(sse(start, block, *pieces, named=True))


def chat_cassette() -> bytes:
    first = cassettes.interaction(
        {"model": "m", "messages": [user("hi")]},
        {"object": "chat.completion", "choices": [{"message": asks(chat_call("look", {"channel": BIG}))}]},
    )
    talk = [user("hi"), asks(chat_call("look", {"channel": BIG})), answers("ok")]
    later = {"object": "chat.completion", "choices": [{"message": says("done")}]}
    return cassettes.cassette(first, cassettes.interaction({"model": "m", "messages": talk}, later))


def chat(arguments: JSON) -> bytes:
    made = {"id": "c", "name": "look", "arguments": arguments}
    return transcript(user("hi"), {**says(""), "tool_calls": [made]}, answers("ok"), says("done"))


@pytest.mark.parametrize(
    "data",
    [
        session(),
        runs(),
        observations({"channel": BIG}),
        observations(json.dumps({"channel": BIG})),
        blocks(None),
        parsed(),
        streamed(),
        chat_cassette(),
        chat({"channel": BIG}),
        chat(json.dumps({"channel": BIG})),
    ],
    ids=["claude-code", "langsmith", "langfuse", "langfuse, encoded twice", "messages",
         "messages, kept as values", "messages, streamed",
         "chat completions", "transcript", "transcript, as text"],
)  # fmt: skip
def test_an_id_of_64_bits_stays_exact_and_the_call_that_has_it_is_no_other(data: bytes) -> None:
    recording = open_recording(data)
    for run in (recording.read(0), recording.read(0)):
        assert [(step.arguments, step.value, step.answered) for step in tools(run)] == [(KEPT, "ok", True)]
        assert "tool" in said(run)
        assert not any("no JSON" in note.text for note in run.notes)
        assert to_case(run, supplied()).document["events"]


def test_nothing_of_a_run_is_marked_any_more() -> None:
    run = open_recording(blocks(None)).read(0)
    for of in (run, *run.steps):
        values = [getattr(of, field.name) for field in fields(of) if field.name not in ("steps", "notes")]
        assert all(map(is_strict, values))


def test_half_a_character_is_said_and_costs_nothing() -> None:
    run = open_recording(transcript(user("hi"), says("cut \ud83d"))).read(0)
    assert [(note.text, note.cost) for note in run.notes if "surrogate" in note.text] == [
        ("half of a surrogate pair was replaced by U+FFFD", "")
    ]


def test_a_key_that_stands_twice_is_said_with_its_cost() -> None:
    data = transcript(user("hi"), says("yes")).replace(b'"content": "yes"', b'"content": "no", "content": "yes"')
    run = open_recording(data).read(0)
    assert said(run, "a key stands twice in an object; the last one is kept") == ["model"]


LINES = [json.dumps(row) for row in SESSION]
DROPPED = "line 3 of the file is no JSON and was dropped"


@pytest.mark.parametrize("broken", [LINES[2][:40], "nonsense"])
def test_a_line_that_cannot_be_read_among_others_is_dropped_and_said(broken: str) -> None:
    run = open_recording("\n".join([*LINES[:2], broken, *LINES[2:]]).encode()).read(0)
    assert run.steps == open_recording("\n".join(LINES).encode()).read(0).steps
    assert [(note.kind, bool(note.cost)) for note in run.notes if note.text == DROPPED] == [("sequence_gap", True)]


def test_objects_between_which_the_line_break_was_lost_are_all_read() -> None:
    glued = "\n".join([LINES[0], " ".join(LINES[1:3]), *LINES[3:]])
    assert open_recording(glued.encode()).read(0) == open_recording("\n".join(LINES).encode()).read(0)


def test_lines_of_which_most_cannot_be_read_are_refused_with_the_first_of_them() -> None:
    with pytest.raises(ImportRefused) as caught:
        open_recording("\n".join([LINES[0], "", "x", "y", "z"]).encode())
    assert (caught.value.finding.id, "line 3" in caught.value.finding.message) == ("import.not-json", True)


@pytest.mark.parametrize("name", ["langsmith:list", "langfuse:list", "claude-code:list"])
def test_a_last_line_that_breaks_off_cuts_the_run(name: str) -> None:
    rows = json.loads(SAMPLES.get(name, SAMPLES["langsmith"]))
    rows = rows["data"] if isinstance(rows, dict) else rows
    data = b"\n".join(json.dumps(row).encode() for row in rows)
    whole, cut = open_recording(data).read(0), open_recording(data.rstrip() + b'\n{"id": "x')
    assert (whole.cut, bool(cut.read(0).cut)) == ("", True)
