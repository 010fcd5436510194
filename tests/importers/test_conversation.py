from __future__ import annotations

from typing import Any

import pytest

from replaycases.importers.conversation import assemble
from replaycases.importers.exchanges import AgentTool, AskedCall, GivenAnswer, ModelExchange, Turn
from replaycases.importers.neutral import HumanStep, ModelStep, ToolStep

LOOK = AskedCall(source="/c", tool="look", arguments={"n": 1}, call_id="x")


def asks(*calls: AskedCall) -> Turn:
    return Turn(role="assistant", raw={"role": "assistant", "calls": [call.tool for call in calls]}, calls=calls)


def says(text: str) -> Turn:
    return Turn(role="assistant", raw={"role": "assistant", "content": text}, content=text)


def user(text: str) -> Turn:
    return Turn(role="user", raw={"role": "user", "content": text}, content=text)


def told(*answers: GivenAnswer) -> Turn:
    return Turn(role="tool", raw={"role": "tool"}, answers=answers)


def answer(value: Any, call_id: str | None = "x") -> GivenAnswer:
    return GivenAnswer(source="/a", value=value, call_id=call_id)


def exchange(*sent: Turn, asked: tuple[AskedCall, ...] = ()) -> ModelExchange:
    return ModelExchange(step=ModelStep(source="/m", request={}), sent=sent, asked=asked)


def ran(n: int, call_id: str | None = None, value: str = "ran") -> ToolStep:
    return ToolStep(source="/t", tool="look", arguments={"n": n}, value=value, call_id=call_id)


def tools(*recorded: Any) -> list[ToolStep]:
    return [step for step in assemble(recorded).steps if isinstance(step, ToolStep)]


def test_a_call_is_answered_by_what_the_next_request_says_of_it() -> None:
    assert tools(exchange(user("hi"), asked=(LOOK,)), exchange(user("hi"), asks(LOOK), told(answer("one"))))[
        0
    ].value == ("one")


def test_an_answer_of_which_only_the_frame_was_recorded_is_none() -> None:
    frame = GivenAnswer(source="/a", call_id="x", answered=False)
    found = assemble([exchange(user("hi"), asked=(LOOK,)), exchange(user("hi"), asks(LOOK), told(frame))])
    assert [step.answered for step in found.steps if isinstance(step, ToolStep)] == [False]
    assert [note.kind for note in found.notes] == ["call_without_result"]


def test_a_call_without_its_arguments_takes_those_of_its_run_and_is_not_recorded_without_them() -> None:
    bare = AskedCall(source="/c", tool="look", arguments=None, call_id="x")
    known, unknown = tools(exchange(asked=(bare,)), ran(1, "x")), assemble([exchange(user("hi"), asked=(bare,))])
    assert [(step.arguments, step.answered) for step in known] == [({"n": 1}, True)]
    assert [note.kind for note in unknown.notes] == ["call_without_result", "content_lost"]


def test_the_same_call_made_twice_has_its_own_answer_each_time() -> None:
    first = (user("hi"), asks(LOOK), told(answer("one")))
    second = (*first, asks(LOOK), told(answer("two")))
    found = tools(exchange(user("hi"), asked=(LOOK,)), exchange(*first, asked=(LOOK,)), exchange(*second))
    assert [step.value for step in found] == ["one", "two"]


def test_a_tool_run_with_the_id_of_the_call_is_its_own_wherever_it_stands() -> None:
    found = tools(exchange(asked=(LOOK,)), ran(1, value="other"), ran(1, "x", value="own"))
    assert [step.value for step in found] == ["own", "other"]


def test_without_ids_the_run_with_the_same_arguments_comes_first_and_the_guess_is_noted() -> None:
    call = AskedCall(source="/c", tool="look", arguments={"n": 2})
    assembled = assemble((exchange(asked=(call,)), ran(1, value="one"), ran(2, value="two")))
    assert [step.value for step in assembled.steps if isinstance(step, ToolStep)] == ["two", "one"]
    assert [note.kind for note in assembled.notes] == ["guessed_pairing"]


def test_a_call_without_an_answer_is_a_step_and_a_note() -> None:
    assembled = assemble((exchange(asked=(LOOK,)),))
    assert [step.answered for step in assembled.steps] == [True, False]
    assert [note.kind for note in assembled.notes] == ["call_without_result"]


@pytest.mark.parametrize("call_id", ["x", "other"], ids=["its model call asked for it", "no model call claims it"])
def test_a_tool_run_without_an_answer_is_a_step_and_a_note(call_id: str) -> None:
    run = ToolStep(source="/t", tool="other", arguments={}, answered=False, call_id=call_id)
    whole = (user("hi"), asks(LOOK), told(answer("one")))
    asked = AskedCall(source="/c", tool="other", arguments={}, call_id="x") if call_id == "x" else LOOK
    assembled = assemble((exchange(user("hi"), asked=(asked,)), run, *([] if call_id == "x" else [exchange(*whole)])))
    found = [step.source for step in assembled.steps if isinstance(step, ToolStep) and not step.answered]
    assert [(note.kind, note.source) for note in assembled.notes] == [("call_without_result", found[0])]


def test_an_agent_that_is_called_as_a_tool_is_no_step_and_what_it_called_is() -> None:
    agent = AgentTool(source="/g", tool="look", arguments={"n": 1}, call_id="x")
    assembled = assemble((exchange(asked=(LOOK,)), agent, exchange(user("sub"))))
    assert [type(step) for step in assembled.steps] == [ModelStep, ModelStep]
    assert [note.kind for note in assembled.notes] == ["left_out"]


def test_a_request_that_is_sent_again_repeats_nobody() -> None:
    talk = (user("hi"), says("yes?"), user("go"))
    people = [step for step in assemble((exchange(*talk), exchange(*talk))).steps if isinstance(step, HumanStep)]
    assert [(step.question, step.decision) for step in people] == [("yes?", "go")]


def test_the_same_words_at_another_place_are_said_again() -> None:
    first = (user("hi"), says("yes?"), user("go"))
    second = (*first, says("yes?"), user("go"))
    people = [step for step in assemble((exchange(*first), exchange(*second))).steps if isinstance(step, HumanStep)]
    assert len(people) == 2


def named(*ids: str) -> tuple[AskedCall, ...]:
    return tuple(AskedCall(source="/c", tool="look", arguments={"n": n}, call_id=id) for n, id in enumerate(ids))


def test_of_two_answers_to_the_same_request_the_one_that_was_followed_has_the_tools_answer() -> None:
    first, second = named("x"), named("y")
    later = exchange(user("hi"), asks(*first), told(answer("one")))
    found = tools(exchange(user("hi"), asked=first), exchange(user("hi"), asked=second), later)
    assert [(step.call_id, step.value, step.answered) for step in found] == [("x", "one", True), ("y", None, False)]


def test_without_an_id_that_tells_the_last_of_two_same_requests_was_followed() -> None:
    later = exchange(user("hi"), asks(LOOK), told(answer("one")))
    found = tools(exchange(user("hi"), asked=(LOOK,)), exchange(user("hi"), asked=(LOOK,)), later)
    assert [step.answered for step in found] == [False, True]


def test_a_request_that_is_sent_again_does_not_answer_what_its_own_answer_asks_for() -> None:
    def told_once() -> tuple[Turn, ...]:
        return (user("hi"), asks(LOOK), told(answer("one")))

    found = tools(exchange(user("hi"), asked=(LOOK,)), exchange(*told_once(), asked=(LOOK,)), exchange(*told_once()))
    assert [step.answered for step in found] == [True, False]


def test_calls_that_were_asked_for_together_and_sent_back_one_by_one_are_found_by_their_ids() -> None:
    one, two = named("x", "y")
    later = exchange(user("hi"), asks(one), told(answer("1", "x")), asks(two), told(answer("2", "y")))
    assert [step.value for step in tools(exchange(user("hi"), asked=(one, two)), later)] == ["1", "2"]
