"""What a redaction must leave as it was, and what it may change: see `verdict.behaviour`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaycases.fixture.model import Fixture
from replaycases.verdict.behaviour import behaviour_of, differences
from replaycases.verdict.manifest import Manifest, build
from replaycases.verdict.observation import Call, Divergence, Observation
from tests.verdict.cases import call, effect, facts, fixture_2, model_call, observed, tool_event


def recording(first: str = "a", second: str = "b", *, decision: str = "allow") -> Fixture:
    guard = {"action": "sign", "decision": decision}
    retry = {
        "tool": "ship",
        "arguments": {"key": first, "again": True},
        "outcome": {"type": "result", "value": {}},
        "effect": effect("ship", key="/key"),
        "origin": "authored",
    }
    return fixture_2(
        [
            tool_event(1, "ship", {"key": first}, effect=effect("ship", key="/key"), guard=guard),
            tool_event(2, "ship", {"key": second}, effect=effect("ship", key="/key"), alternatives=[retry]),
            tool_event(3, "note", {"key": "n"}, optional=True, effect=effect("note", key="/key")),
            tool_event(4, "look"),
        ],
        {
            "boundary": ["action_counts.ship"],
            "action_counts": {"ship": {"min": 1, "max": 1}},
            "status": {"id": "status", "one_of": ["done"]},
        },
    )


NOTE, LOOK = call("note", {"key": "n"}, seq=3), call("look", seq=4)
DONE = {"status": "done", "message": "Shipped."}
LEFT = Divergence(kind="arguments", boundary="tool", seq=2, call=1, expected="a", actual="b", message="a, not b")


def ran(*calls: Call, first: str = "a", second: str = "b", **more: Any) -> Observation:
    ships = (call("ship", {"key": first}, seq=1), call("ship", {"key": second}, seq=2))
    return observed(*ships, *(calls or (LOOK,)), **{"outcome": DONE, **more})


def written(observation: Observation, fixture: Fixture | None = None) -> Manifest:
    return build(fixture or recording(), observation, facts())


def with_calls(*calls: Call) -> Observation:
    return replace(ran(), calls=calls)


SAME = written(ran())
FIRST, SECOND, THIRD = ran().calls

values = st.text(max_size=8)


@given(first=values, second=values, message=st.text(min_size=1, max_size=20))
@settings(max_examples=25)
def test_values_that_are_replaced_the_same_way_everywhere_leave_it_as_it_was(
    first: str, second: str, message: str
) -> None:
    equal = first == second
    redacted = written(
        ran(first=first, second=second, outcome={**DONE, "message": message}), recording(first=first, second=second)
    )
    assert (behaviour_of(redacted) == behaviour_of(SAME)) is not equal
    assert bool(differences(SAME, redacted)) is equal


def test_what_was_compared_and_printed_and_said_is_no_part_of_it() -> None:
    compared = replace(FIRST, compared=7, ignored_leaves=2, ignored=("/key",))
    said = replace(
        with_calls(compared, SECOND, THIRD),
        reason="alice",
        stderr="bob",
        exit_status=3,
        reads={"clock": 2, "random": {"carol": 1}},
    )
    assert behaviour_of(written(said)) == behaviour_of(SAME)
    prompts = [replace(model_call(seq=1), prompt_delta=delta, params={"request": delta}) for delta in (0.0, 0.2)]
    assert len({behaviour_of(written(with_calls(prompt))) for prompt in prompts}) == 1


OTHER: dict[str, Observation] = {
    "a call dropped": with_calls(FIRST, SECOND),
    "a call added": ran(NOTE, LOOK),
    "calls in another order": with_calls(SECOND, FIRST, THIRD),
    "the same tool by another event": with_calls(FIRST, SECOND, replace(THIRD, seq=3)),
    "an alternative": with_calls(FIRST, replace(SECOND, alternative=0), THIRD),
    "a call not answered": with_calls(FIRST, SECOND, replace(THIRD, seq=None, answered=False)),
    "a call past the horizon": with_calls(FIRST, SECOND, replace(THIRD, seq=None, answered=False, crossing=True)),
    "another tool": with_calls(FIRST, SECOND, replace(THIRD, params={"tool": "peek", "arguments": {}})),
    "another boundary": with_calls(FIRST, SECOND, model_call(seq=4)),
    "another status": ran(status="decided"),
    "another result of a check": ran(outcome={**DONE, "status": "lost"}),
    "a relation lost": ran(second="a"),
    "something left over": ran(unconsumed=(4,)),
    "something passed over": ran(optional_skipped=(3,)),
    "left the recording": ran(first_divergence=LEFT),
    "nothing said": ran(outcome={"status": "done"}),
    "never finished": ran(outcome=None, status="crashed"),
    "another clock": ran(clock="frozen"),
}


@pytest.mark.parametrize("case", OTHER)
def test_whatever_else_a_run_does_is_another_behaviour_and_is_told(case: str) -> None:
    other = written(OTHER[case])
    assert behaviour_of(other) != behaviour_of(SAME)
    assert differences(SAME, other)


def pair(name: str) -> tuple[Manifest, Manifest]:
    unanswered = replace(NOTE, seq=None, answered=False)
    return {
        "counts of actions": (
            written(ran(NOTE, NOTE)),
            written(ran(NOTE, call("note", {"key": "m"}, seq=3))),
        ),
        "decisions": (SAME, written(ran(), recording(decision="deny"))),
        "how a call ended": (written(ran(unanswered)), written(ran(replace(unanswered, crossing=True)))),
        "boundaries": (
            written(ran(model_call(seq=4))),
            written(ran(replace(model_call(seq=4), boundary="human", params={"question": ""}))),
        ),
    }[name]


@pytest.mark.parametrize("only", ["counts of actions", "decisions", "how a call ended", "boundaries"])
def test_each_part_counts_by_itself(only: str) -> None:
    left, right = pair(only)
    assert behaviour_of(left) != behaviour_of(right)
    assert len(differences(left, right)) == 1


def test_where_and_how_often_it_left_the_recording_counts_and_what_stood_there_does_not() -> None:
    left = written(ran(first_divergence=LEFT, status="diverged"))
    renamed = replace(LEFT, expected="c", actual="d", pointer="/alice", message="c, not d", nearest={"tool": "eve"})
    assert behaviour_of(written(ran(first_divergence=renamed, status="diverged"))) == behaviour_of(left)
    later = written(ran(first_divergence=replace(LEFT, call=2), status="diverged"))
    assert differences(left, later) == [
        "It left the recording at call 2 (tool, event 2: arguments), now call 3 (tool, event 2: arguments)."
    ]


def test_a_reviewer_reads_which_check_which_call_and_which_action() -> None:
    fixed = with_calls(FIRST, replace(SECOND, alternative=0, params={"tool": "ship", "arguments": {"key": "a"}}))
    assert differences(SAME, written(replace(fixed, unconsumed=(4,)))) == [
        "Check action_counts.ship: violated, now held.",
        "Call 2: tool ship, answered by event 2, now tool ship, answered by alternative 1 of event 2 (3 calls, now 2).",
        "Effects of ship: 2, now 1.",
        "Events left over: nothing, now 4.",
    ]
