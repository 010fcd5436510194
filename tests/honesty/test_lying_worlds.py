"""Every lie about keys, approvals, horizons, models, policies and clocks gets its right label for its own reason."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest

from replaycases.cli.compare import judge
from replaycases.fixture.load import load_fixture
from replaycases.verdict.labels import Label
from tests.honesty.court import Court, Lie, assert_right
from tests.honesty.lying_worlds import IN_WORLDS
from tests.honesty.worlds import APPROVAL, BOOKING, DEADLINE, LETTER, PARCEL, REFUND, World

ANNOUNCE = """
for tool, key in {calls}:
    try:
        session.tools.call(tool, {{"order": "O-1", "key": key}})
    except session.ToolError:
        pass
session.finish("The parcel is on its way.", status="sent")
"""


@pytest.mark.parametrize(
    "world", [PARCEL, APPROVAL, BOOKING, LETTER, DEADLINE], ids=lambda world: world.document["case_id"]
)
def test_without_a_lie_each_world_is_green(world: World, court: Court) -> None:
    fixture = world.fixture
    comparison = judge(fixture, court.kept(fixture, world.old(court)), court.runs(fixture, world.new(court)))
    assert comparison.label is Label.VERIFIED_RED_TO_GREEN, comparison.reason


@pytest.mark.parametrize(("world", "lie"), IN_WORLDS, ids=lambda item: item.name if isinstance(item, Lie) else "")
def test_a_lie_in_its_world_gets_its_right_label(world: World, lie: Lie, court: Court) -> None:
    fixture = world.fixture
    lying = court.runs(fixture, world.lying(court, lie), limits=lie.limits)
    assert_right(judge(fixture, court.kept(fixture, world.old(court)), lying), lie.label, lie.because)


def test_a_tool_that_a_recorded_alternative_stands_in_for_was_not_skipped(court: Court) -> None:
    """The honest counterpart of a near miss: the fixture itself says that another tool is right at that place."""
    document = deepcopy(dict(PARCEL.document))
    document["events"][0]["tool"] = "parcels.announce"
    document["events"][1]["alternatives"][0] |= {"tool": "parcels.repeat"}
    fixture = load_fixture(json.dumps(document).encode())
    calls = [("parcels.announce", "a"), ("parcels.create", "b")], [("parcels.announce", "a"), ("parcels.repeat", "a")]
    sides = [PARCEL.workflow(court, f"side {index}", ANNOUNCE.format(calls=side)) for index, side in enumerate(calls)]
    old, new = (court.runs(fixture, side) for side in sides)
    comparison = judge(fixture, old, new)
    assert comparison.label is Label.VERIFIED_RED_TO_GREEN, comparison.reason
    assert comparison.authored_used == 1


def test_what_only_a_longer_recording_could_show_is_said_beside_the_label(court: Court) -> None:
    """A version that puts something harmless before its second booking crosses the horizon with that, and cannot be
    told from one that books no second time. The label stands for the prefix alone, and says so."""
    fixture = BOOKING.fixture
    body = BOOKING.fixed + "; session.tools.call('flights.book', {'flight': 'F-2'})"
    deferred = court.runs(fixture, BOOKING.workflow(court, "books again a step later", body))
    comparison = judge(fixture, court.kept(fixture, BOOKING.old(court)), deferred)
    assert [run.status for run in deferred] == ["decided", "decided"]
    assert any("nothing after it was observed" in sentence for sentence in comparison.does_not_prove)


def test_where_any_other_sentence_would_pass_the_verdict_says_so(court: Court) -> None:
    """The minimal shape: one prohibition and nothing beside it. Whoever says the claim in other words holds it."""
    document = {**REFUND.document, "expected": {**REFUND.document["expected"]}}
    for positive in ("required_disclosures", "status", "action_counts"):
        document["expected"].pop(positive)
    fixture = load_fixture(json.dumps(document).encode())
    other_words = REFUND.workflow(court, "other words", "walk(session); say(session, 'Your money arrived.')")
    comparison = judge(fixture, court.runs(fixture, REFUND.old(court)), court.runs(fixture, other_words))
    assert any("any other sentence would pass" in sentence for sentence in comparison.does_not_prove)
