from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaycases.fixture.canonical import canonical_bytes
from replaycases.verdict import differences as module
from replaycases.verdict.differences import differences

SMALL = st.sampled_from([None, True, False, 0, 1, 1.0, "", "1", "a"])
VALUES = st.recursive(
    SMALL, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
)


@settings(deadline=None)
@given(VALUES, VALUES)
def test_nothing_differs_exactly_where_the_canonical_forms_are_equal(left: Any, right: Any) -> None:
    assert (not differences(left, right).found) is (canonical_bytes(left) == canonical_bytes(right))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ({"a": 1}, {"a": 2}, [("/a", None)]),
        ({"a": 1}, {"a": True}, [("/a", None)]),
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {}, [("/a", "expected")]),
        ({}, {"a": None}, [("/a", "actual")]),
        ([1, 2], [1], [("/1", "expected")]),
        ({"a/b": {"~": 1}}, {"a/b": {"~": 2}}, [("/a~1b/~0", None)]),
        ({"a": 1, "b": 1}, {"b": 2, "a": 2}, [("/a", None), ("/b", None)]),
        ({"a": []}, {"a": {}}, [("/a", None)]),
    ],
)
def test_a_difference_has_its_pointer_and_says_which_side_lacks_it(left: Any, right: Any, expected: Any) -> None:
    assert [(item.pointer, item.only) for item in differences(left, right).found] == expected


def test_too_many_differences_are_cut_and_said_to_be() -> None:
    found = differences(list(range(1000)), list(range(1, 1001)))
    assert (len(found.found), found.cut) == (module.MOST_DIFFERENCES, True)


def test_values_too_large_to_compare_are_cut_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PLACES", 10)
    assert differences([0] * 20, [0] * 20).cut
    assert not differences([0] * 5, [0] * 5).cut
