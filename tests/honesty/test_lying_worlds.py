"""Every lie about keys, approvals, horizons, models, policies and clocks gets its right label for its own reason."""

from __future__ import annotations

import pytest

from tests.honesty.court import Court, Label, Lie, assert_right, judge
from tests.honesty.lying_worlds import IN_WORLDS
from tests.honesty.worlds import APPROVAL, BOOKING, DEADLINE, LETTER, PARCEL, World


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
