from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from replaycases.importers import chat_transcript
from replaycases.importers.findings import ImportRefused
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.neutral import HumanStep, ModelStep, NeutralRun, ToolStep
from tests.importers.transcripts import answers, asks, call, says, system, transcript, user


def read(*messages: dict, run: int = 0, **head: object) -> NeutralRun:
    return chat_transcript.read(ForeignFile(transcript(*messages, **head)), run)


def tools(run: NeutralRun) -> list[ToolStep]:
    return [step for step in run.steps if isinstance(step, ToolStep)]


def refusal(*messages: dict) -> ImportRefused:
    with pytest.raises(ImportRefused) as caught:
        read(*messages)
    return caught.value


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


def test_an_unanswered_last_call_cuts_the_run_and_says_so() -> None:
    run = read(user("hi"), *LOOKUP, asks(call("look", {"id": 2})))
    assert run.cut
    assert isinstance(run.steps[-1], ModelStep)


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


def test_no_tool_calls_is_refused() -> None:
    assert refusal(user("hi"), says("hello")).finding.id == "import.no-tool-calls"
    assert refusal(user("hi")).finding.id == "import.no-tool-calls"


def test_each_run_of_a_file_is_read_by_its_index() -> None:
    file = ForeignFile(json.dumps([{"traj": [user("hi"), *LOOKUP]}, {"traj": [user("ho"), *LOOKUP]}]).encode())
    assert [head.index for head in chat_transcript.heads(file)] == [0, 1]
    assert chat_transcript.read(file, 1).input == {"messages": [user("ho")]}


def test_a_call_left_unanswered_in_the_middle_is_refused_with_its_place() -> None:
    finding = refusal(user("hi"), asks(call("look")), says("well")).finding
    assert (finding.id, finding.pointer) == ("import.unanswered", "/messages/1")


def test_an_answer_too_many_is_refused_with_its_place() -> None:
    finding = refusal(user("hi"), *LOOKUP, answers("two")).finding
    assert (finding.id, finding.pointer) == ("import.unpaired", "/messages/3")


def test_an_answer_that_names_another_tool_than_the_call_at_its_place_is_refused() -> None:
    assert refusal(user("hi"), asks(call("look")), answers("x", name="seek")).finding.id == "import.unpaired"


def test_two_things_said_by_the_user_without_an_answer_between_are_refused() -> None:
    assert refusal(user("hi"), says("yes?"), user("a"), user("b"), *LOOKUP).finding.id == "import.order"


def test_a_late_system_message_is_refused() -> None:
    assert refusal(user("hi"), *LOOKUP, system()).finding.id == "import.order"


@pytest.mark.parametrize("raw", ["{", "[1]", '{"a":1,"a":2}', "NaN"])
def test_arguments_that_no_tool_can_have_been_called_with_are_refused(raw: str) -> None:
    broken = call("look")
    broken["function"]["arguments"] = raw
    finding = refusal(user("hi"), asks(broken), answers("x")).finding
    assert (finding.id, finding.pointer) == ("import.arguments", "/messages/1/tool_calls/0/function/arguments")


def test_empty_arguments_are_a_call_without_any() -> None:
    empty = call("look")
    empty["function"]["arguments"] = ""
    assert tools(read(user("hi"), asks(empty), answers("x")))[0].arguments == {}


def test_a_refusal_quotes_no_value_of_the_file() -> None:
    secret = call("look")
    secret["function"]["arguments"] = "my-secret"
    assert "my-secret" not in str(refusal(user("hi"), asks(secret), answers("x")))


def test_settings_that_the_file_does_not_name_are_not_taken_to_be_none() -> None:
    assert read(user("hi"), *LOOKUP, model="m-1").serving == {"requested_model": "m-1"}
