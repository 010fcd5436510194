"""Controls: what a mutation may touch, and what runs on a control and on its mutation show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.fixture.findings import FixtureInvalid
from replaycases.replay.controls import MutationInvalid, judge, mutate
from replaycases.verdict.manifest import Manifest
from tests.replay.factories import fixture, tool_event
from tests.verdict.pairs import CASE, PATH, green, old, red, twice

CONTROL = json.dumps(fixture([tool_event(1, "look", value={"paid": 1})]).document).encode()


def operation(op: str = "replace", path: str = "/events/0/outcome/value/paid", value: Any = 0) -> dict[str, Any]:
    return {"op": op, "path": path, "value": value}


def patch(*operations: Any) -> bytes:
    return json.dumps(operations).encode()


def runs(*observations: Any) -> list[Manifest]:
    return [verified.manifest for verified in old(*observations)]


def test_a_mutation_changes_a_recorded_answer_and_nothing_else() -> None:
    mutated = json.loads(mutate(CONTROL, patch(operation())))
    original = json.loads(CONTROL)
    original["events"][0]["outcome"]["value"]["paid"] = 0
    assert mutated == original


def test_a_mutation_of_1_into_true_changes_something() -> None:
    assert json.loads(mutate(CONTROL, patch(operation(value=True))))["events"][0]["outcome"]["value"]["paid"] is True


@pytest.mark.parametrize(
    ("mutation", "pointer"),
    [
        (b"{", ""),
        (b"[]", ""),
        (b"{}", ""),
        (patch("x"), "/0"),
        (patch(operation(op="test")), "/0"),
        (patch(operation(op=["replace"])), "/0"),
        (patch({"op": "copy", "from": "/expected", "path": "/events/0/outcome/value"}), "/0"),
        (patch(operation(), operation(path="/expected/run_status/forbid/0")), "/1/path"),
        (patch(operation(path="/events/0/arguments")), "/0/path"),
        (patch(operation(path="/input/message")), "/0/path"),
        (patch(operation(path="/events/0/outcome/value/gone")), ""),
        (patch(operation(value=1)), ""),
        (patch(operation(value=1.0)), ""),
    ],
)
def test_what_is_no_change_of_a_recorded_answer_is_refused_with_its_place(mutation: bytes, pointer: str) -> None:
    with pytest.raises(MutationInvalid) as refused:
        mutate(CONTROL, mutation)
    assert refused.value.pointer == pointer
    assert refused.value.hint


def test_a_mutation_that_leaves_no_fixture_is_refused() -> None:
    with pytest.raises(FixtureInvalid):
        mutate(CONTROL, patch(operation(path="/events/0/outcome/type", value="maybe")))


@pytest.mark.parametrize(
    ("on_control", "on_mutation", "passed"),
    [
        (runs(*twice(green())), runs(*twice(red())), True),
        (runs(*twice(green())), None, None),
        (runs(*twice(green())), [], None),
        (runs(*twice(green())), runs(red(), green()), None),
        (runs(*twice(green())), runs(*twice(red(status="diverged", first_divergence=PATH))), None),
        (runs(green(), red()), runs(*twice(red())), False),
        (runs(green(), green(status="timed_out")), runs(*twice(red())), None),
        ([], runs(*twice(red())), None),
    ],
)
def test_a_control_passes_only_if_every_run_held_and_every_mutated_run_was_seen_to_fail(
    on_control: list[Manifest], on_mutation: list[Manifest] | None, passed: bool | None
) -> None:
    result = judge("neighbour", CASE, on_control, on_mutation)
    assert (result.control, result.passed) == ("neighbour", passed)
    assert result.reason
