"""The labels of a comparison, and the exit code that each stands for, mapped here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum


class Label(StrEnum):
    FIXTURE_INVALID = "fixture_invalid"
    NOT_COMPARABLE = "not_comparable"
    ENVIRONMENT_UNAVAILABLE = "environment_unavailable"
    ADAPTER_ERROR = "adapter_error"
    STALE = "stale"
    BASELINE_ONLY = "baseline_only"
    OLD_ONLY = "old_only"
    VARIED = "varied"
    UNDETERMINED = "undetermined"
    NOT_REPRODUCED = "not_reproduced"
    STILL_FAILING = "still_failing"
    DIVERGED = "diverged"
    UNCONSUMED = "unconsumed"
    CONTROL_FAILED = "control_failed"
    NEAR_MISS = "near_miss"
    VERIFIED_RED_TO_GREEN = "verified_red_to_green"
    COMPATIBLE_PASS = "compatible_pass"  # noqa: S105  # a label, no password
    COMPATIBLE_FAIL = "compatible_fail"
    GREEN_WITHOUT_RED = "green_without_red"
    UNISOLATED_PASS = "unisolated_pass"  # noqa: S105  # a label, no password


_EXIT_CODES: Mapping[Label, int] = {
    Label.VERIFIED_RED_TO_GREEN: 0,
    Label.COMPATIBLE_PASS: 0,
    Label.COMPATIBLE_FAIL: 0,
    Label.FIXTURE_INVALID: 10,
    Label.NOT_REPRODUCED: 20,
    Label.STILL_FAILING: 30,
    Label.CONTROL_FAILED: 30,
    Label.NEAR_MISS: 30,
    Label.NOT_COMPARABLE: 40,
    Label.BASELINE_ONLY: 40,
    Label.OLD_ONLY: 40,
    Label.DIVERGED: 50,
    Label.UNCONSUMED: 50,
    Label.STALE: 50,
    Label.VARIED: 50,
    Label.UNDETERMINED: 50,
    Label.GREEN_WITHOUT_RED: 50,
    Label.UNISOLATED_PASS: 50,
    Label.ENVIRONMENT_UNAVAILABLE: 60,
    Label.ADAPTER_ERROR: 60,
}


def exit_code(label: Label) -> int:
    """The exit code of `compare` and `suite` for one case. Compatibility pairs are listed and never change the code."""
    return _EXIT_CODES[label]


def worst_exit_code(codes: Iterable[int]) -> int:
    """The exit code of several cases: the smallest that is not zero."""
    return min((code for code in codes if code), default=0)
