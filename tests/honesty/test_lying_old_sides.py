"""A fix is worth nothing beside an old version that does not show the incident in every run."""

from __future__ import annotations

import json

import pytest

from replaycases.cli.compare import judge
from replaycases.fixture.load import load_fixture
from replaycases.verdict.labels import Label
from tests.honesty.court import Court, Lie, assert_right
from tests.honesty.lying_old_sides import OLD_SIDES
from tests.honesty.worlds import REFUND, World


@pytest.mark.parametrize(("world", "lie"), OLD_SIDES, ids=lambda item: item.name if isinstance(item, Lie) else "")
def test_an_old_side_that_is_not_red_gets_its_right_label(world: World, lie: Lie, court: Court) -> None:
    fixture = world.fixture
    old = court.runs(fixture, world.lying(court, lie), limits=lie.limits)
    assert_right(judge(fixture, old, court.kept(fixture, world.new(court))), lie.label, lie.because)


def test_an_old_side_that_violates_the_boundary_only_in_part_is_not_red(court: Court) -> None:
    boundary = {"boundary": ["done", "action_counts.note"]}
    document = {**REFUND.document, "expected": {**REFUND.document["expected"], **boundary}}
    fixture = load_fixture(json.dumps(document).encode())
    sides = court.runs(fixture, REFUND.old(court)), court.runs(fixture, REFUND.new(court))
    assert_right(judge(fixture, *sides), Label.NOT_REPRODUCED, "only in part and not action_counts.note")


def test_identical_implementations_prove_nothing(court: Court) -> None:
    fixture = REFUND.fixture
    old = court.kept(fixture, REFUND.old(court))
    again = court.runs(fixture, REFUND.workflow(court, "affected renamed", REFUND.affected, version="2"))
    assert_right(judge(fixture, old, again), Label.NOT_COMPARABLE, "their digests are equal")


def test_the_old_code_with_a_comment_more_is_no_fix(court: Court) -> None:
    fixture = REFUND.fixture
    old = court.kept(fixture, REFUND.old(court))
    again = court.runs(fixture, REFUND.workflow(court, "affected with a comment", REFUND.affected + "  # fixed"))
    assert_right(judge(fixture, old, again), Label.STILL_FAILING, "the boundary: done")


def test_the_pair_the_other_way_round_is_not_reproduced(court: Court) -> None:
    fixture = REFUND.fixture
    old, new = court.kept(fixture, REFUND.old(court)), court.kept(fixture, REFUND.new(court))
    assert_right(judge(fixture, new, old), Label.NOT_REPRODUCED, "it held done")
