from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.importers import claude_code
from replaycases.importers.completeness import report_of
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.neutral import HumanStep, ModelStep, NeutralRun, ToolStep

JSON = Any


def line(uuid: str, parent: str | None, kind: str, content: JSON, at: int = 0, **fields: JSON) -> dict[str, JSON]:
    own = {"id": fields.pop("id", f"msg-{uuid}"), "model": "m-1"} if kind == "assistant" else {}
    stamp = f"2026-01-02T03:04:{at:02}.000Z"
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s-1", "isSidechain": False,
            "timestamp": stamp, "message": {"role": kind, "content": content, **own}, **fields}  # fmt: skip


def call(id: str, n: int = 1) -> dict[str, JSON]:
    return {"type": "tool_use", "id": id, "name": "look", "input": {"n": n}}


def result(id: str, content: JSON, **more: JSON) -> dict[str, JSON]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def text(said: str) -> dict[str, JSON]:
    return {"type": "text", "text": said}


SESSION = [
    line("u1", None, "user", "hi", 1),
    line("a1", "u1", "assistant", [text("so")], 2, id="m1"),
    line("a2", "a1", "assistant", [call("c1")], 3, id="m1"),
    line("r1", "a2", "user", [result("c1", "one")], 4, toolUseResult={"stdout": "one"}),
    line("a3", "r1", "assistant", [text("done?")], 5),
    line("u2", "a3", "user", "yes", 6),
    line("a4", "u2", "assistant", [text("bye")], 7),
]


def lines(rows: list[JSON]) -> ForeignFile:
    file = ForeignFile("\n".join(json.dumps(row) for row in rows).encode())
    assert claude_code.sniff(file)
    return file


def read(*rows: JSON, index: int = 0) -> NeutralRun:
    return claude_code.read(lines(list(rows)), index)


def types(found: NeutralRun) -> list[type]:
    return [type(step) for step in found.steps]


def kinds(found: NeutralRun) -> list[str]:
    return [note.kind for note in found.notes if "system prompt" not in note.text]


def tools(found: NeutralRun) -> list[ToolStep]:
    return [step for step in found.steps if isinstance(step, ToolStep)]


def models(found: NeutralRun) -> list[ModelStep]:
    return [step for step in found.steps if isinstance(step, ModelStep)]


def test_a_session_becomes_model_tool_and_human_steps() -> None:
    found = read({"type": "summary", "summary": "x"}, *SESSION, {"type": "queue-operation"})
    assert types(found) == [ModelStep, ToolStep, ModelStep, HumanStep, ModelStep]
    assert (found.input, found.trace_id) == ({"messages": [{"role": "user", "content": "hi"}]}, "s-1")
    assert (found.started_at, found.left_out) == ("2026-01-02T03:04:01.000Z", ("/0", "/8"))
    assert found.serving == {"returned_model": "m-1"}
    assert {"system", "tools"} <= set(found.absent)
    assert report_of(found, ()).mode == "replay"


def test_lines_of_one_message_are_one_model_call_with_all_its_content() -> None:
    first = models(read(*SESSION))[0]
    assert first.response["content"] == [text("so"), call("c1")]
    assert tools(read(*SESSION))[0].source == "/2/message/content/0"


def test_calls_that_ran_side_by_side_and_their_answers_all_belong_to_the_conversation() -> None:
    found = read(
        SESSION[0],
        line("a1", "u1", "assistant", [call("c1", 1)], 2, id="m1"),
        line("r1", "a1", "user", [result("c1", "one")], 3),
        line("a2", "a1", "assistant", [call("c2", 2)], 3, id="m1"),
        line("r2", "a2", "user", [result("c2", "two")], 4),
        line("a3", "r1", "assistant", [text("done")], 5),
    )
    assert [(step.arguments, step.value) for step in tools(found)] == [({"n": 1}, "one"), ({"n": 2}, "two")]
    assert (types(found), kinds(found)) == ([ModelStep, ToolStep, ToolStep, ModelStep], [])


def test_a_failed_answer_is_an_error() -> None:
    rows = [*SESSION[:3], line("r1", "a2", "user", [result("c1", "no", is_error=True)], 4)]
    assert tools(read(*rows))[0].error == {"kind": "error", "message": "no"}


def test_a_call_without_an_answer_is_a_step_without_one() -> None:
    found = read(*SESSION[:3])
    assert [step.answered for step in tools(found)] == [False]
    assert kinds(found) == ["call_without_result"]


def test_the_newest_branch_is_followed_and_the_other_is_noted() -> None:
    found = read(
        *SESSION[:5], line("u9", "a3", "user", "no", 8), line("a9", "u9", "assistant", [text("ok")], 9), *SESSION[5:]
    )
    assert [step.decision for step in found.steps if isinstance(step, HumanStep)] == ["yes"]
    assert [(note.kind, note.source) for note in found.notes if note.kind == "branch"] == [("branch", "/5")]


def test_subagents_are_runs_of_their_own() -> None:
    side = [
        line("s1", None, "user", "sub", 3, isSidechain=True),
        line("s2", "s1", "assistant", [text("ok")], 4, isSidechain=True),
    ]
    file = lines([*SESSION[:3], *side, *SESSION[3:]])
    assert [head.source for head in claude_code.heads(file)] == ["/0", "/3"]
    assert types(claude_code.read(file, 1)) == [ModelStep]
    assert "left_out" in kinds(claude_code.read(file, 0))
    assert len(tools(claude_code.read(file, 0))) == 1


def test_after_a_missing_line_nobody_knows_what_the_model_was_sent() -> None:
    found = read(*SESSION[:4], line("a3", "gone", "assistant", [text("done")], 5))
    assert [bool(step.request) for step in models(found)] == [True, False]
    assert (kinds(found), report_of(found, ()).replayable) == (["unresolved_reference"], 2)


def test_a_session_that_starts_with_an_answer_can_be_read_only() -> None:
    found = read(*({**row, "parentUuid": None} if row["uuid"] == "a1" else row for row in SESSION[1:]))
    assert (found.input, kinds(found), report_of(found, ()).mode) == ({"messages": []}, ["sequence_gap"], "forensic")


def test_a_conversation_that_was_summed_up_starts_anew() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b",
        "parentUuid": None,
        "logicalParentUuid": "a3",
    }
    found = read(*SESSION[:5], boundary, line("u3", "b", "user", "summary", 6, isCompactSummary=True),
                 line("a5", "u3", "assistant", [text("on")], 7))  # fmt: skip
    assert models(found)[-1].request == {"messages": [{"role": "user", "content": "summary"}]}
    assert (types(found)[-1], kinds(found)) == (ModelStep, ["sequence_gap"])


@pytest.mark.parametrize("more", [{"isMeta": True}, {"message": {"content": "<command-name>/x</command-name>"}}])
def test_what_the_client_put_in_was_said_by_nobody(more: JSON) -> None:
    found = read(*SESSION[:5], {**SESSION[5], **more}, SESSION[6])
    assert HumanStep not in types(found)


def test_an_error_that_stands_as_an_answer_is_a_failed_call() -> None:
    failed = {**SESSION[4], "isApiErrorMessage": True}
    failed["message"] = {**failed["message"], "model": "<synthetic>"}
    found = read(*SESSION[:4], failed)
    assert kinds(found) == ["failed_call"]
    assert found.serving == {"returned_model": "m-1"}


def test_the_stream_of_the_sdk_is_read_as_a_list_and_as_lines() -> None:
    stream = [
        {"type": "system", "subtype": "init", "session_id": "s-1", "tools": ["look"]},
        {"type": "user", "message": {"role": "user", "content": "hi"}},
        {"type": "assistant", "message": {"id": "m1", "model": "m-1", "content": [call("c1")]}, "session_id": "s-1"},
        {"type": "user", "message": {"content": [result("c1", "one")]}},
        {"type": "assistant", "message": {"content": [text("sub")]}, "parent_tool_use_id": "c1"},
        {"type": "result", "subtype": "success"},
    ]
    file = ForeignFile(json.dumps(stream).encode())
    assert claude_code.sniff(file)
    assert len(claude_code.heads(file)) == 2
    found = claude_code.read(file, 0)
    assert (types(found), found.left_out, found.ends_on_answer) == ([ModelStep, ToolStep], ("/0", "/5"), True)
    assert types(claude_code.read(lines(stream), 0)) == types(found)


def test_a_last_line_that_breaks_off_cuts_the_run() -> None:
    data = "\n".join(json.dumps(row) for row in SESSION).encode() + b'\n{"type": "user", "mess'
    found = claude_code.read(ForeignFile(data), 0)
    assert (len(found.steps), report_of(found, ()).mode) == (5, "prefix")


def test_a_line_that_stands_twice_is_read_once() -> None:
    assert types(read(*SESSION, SESSION[2], SESSION[3])) == types(read(*SESSION))


@pytest.mark.parametrize("document", [[], [1], [{"type": "user"}], [{"role": "user", "content": "x"}],
                                      [{"type": "message", "message": {"content": 1}}]])  # fmt: skip
def test_anything_else_is_not_recognised(document: JSON) -> None:
    assert not claude_code.sniff(ForeignFile(json.dumps(document).encode()))


def test_what_the_provider_ran_and_a_line_that_is_older_than_the_one_before_are_noted() -> None:
    own = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
    found = read(line("u1", None, "user", "hi", 5), line("a1", "u1", "assistant", [own, text("so")], 2))
    assert sorted((note.kind, note.source) for note in found.notes if note.source) == [
        ("clock_contradiction", "/1"),
        ("server_side", "/1/message/content/0"),
    ]
    assert tools(found) == []


def test_a_session_is_never_as_if_its_system_prompt_were_known() -> None:
    [told] = [note for note in read(*SESSION).notes if "system prompt" in note.text]
    assert (told.kind, told.boundary, bool(told.cost)) == ("content_lost", "model", True)
