"""The policies and templates that a run names as used."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from tests.replay.factories import fixture, run

A, B, C = "a" * 64, "b" * 64, "c" * 64
POLICY = {"name": "refunds", "version": "3", "sha256": A}
TEMPLATE = {"name": "letter", "version": "1", "sha256": B}
RECORDED = {"policies": [POLICY], "templates": [TEMPLATE]}


def told(used: Any, **recorded: Any) -> tuple[str, str | None, str | None]:
    params = {"message": "done"} if used is None else {"message": "done", "policies_used": used}
    observation = run(fixture([], **recorded), [("finish", params)], finish=False)
    found = observation.first_divergence
    return observation.status, found and found.kind, found and found.pointer


@pytest.mark.parametrize("used", [[POLICY], [POLICY, TEMPLATE], [{"name": "refunds", "sha256": A}]])
def test_recorded_policies_and_templates_may_be_named(used: Any) -> None:
    assert told(used, **RECORDED) == ("completed", None, None)


@pytest.mark.parametrize(
    "entry",
    [
        {**POLICY, "sha256": C},
        {**POLICY, "name": "other"},
        {**POLICY, "version": "4"},
        {**POLICY, "sha256": A.upper()},
        {**TEMPLATE, "sha256": A},
    ],
)
def test_one_that_hashes_to_no_recorded_one_is_stale(entry: Any) -> None:
    assert told([POLICY, entry], **RECORDED) == ("stale", "policy", "/policies_used/1")


def test_an_entry_may_repeat_the_content_that_it_was_given_and_no_other() -> None:
    recorded = {"name": "refunds", "version": "3", "sha256": sha256(b"no refunds").hexdigest(), "content": "no refunds"}
    assert told([recorded], policies=[recorded])[0] == "completed"
    assert told([{**recorded, "content": "refunds"}], policies=[recorded]) == ("stale", "policy", "/policies_used/0")


@pytest.mark.parametrize("used", [None, [], [TEMPLATE]])
def test_with_recorded_policies_naming_none_is_stale(used: Any) -> None:
    assert told(used, **RECORDED) == ("stale", "policy", "/policies_used")


def test_without_recorded_policies_none_need_be_named_but_a_named_one_has_nothing_to_hash_to() -> None:
    assert told(None)[0] == "completed"
    assert told(None, templates=[TEMPLATE])[0] == "completed"
    assert told([POLICY]) == ("stale", "policy", "/policies_used/0")


def test_policies_declared_missing_are_not_compared() -> None:
    assert told([POLICY], missing=[{"pointer": "/policies", "cost": "unknown"}])[0] == "completed"


def test_a_refused_finish_is_observed_and_not_accepted() -> None:
    params = {"message": "done", "policies_used": []}
    observation = run(fixture([], **RECORDED), [("finish", params)], finish=False)
    assert (observation.status, observation.outcome) == ("stale", params)
