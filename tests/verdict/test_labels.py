from __future__ import annotations

from replaycases.verdict.labels import Label, exit_code, worst_exit_code

BY_CODE = {
    0: {"verified_red_to_green", "compatible_pass", "compatible_fail"},
    10: {"fixture_invalid"},
    20: {"not_reproduced"},
    30: {"still_failing", "control_failed", "near_miss"},
    40: {"not_comparable", "baseline_only", "old_only"},
    50: {"diverged", "unconsumed", "stale", "varied", "undetermined", "green_without_red", "unisolated_pass"},
    60: {"environment_unavailable", "adapter_error"},
}


def test_each_label_has_its_exit_code() -> None:
    assert {code: {str(label) for label in Label if exit_code(label) == code} for code in BY_CODE} == BY_CODE


def test_every_label_has_one() -> None:
    assert {str(label) for label in Label} == set().union(*BY_CODE.values())


def test_several_cases_exit_with_the_smallest_code_that_is_not_zero() -> None:
    assert worst_exit_code([0, 50, 30, 0]) == 30
    assert worst_exit_code([0, 0]) == 0
    assert worst_exit_code([]) == 0
