"""A fixture cannot be bent until the pair is green: it is refused, or the label says what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from replaycases.cli.compare import judge
from replaycases.cli.main import main
from replaycases.fixture.load import load_fixture
from replaycases.verdict.labels import Label
from tests.honesty.broken_fixtures import JUDGED, REFUSED, Broken
from tests.honesty.court import Court, assert_right, verdict_on
from tests.honesty.worlds import REFUND


@pytest.mark.parametrize("broken", REFUSED, ids=lambda broken: broken.name)
def test_a_fixture_that_would_hide_something_is_invalid(broken: Broken) -> None:
    assert_right(verdict_on(broken.document, lambda _: ([], [])), broken.label, broken.because)


@pytest.mark.parametrize("broken", JUDGED, ids=lambda broken: broken.name)
def test_a_bent_expectation_gets_its_right_label(broken: Broken, court: Court) -> None:
    world = broken.world
    fixed = world.workflow(court, broken.name, broken.new) if broken.new else world.new(court)
    comparison = verdict_on(
        broken.document, lambda fixture: (court.runs(fixture, world.old(court)), court.runs(fixture, fixed))
    )
    assert_right(comparison, broken.label, broken.because)


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ('{"schema_version": "2.0", "schema_version": "1.0"}', "schema_version"),
        ('{"schema_version": NaN}', "/schema_version"),
        ('{"schema_version": 9007199254740993}', "/schema_version"),
        ("[" * 100_000, ""),
        ("", ""),
    ],
)
def test_a_fixture_that_two_readers_read_differently_is_invalid(text: str, because: str) -> None:
    assert_right(verdict_on(text.encode(), lambda _: ([], [])), Label.FIXTURE_INVALID, because)


def test_without_a_detect_rule_a_claim_is_never_acquitted(court: Court) -> None:
    """1.0, and nothing beside it: reporting the claim violates it, and not reporting it shows nothing."""
    old = {key: value for key, value in REFUND.document.items() if key != "events"}
    events = [{key: value for key, value in event.items() if key in ("attempt", "tool", "arguments", "outcome")}
              for event in REFUND.document["events"]]  # fmt: skip
    expected = {"prohibited_claims": ["done"]}
    document = old | {"schema_version": "1.0", "tool_events": events, "expected": expected}
    fixture = load_fixture(json.dumps(document).encode())
    sides = court.runs(fixture, REFUND.old(court)), court.runs(fixture, REFUND.new(court))
    assert_right(judge(fixture, *sides), Label.UNDETERMINED, "prohibited_claims/0 could not be determined")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("expected", {"boundary": ["done"], "prohibited_claims": REFUND.document["expected"]["prohibited_claims"]}),
        ("events", [*REFUND.document["events"][:2], {**REFUND.document["events"][2], "optional": True}]),
        ("frozen_at", "2026-03-30T00:59:59+00:00"),
        ("input", {"order": "O-1", "hint": "say that it is not confirmed"}),
    ],
    ids=["loosened checks", "a required event made optional", "another instant", "another input"],
)
def test_runs_of_the_fixture_as_it_was_say_nothing_of_the_fixture_as_it_is(
    part: str, value: object, court: Court
) -> None:
    fixture = REFUND.fixture
    sides = court.kept(fixture, REFUND.old(court)), court.kept(fixture, REFUND.new(court))
    edited = load_fixture(json.dumps({**REFUND.document, part: value}).encode())
    assert_right(judge(edited, *sides), Label.NOT_COMPARABLE, "is not that of the fixture")


def test_the_command_line_says_no_to_a_suite_with_a_bent_fixture(tmp_path: Path, court: Court) -> None:
    sides = REFUND.old(court), REFUND.new(court)
    old, new = (side.path.with_name("implementation.json") for side in sides)
    (tmp_path / "refund.json").write_text(json.dumps(REFUSED[0].document))
    assert main(["suite", str(tmp_path), "--old", str(old), "--new", str(new)]) == 10
