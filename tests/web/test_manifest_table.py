"""Rows of the seamed table: gaps, ignored fields, left-over events, intervals."""

from __future__ import annotations

from typing import Any

from replaycases.fixture.model import Fixture
from replaycases.replay.ending import Ended
from replaycases.replay.session import Halt, ReplaySession
from replaycases.verdict.manifest import Manifest, build
from replaycases.web.manifest_table import sections
from replaycases.web.rows import Row, Section
from tests.verdict import cases

EVENTS = [
    cases.tool_event(1, "look", {"id": "a", "trace": "t-1"}, match={"ignore": ["/trace"]}),
    cases.tool_event(2, "mail", {"to": "x"}, optional=True),
    cases.tool_event(3, "pay", {"sum": 4}, effect=cases.effect("pay", accepted="unknown")),
]
EXPECTED: dict[str, Any] = {"status": {"id": "status", "one_of": ["open"]}, "boundary": ["status"]}
FIXTURE = cases.fixture_2(EVENTS, EXPECTED)

LOOK = ("look", {"id": "a", "trace": "t-1"})
LOOK_AGAIN = ("look", {"id": "a", "trace": "t-2"})
MAIL = ("mail", {"to": "x"})
PAY = ("pay", {"sum": 4})


def run(
    *calls: tuple[str, dict[str, Any]], status: str = "open", digest: str = cases.OLD, of: Fixture = FIXTURE
) -> Manifest:
    session = ReplaySession(of, serving=None, clock="injected")
    replies = [session.handle("session.start", {"protocol": 1})]
    replies += [session.handle("tool.call", {"tool": tool, "arguments": arguments}) for tool, arguments in calls]
    replies.append(session.handle("finish", {"message": "m", "status": status}))
    halted = any(isinstance(reply, Halt) for reply in replies)
    ended = Ended(cause="halted") if halted else Ended(cause="exit", exit_status=0)
    return build(of, session.observe(ended=ended), cases.facts(digest=digest))


def rows(old: Manifest, new: Manifest, section: str) -> list[Row]:
    return list(next(part for part in sections(FIXTURE, old, new) if part.id == section).rows)


def text(row: Row, side: str) -> str:
    cell = getattr(row, side)
    return cell.hole or "".join(part.text for part in cell.text.segments)


def test_a_call_that_only_old_made_is_a_gap_in_words_on_the_other_side() -> None:
    found = rows(run(LOOK, MAIL, PAY), run(LOOK, PAY), "calls")
    gap = next(row for row in found if row.anchor == "step-2")
    assert (gap.kind, gap.also) == ("only_old", "optional")
    assert text(gap, "new") == "Gap: the new version did not make this call"
    assert [row.anchor for row in found if row.anchor] == ["step-1", "step-2", "step-3"]


def test_a_call_that_only_new_made_is_a_gap_on_the_old_side() -> None:
    gap = next(row for row in rows(run(LOOK, PAY), run(LOOK, MAIL, PAY), "calls") if row.anchor == "step-2")
    assert gap.kind == "only_new"
    assert text(gap, "old") == "Gap: the old version did not make this call"


def test_the_last_equal_call_before_the_sides_part_is_context_and_the_others_are_not() -> None:
    ended = rows(run(LOOK, MAIL, PAY), run(LOOK, MAIL, PAY, status="done"), "calls")
    assert [row.anchor for row in ended if row.always] == ["step-3"]
    parted = rows(run(LOOK, MAIL, PAY), run(LOOK, PAY), "calls")
    assert [row.anchor for row in parted if row.always and row.kind == "equal"] == ["step-1"]
    at_once = rows(run(MAIL, PAY), run(LOOK, MAIL, PAY), "calls")
    assert not any(row.always for row in at_once if row.kind == "equal")


def test_of_a_long_call_the_context_is_the_answer_and_every_row_shows_it_whole() -> None:
    asked = {"id": "x" * 1000}
    fixture = cases.fixture_2([cases.tool_event(1, "look", asked)], EXPECTED)
    old, new = (run(("look", asked), status=status, of=fixture) for status in ("open", "done"))
    section = next(part for part in sections(fixture, old, new) if part.id == "calls")
    assert "xxx" in text(section.rows[0], "old")
    short = section.only_differences().rows[0]
    assert text(short, "old").startswith("result ")
    assert short.old.note == "what it asked is equal and long"


def test_an_ignored_field_is_a_grey_row_with_its_rule_and_changes_nothing() -> None:
    found = rows(run(LOOK, PAY), run(LOOK_AGAIN, PAY), "calls")
    assert [row.kind for row in found if row.anchor == "step-1"] == ["equal"]
    ignored = [row for row in found if row.kind == "ignored"]
    assert [(row.name, row.also) for row in ignored] == [("/trace", "rule: ignore /trace")]
    assert (text(ignored[0], "old"), text(ignored[0], "new")) == ('"t-1"', '"t-2"')
    assert ignored[0].always


def test_an_optional_event_that_was_passed_over_counts_against_nobody() -> None:
    (row,) = rows(run(LOOK, MAIL, PAY), run(LOOK, PAY), "unconsumed")
    assert (row.name, row.kind) == ("event 2", "only_new")
    assert "does not count against this side" in text(row, "new")


def test_a_required_event_that_was_left_over_is_said_to_be_required() -> None:
    found = rows(run(LOOK, MAIL, PAY), run(LOOK, MAIL), "unconsumed")
    assert [text(row, "new") for row in found] == ["left over: the recording requires it"]


def test_an_effect_that_may_have_been_accepted_is_an_interval() -> None:
    (row,) = rows(run(LOOK, PAY), run(LOOK, PAY), "effects")
    assert text(row, "old") == "perhaps 1: whether 1 call was accepted is not known"
    assert row.always


def test_a_diverging_call_shows_both_arguments_and_that_it_was_not_answered() -> None:
    row = next(
        row
        for row in rows(run(LOOK, MAIL, PAY), run(LOOK, MAIL, ("pay", {"sum": 5})), "calls")
        if row.anchor == "step-3"
    )
    assert row.kind == "changed"
    assert "not answered: the run ended here" in text(row, "new")


def test_what_a_side_could_not_reach_is_downstream_and_not_compared() -> None:
    found = [row for row in rows(run(LOOK, MAIL, PAY), run(("look", {"id": "b"})), "calls") if row.anchor]
    assert [(row.anchor, row.kind) for row in found] == [
        ("step-1", "changed"),
        ("step-2", "downstream"),
        ("step-3", "downstream"),
    ]
    assert text(found[1], "new") == "Downstream of the divergence: this side had been ended"


def test_another_tool_at_an_event_is_a_gap_beside_it_and_no_pair() -> None:
    found = rows(run(LOOK, MAIL, PAY), run(LOOK, MAIL, ("other", {})), "calls")
    assert [(row.name, row.kind) for row in found if row.differs] == [("3 pay", "only_old"), ("? other", "only_new")]


def test_the_boundary_stands_first_and_is_never_hidden() -> None:
    same = run(LOOK, PAY), run(LOOK, PAY, digest=cases.NEW)
    hidden: list[Section] = [part.only_differences() for part in sections(FIXTURE, *same)]
    assert [part.id for part in hidden][:2] == ["boundary", "checks"]
    assert [row.name for row in hidden[0].rows] == ["boundary_passed", "run status"]
    assert hidden[1].rows == ()
    assert hidden[1].hidden == 1


def test_a_run_without_a_report_says_so() -> None:
    old, new = run(LOOK, PAY), run(("other", {}))
    found = {row.name: row for row in rows(old, new, "outcome")}
    assert text(found["finish"], "new") == "the run ended without a report"
    assert text(found["message"], "new") == "not reported"
