from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.fixture import strict_json
from replaycases.fixture.pointer import ABSENT, resolve
from replaycases.web import check_words, difference_rows, document_rows
from tests import factories

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=6), inner, max_size=5),
    max_leaves=40,
)


def document(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(factories.fixture(**changes))
    return found


def event(seq: int, **more: Any) -> dict[str, Any]:
    answer = {"type": "result", "value": {"state": "unknown"}}
    call = {"attempt": f"a-{seq}", "tool": "refund.lookup", "arguments": {"order": f"o-{seq}"}, "outcome": answer}
    return {"seq": seq, "boundary": "tool", **call, **more}


@given(st.dictionaries(st.sampled_from(["input", "a/b", "case_id", "serving"]), VALUES))
def test_every_row_stands_where_it_says_and_none_is_missing(found: dict[str, Any]) -> None:
    rows = document_rows.places(found)
    for row in rows:
        assert resolve(found, row.pointer) == row.value
    index = document_rows.Index(rows)
    for key in found:
        assert index.row_of(f"/{key.replace('/', '~1')}") is not None


@given(VALUES)
def test_what_is_told_is_the_value(value: Any) -> None:
    told = document_rows.told(value)
    assert told == value if isinstance(value, str) and "\n" in value else json.loads(told) == value


@given(VALUES)
def test_a_document_to_edit_reads_back_as_it_was(value: Any) -> None:
    assert json.loads(document_rows.as_json(value)) == value


def test_a_place_within_a_row_is_shown_by_it_and_one_around_rows_by_the_first_of_them() -> None:
    rows = document_rows.places(document(input={"order": "o-1"}, events=[event(1), event(2)]))
    index = document_rows.Index(rows)
    for pointer, shown in (
        ("/events/1/outcome/value/state", "/events/1/outcome"),
        ("/events/1", "/events/1/arguments"),
        ("/events/1/attempt", "/events/1/arguments"),
        ("/events", "/events/0/arguments"),
        ("/input", "/input/order"),
    ):
        at = index.row_of(pointer)
        assert at is not None
        assert rows[at].pointer == shown
    assert index.row_of("") is None
    assert index.row_of("/nowhere") is None


def test_a_name_too_long_for_a_heading_has_a_row() -> None:
    rows = document_rows.places(document(events=[event(1, tool="t" * 5000)]))
    assert "/events/0/tool" in [row.pointer for row in rows]


def test_an_event_put_in_between_folds_those_that_only_moved() -> None:
    old = document(events=[event(1), event(2)])
    new = document(events=[event(1), {**event(9), "seq": 2}, {**event(2), "seq": 3}])
    found = difference_rows.compare(old, new)
    assert [(place.of.part.title, place.word) for place in found.places()] == [("Event 2", "added")]
    assert (found.renumbered, found.renumbered_after) == (1, 1)


def test_equal_parts_are_counted_where_they_are_folded() -> None:
    old, new = document(), document(identity={"subject": "c-2"})
    found = difference_rows.compare(old, new)
    assert (found.count, found.parts[0].before, found.after) == (1, 2, 2)
    assert found.equal_parts == 4


def test_each_difference_names_its_place_in_the_new_document() -> None:
    old = document(events=[event(1), event(2)])
    new = document(events=[event(2, arguments={"order": "x"})])
    places = difference_rows.compare(old, new).places()
    assert [place.pointer for place in places] == ["", "/events/0/arguments/order"]
    assert resolve(new, places[1].pointer) is not ABSENT


def test_a_change_of_version_is_told_as_parts_that_came_and_went() -> None:
    old = {**document(), "schema_version": "1.0"}
    old["tool_events"] = old.pop("events")
    titles = [part.part.title for part in difference_rows.compare(old, document()).parts]
    assert titles == ["Head", "Event 1", "Event 1"]


@pytest.mark.parametrize(
    ("expected", "sentence"),
    [
        ({"action_counts": {"refund": {"min": 1, "max": 1}}}, "The action “refund” happens exactly once."),
        ({"action_counts": {"refund": {"max": 0}}}, "The action “refund” never happens."),
        ({"action_counts": {"refund": {"max": 2}}}, "The action “refund” happens at most twice."),
        (
            {"status": {"id": "s", "one_of": ["open", None]}},
            "The workflow reports as its status “open” or no status at all.",
        ),
        ({"limits": {"id": "l", "turns": 3}}, "The run makes at most 3 model calls."),
        ({"run_status": {"id": "r", "forbid": ["crashed"]}}, "The run does not end as crashed."),
        (
            {"tool_sequence": {"id": "t", "tools": ["a", "b"], "mode": "exact"}},
            "The run calls exactly these tools, in this order: “a”, “b”.",
        ),
    ],
)
def test_a_check_is_told_in_words(expected: dict[str, Any], sentence: str) -> None:
    known = json.loads(factories.fixture())["expected"]
    said = document(expected={**known, **expected})
    assert sentence in [check.sentence for check in check_words.told(said, {})]


def test_the_checks_of_the_boundary_come_first_with_their_rules() -> None:
    first, second = check_words.told(document(), {})
    assert (first.id, first.is_boundary, first.patterns) == ("completed", True, ("(?i)was completed",))
    assert not second.is_boundary


def test_a_row_of_ten_thousand_events_is_found_without_reading_them_again() -> None:
    many = document(events=[event(n) for n in range(1, 10_001)])
    rows = document_rows.places(strict_json.parse(json.dumps(many).encode()))
    index = document_rows.Index(rows)
    assert rows[index.row_of("/events/9999/outcome/value") or 0].pointer == "/events/9999/outcome"
