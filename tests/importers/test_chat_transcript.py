from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from replaycases.importers import chat_transcript, reconstructed
from replaycases.importers.completeness import report_of
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.neutral import HumanStep, ModelStep, NeutralRun, ToolStep
from tests.importers.transcripts import answers, asks, call, says, system, transcript, user


def read(*messages: dict, run: int = 0, **head: object) -> NeutralRun:
    return chat_transcript.read(ForeignFile(transcript(*messages, **head)), run)


def tools(run: NeutralRun) -> list[ToolStep]:
    return [step for step in run.steps if isinstance(step, ToolStep)]


def kinds(run: NeutralRun) -> list[str]:
    return [note.kind for note in run.notes]


LOOKUP = (asks(call("look", {"id": 1})), answers("one"))


def test_a_conversation_becomes_model_tool_and_human_steps_in_order() -> None:
    run = read(system(), user("hi"), *LOOKUP, says("It is one. More?"), user("no"))
    assert [type(step) for step in run.steps] == [ModelStep, ToolStep, ModelStep, HumanStep]
    assert (run.system, run.input) == ("Help.", {"messages": [user("hi")]})
    human = run.steps[-1]
    assert isinstance(human, HumanStep)
    assert (human.question, human.decision) == ("It is one. More?", "no")


def test_a_request_is_the_transcript_before_the_answer_and_is_marked_as_reconstructed() -> None:
    run = read(system(), user("hi"), *LOOKUP, says("done"))
    model = run.steps[2]
    assert isinstance(model, ModelStep)
    assert model.reconstructed
    assert [message["role"] for message in model.request["messages"]] == ["system", "user", "assistant", "tool"]


@pytest.mark.parametrize("name", ["look", None])
def test_a_tool_message_in_a_request_names_the_tool_only_if_the_recorded_one_does(name: str | None) -> None:
    model = read(user("hi"), asks(call("look")), answers("one", name=name), says("done")).steps[2]
    assert isinstance(model, ModelStep)
    named = {} if name is None else {"name": name}
    assert model.request["messages"][2] == {"role": "tool", **named, "content": "one", "tool_call_id": "c"}


def test_a_tool_answer_stays_the_string_it_was_even_if_it_holds_json() -> None:
    assert tools(read(user("hi"), asks(call("look")), answers('{"a": 1}')))[0].value == '{"a": 1}'


def test_a_repeated_call_id_pairs_each_call_with_the_answer_next_to_it() -> None:
    run = read(user("hi"), asks(call("look", {"n": 1}, id="x")), answers("one", id="x"),
               asks(call("look", {"n": 2}, id="x")), answers("two", id="x"))  # fmt: skip
    assert [(step.arguments["n"], step.value) for step in tools(run)] == [(1, "one"), (2, "two")]


def test_parallel_calls_form_one_group_and_are_paired_by_id_where_ids_are_clear() -> None:
    run = read(user("hi"), asks(call("a", id="1"), call("b", id="2")), answers("of b", id="2"), answers("of a", id="1"))
    assert [(step.tool, step.value) for step in tools(run)] == [("a", "of a"), ("b", "of b")]
    assert len({step.group for step in tools(run)} - {None}) == 1


@given(st.lists(st.sampled_from(["x", "y"]), min_size=2, max_size=4), st.lists(st.sampled_from(["x", "z"]), min_size=4))
def test_ids_that_do_not_name_each_call_once_leave_the_pairing_to_order(called: list[str], answered: list[str]) -> None:
    assume(not (len(set(called)) == len(called) and set(called) == set(answered[: len(called)])))
    calls = [call("look", {"n": n}, id=name) for n, name in enumerate(called)]
    run = read(user("hi"), asks(*calls), *(answers(str(n), id=answered[n]) for n in range(len(called))))
    assert [step.value for step in tools(run)] == [str(step.arguments["n"]) for step in tools(run)]


def test_a_single_call_has_no_group() -> None:
    assert tools(read(user("hi"), *LOOKUP))[0].group is None


def test_calls_without_ids_are_read() -> None:
    assert tools(read(user("hi"), asks(call("look", id=None)), answers("one", id=None)))[0].value == "one"


def test_an_unanswered_last_call_is_a_step_without_an_answer_and_the_run_a_prefix() -> None:
    run = read(user("hi"), *LOOKUP, asks(call("look", {"id": 2})))
    assert [step.answered for step in tools(run)] == [True, False]
    assert kinds(run) == ["call_without_result"]
    assert (report_of(run, ()).mode, run.ends_on_answer) == ("prefix", False)


def test_a_run_that_ends_on_a_tool_answer_says_so() -> None:
    assert read(user("hi"), *LOOKUP).ends_on_answer
    assert not read(user("hi"), *LOOKUP, says("bye")).ends_on_answer


def test_what_the_file_names_is_taken_and_what_it_lacks_is_named() -> None:
    run = read(user("hi"), *LOOKUP, model="m-1", temperature=0, tools=[], reward=0.0)
    assert run.serving == {"requested_model": "m-1", "settings": {"temperature": 0}}
    assert run.tools == []
    assert set(run.absent) == {"usage", "identity", "clock", "random", "retrieval", "system"}
    assert run.left_out == ("/reward",)


@pytest.mark.parametrize("document", [
    {"messages": [user("hi")]},
    {"traj": [user("hi")]},
    [user("hi")],
    [{"traj": [user("hi")]}, {"messages": [user("hi")]}],
])  # fmt: skip
def test_a_transcript_is_recognised_by_content(document: object) -> None:
    assert chat_transcript.sniff(ForeignFile(json.dumps(document).encode()))


@pytest.mark.parametrize("document", [{}, [], {"messages": []}, {"messages": "x"}, "x", 1, None, [1], {"traj": [{}]}])
def test_anything_else_is_not_recognised(document: object) -> None:
    assert not chat_transcript.sniff(ForeignFile(json.dumps(document).encode()))


def test_a_talk_without_tools_is_read() -> None:
    run = read(user("hi"), says("hello"))
    assert [type(step) for step in run.steps] == [ModelStep]
    assert report_of(run, ()).mode == "replay"


def test_a_talk_in_which_the_agent_never_spoke_can_be_read_and_not_replayed() -> None:
    run = read(user("hi"))
    assert (run.input, report_of(run, ()).mode) == ({"messages": [user("hi")]}, "forensic")


def test_json_lines_are_the_runs_or_the_messages_of_one() -> None:
    run = [user("hi"), *LOOKUP]
    messages = ForeignFile(b"\n".join(json.dumps(message).encode() for message in run))
    several = ForeignFile(b"\n".join(transcript(*run) for _ in range(3)))
    assert [len(chat_transcript.heads(file)) for file in (messages, several)] == [1, 3]
    assert chat_transcript.read(messages, 0).steps[1].source == "/1/tool_calls/0"
    assert chat_transcript.read(several, 2).steps[1].source == "/2/messages/1/tool_calls/0"


def test_a_last_line_that_breaks_off_cuts_the_run() -> None:
    lines = b"\n".join(json.dumps(message).encode() for message in (user("hi"), *LOOKUP)) + b'\n{"role": "assis'
    run = chat_transcript.read(ForeignFile(lines), 0)
    assert (report_of(run, ()).mode, kinds(run)) == ("prefix", ["sequence_gap"])


def test_each_run_of_a_file_is_read_by_its_index() -> None:
    file = ForeignFile(json.dumps([{"traj": [user("hi"), *LOOKUP]}, {"traj": [user("ho"), *LOOKUP]}]).encode())
    assert [head.index for head in chat_transcript.heads(file)] == [0, 1]
    assert chat_transcript.read(file, 1).input == {"messages": [user("ho")]}


def test_a_call_left_unanswered_in_the_middle_is_a_step_without_an_answer() -> None:
    run = read(user("hi"), asks(call("look")), says("well"))
    assert [type(step) for step in run.steps] == [ModelStep, ToolStep, ModelStep]
    assert (tools(run)[0].answered, kinds(run)) == (False, ["call_without_result"])
    assert report_of(run, ()).replayable == 1


def test_an_answer_too_many_is_noted_with_its_place() -> None:
    run = read(user("hi"), *LOOKUP, answers("two"))
    assert [step.value for step in tools(run)] == ["one"]
    assert [(note.kind, note.source) for note in run.notes if note.kind == "result_without_call"] == [
        ("result_without_call", "/messages/3")
    ]


def test_an_answer_without_any_call_before_it_is_noted_with_its_place() -> None:
    run = read(user("hi"), answers("one"), says("done"))
    assert [(note.kind, note.source) for note in run.notes] == [("result_without_call", "/messages/1")]


def test_an_answer_that_names_another_tool_than_the_call_at_its_place_is_not_its_answer() -> None:
    run = read(user("hi"), asks(call("look", id=None)), answers("x", id=None, name="seek"))
    assert not tools(run)[0].answered
    assert sorted(kinds(run)) == ["call_without_result", "result_without_call"]


def test_two_things_said_by_the_user_without_an_answer_between_are_two_answers_of_a_person() -> None:
    run = read(user("hi"), says("yes?"), user("a"), user("b"), *LOOKUP)
    people = [(step.question, step.decision) for step in run.steps if isinstance(step, HumanStep)]
    assert people == [("yes?", "a"), ("yes?", "b")]


def test_what_a_person_says_while_tools_run_answers_no_question_and_is_noted() -> None:
    run = read(user("hi"), *LOOKUP, user("stop"), says("ok"))
    assert not [step for step in run.steps if isinstance(step, HumanStep)]
    assert [(note.kind, note.source) for note in run.notes] == [("left_out", "/messages/3")]


def test_a_late_system_message_stands_in_the_request_and_is_no_system_prompt() -> None:
    run = read(user("hi"), *LOOKUP, system(), says("done"))
    assert run.system is None
    last = run.steps[-1]
    assert isinstance(last, ModelStep)
    assert last.request["messages"][-1] == system()


def test_a_message_of_an_unknown_role_is_noted_and_no_step() -> None:
    run = read(user("hi"), {"role": "narrator", "content": "later"}, says("ok"))
    assert [(note.kind, note.source) for note in run.notes] == [("left_out", "/messages/1")]


@pytest.mark.parametrize("broken", ["x", {"id": "1"}, {"function": {"name": ""}}, {"function": {}}])
def test_what_should_be_a_call_and_is_none_is_noted(broken: object) -> None:
    run = read(user("hi"), {"role": "assistant", "content": None, "tool_calls": [broken]}, says("done"))
    assert [(note.kind, note.source) for note in run.notes] == [("content_lost", "/messages/1/tool_calls/0")]


def test_calls_that_are_objects_and_a_persons_own_tools_are_told_apart() -> None:
    mine = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "name": "look", "arguments": {"n": 1}}]}
    answer = {"role": "tool", "id": "1", "content": "one", "requestor": "assistant", "error": True}
    own = {"role": "user", "content": None, "tool_calls": [{"id": "2", "name": "reboot", "arguments": {}}]}
    back = {"role": "tool", "id": "2", "content": "ok", "requestor": "user"}
    messages = [user("hi"), mine, answer, own, back, says("done")]
    agent = {"llm": "m-1", "llm_args": {"temperature": 0}}
    document = {"info": {"agent_info": agent}, "simulations": [{"id": "a", "messages": messages}]}
    file = ForeignFile(json.dumps(document).encode())
    assert chat_transcript.sniff(file)
    assert [head.source for head in chat_transcript.heads(file)] == ["/simulations/0"]
    run = chat_transcript.read(file, 0)
    assert [(step.tool, step.arguments, step.error) for step in tools(run)] == [
        ("look", {"n": 1}, {"kind": "error", "message": "one"})
    ]
    assert [note.source for note in run.notes] == ["/simulations/0/messages/3", "/simulations/0/messages/4"]
    assert run.serving == {"requested_model": "m-1", "settings": {"temperature": 0}}


def test_requests_that_would_repeat_too_much_are_not_put_together_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reconstructed, "MAX_SENT", 3)
    run = read(user("hi"), *LOOKUP, says("more"), says("and more"))
    assert [bool(step.request) for step in run.steps if isinstance(step, ModelStep)] == [True, False, False]
    assert [(note.kind, note.source) for note in run.notes if note.boundary == "model"] == [("left_out", "/messages/3")]
    assert report_of(run, ()).replayable == 2


@pytest.mark.parametrize("raw", ["{", "[1]", '{"a":nan}', "NaN"])
def test_arguments_that_are_no_json_object_stay_the_text_that_they_are(raw: str) -> None:
    broken = call("look")
    broken["function"]["arguments"] = raw
    assert tools(read(user("hi"), asks(broken), answers("x")))[0].arguments == raw


def test_empty_arguments_are_a_call_without_any() -> None:
    empty = call("look")
    empty["function"]["arguments"] = ""
    assert tools(read(user("hi"), asks(empty), answers("x")))[0].arguments == {}


def test_settings_that_the_file_does_not_name_are_not_taken_to_be_none() -> None:
    assert read(user("hi"), *LOOKUP, model="m-1").serving == {"requested_model": "m-1"}
