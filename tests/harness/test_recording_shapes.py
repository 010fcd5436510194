"""What the recorder lets into a recording is what the strict parser reads, and it reads the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.fixture import strict_json
from replaycases.fixture.findings import FixtureInvalid
from replaycases.harness.recording_shapes import MAX_DEPTH, json_fault

leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**54), 2**54)
    | st.floats()
    | st.sampled_from([2**53, 2**53 - 1, -(2**53), 1e22, 5e-324, 1e308, -0.0, 0.1, "\ud800", "\u2028", "\x00", "é"])
    | st.text(st.characters(codec=None), max_size=6)
)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
)


def parsed(value: Any) -> Any:
    try:
        return strict_json.parse(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    except FixtureInvalid:
        return None


@given(values)
def test_it_takes_exactly_what_the_strict_parser_reads(value: Any) -> None:
    holder = {"value": value}
    read = parsed(holder)
    assert (json_fault(holder) == "") is (read is not None)
    assert read is None or read == holder


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
def test_it_goes_as_deep_as_a_line_may(depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    assert (json_fault(value) == "") is (depth == MAX_DEPTH)


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    assert "nested deeper" in json_fault(value)


class Count(int):
    """A number by another name, as enumerations are."""


@pytest.mark.parametrize(("value", "well"), [({"n": Count(3)}, True), ({"n": Count(2**53)}, False), ({1: 1}, False)])
def test_subclasses_of_json_types_are_judged_by_what_they_are(value: Any, well: bool) -> None:
    assert (json_fault(value) == "") is well


def test_tuples_may_be_asked_and_not_answered() -> None:
    assert json_fault({"a": (1, 2)}, asked=True) == ""
    assert json_fault({"a": (1, 2)}) == "/a: a Python tuple is no JSON"


@pytest.mark.parametrize(
    ("value", "place"),
    [({"a/b": [1, float("nan")]}, "/a~1b/1: "), ([{"x": 2**53}], "/0/x: "), ("\udc00", "/: "), ({"\udc00": 1}, "/: ")],
)
def test_a_fault_names_its_place_and_not_its_value(value: Any, place: str) -> None:
    assert json_fault(value).startswith(place)
