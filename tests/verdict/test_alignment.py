from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from replaycases.verdict.alignment import Row, align, outcome_differences
from replaycases.verdict.manifest import Manifest, build
from replaycases.verdict.observation import Call, Observation
from tests.verdict.cases import call, crossing, facts, fixture_2, observed, tool_event

CASE = fixture_2(
    [tool_event(seq, "pay", {"k": "a"}, match={"ignore": ["/at"], "generated": ["/key"]}) for seq in range(1, 6)],
    {"boundary": ["s"], "run_status": {"id": "s", "forbid": ["crashed"]}},
    horizon=True,
)


def manifest(*calls: Call, **more: Any) -> Manifest:
    return build(CASE, observed(*calls, **more), facts())


def pay(seq: int | None, **arguments: Any) -> Call:
    return call("pay", arguments, seq=seq)


def places(rows: tuple[Row, ...]) -> list[tuple[int | None, int | None]]:
    return [(row.old, row.new) for row in rows]


def aligned(old: list[Call], new: list[Call]) -> tuple[Row, ...]:
    return align(CASE, manifest(*old), manifest(*new))


def test_calls_are_paired_by_the_event_they_were_selected_for() -> None:
    rows = aligned([pay(1), pay(2)], [pay(1), pay(2)])
    assert places(rows) == [(0, 0), (1, 1)]
    assert all(row.same for row in rows)


def test_a_call_that_one_side_lacks_is_a_gap() -> None:
    assert places(aligned([pay(1), pay(2), pay(3)], [pay(1), pay(3)])) == [(0, 0), (1, None), (2, 1)]
    assert places(aligned([pay(1), pay(3)], [pay(1), pay(2), pay(3), pay(4)])) == [(0, 0), (None, 1), (1, 2), (None, 3)]


def test_calls_of_a_parallel_group_pair_up_in_any_order() -> None:
    rows = aligned([pay(1), pay(2), pay(3)], [pay(2), pay(1), pay(3)])
    assert sorted(places(rows)) == [(0, 1), (1, 0), (2, 2)]


def test_calls_without_an_event_pair_up_in_the_order_they_came() -> None:
    (first, second) = aligned([pay(1), crossing("pay")], [pay(1), crossing("ask")])
    assert (second.old, second.new, second.differences[0].pointer) == (1, 1, "/tool")
    assert first.same


def test_a_difference_that_a_rule_hides_is_shown_apart_with_its_rule() -> None:
    (row,) = aligned([pay(1, at=1, key="x", n=1)], [pay(1, at=2, key="y", n=2)])
    assert [item.pointer for item in row.differences] == ["/arguments/n"]
    assert [item.rule for item in row.ignored] == ["ignore /at", "generated /key"]
    (quiet,) = aligned([pay(1, at=1)], [pay(1, at=2)])
    assert quiet.same


def test_a_difference_where_the_recording_lacks_a_part_is_shown_apart_too() -> None:
    lacking = fixture_2(
        [tool_event(1, "pay", {"note": "", "n": 1})],
        {"boundary": ["s"], "run_status": {"id": "s", "forbid": ["crashed"]}},
        missing=[{"pointer": "/events/0/arguments/note", "cost": "unknown"}],
    )
    old, new = (build(lacking, observed(pay(1, note=note, n=1)), facts()) for note in "ab")
    (row,) = align(lacking, old, new)
    assert (row.same, [item.rule for item in row.ignored]) == (True, ["missing /note"])


def test_outcomes_differ_by_field_and_absent_is_null() -> None:
    left = manifest(outcome={"status": "a", "action": None, "claims": ["x"], "message": "m"})
    right = manifest(outcome={"status": "b", "claims": ["x"], "message": "n"})
    assert [item.pointer for item in outcome_differences(left, right)] == ["/outcome/status", "/outcome/message"]
    assert outcome_differences(manifest(outcome=None), manifest(outcome={})) == ()


SEQS = st.lists(st.sampled_from([1, 2, 3, 4, 5, None]), max_size=8)


@settings(deadline=None)
@given(SEQS, SEQS)
def test_every_call_of_each_side_stands_in_exactly_one_row(old: list[int | None], new: list[int | None]) -> None:
    rows = aligned([pay(seq) for seq in old], [pay(seq) for seq in new])
    assert sorted(row.old for row in rows if row.old is not None) == list(range(len(old)))
    assert sorted(row.new for row in rows if row.new is not None) == list(range(len(new)))
    for row in rows:
        assert row.old is None or row.new is None or old[row.old] == new[row.new] == row.seq


@settings(deadline=None)
@given(SEQS)
def test_a_run_aligned_with_itself_has_no_gap(seqs: list[int | None]) -> None:
    run: Observation = observed(*(pay(seq) for seq in seqs))
    rows = align(CASE, build(CASE, run, facts()), build(CASE, run, facts()))
    assert all(row.same for row in rows)
