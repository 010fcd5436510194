"""Badges: only one label is green, and none is unknown."""

from __future__ import annotations

import pytest

from replaycases.cases.models import RunState
from replaycases.verdict.labels import Label
from replaycases.web import labels


def test_every_label_of_a_verdict_has_a_look_and_a_meaning() -> None:
    assert set(labels.VERDICTS) == {str(label) for label in Label}
    assert all(look.meaning for look in labels.VERDICTS.values())


def test_only_verified_red_to_green_is_green() -> None:
    green = [label for label, look in labels.VERDICTS.items() if "ok" in look.css.split()]
    assert green == [str(Label.VERIFIED_RED_TO_GREEN)]


def test_passes_that_were_not_earned_in_full_are_dashed() -> None:
    for label in (Label.COMPATIBLE_PASS, Label.GREEN_WITHOUT_RED, Label.UNISOLATED_PASS, Label.UNDETERMINED):
        assert labels.verdict_look(label).css == "dunno"


@pytest.mark.parametrize("label", ["", "something_new", "Verified_Red_To_Green"])
def test_no_label_and_an_unknown_one_are_never_green(label: str) -> None:
    assert labels.verdict_look(label).css == "dunno"


def test_a_boundary_that_is_null_is_not_a_pass() -> None:
    assert labels.state_look(None).css == "dunno"
    assert labels.state_look(True).css == "ok"
    assert labels.state_look(False).css == "bad"


def test_every_state_of_a_run_has_a_look() -> None:
    assert set(labels.RUN_STATES) == set(RunState.values)
    assert all("ok" not in look.css for look in labels.RUN_STATES.values())
