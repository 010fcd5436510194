from __future__ import annotations

from typing import Any

import pytest

from replaycases.importers.effects import check_effects, effect_of, unused_rules, without_absent_keys
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import ToolStep

RULES = {"tools": {"book": {"action": "booking", "key": "/id", "rejected": {"any": ["^Error"], "none": ["warning"]}}}}


def accepted(value: Any = None, error: dict[str, str] | None = None, rules: dict[str, Any] = RULES) -> Any:
    return effect_of(rules, ToolStep(source="", tool="book", arguments={}, value=value, error=error))["effect"][
        "accepted"
    ]


@pytest.mark.parametrize(
    ("value", "result"), [("ok", True), ("Error: full", False), ("Error: warning", True), ({}, True)]
)
def test_an_answer_that_a_rule_calls_a_refusal_was_not_accepted(value: Any, result: bool) -> None:
    assert accepted(value) is result


def test_a_failure_that_no_rule_explains_is_unknown() -> None:
    assert accepted(error={"kind": "timeout", "message": "late"}) == "unknown"
    assert accepted(error={"kind": "x", "message": "Error: full"}) is False


def test_without_a_rule_about_refusals_nothing_is_assumed() -> None:
    assert accepted("ok", rules={"tools": {"book": {"action": "booking"}}}) == "unknown"
    assert accepted("ok", rules={"tools": {"book": {"action": "booking", "accepted": True}}}) is True


def test_a_call_without_the_key_that_others_have_counts_by_itself() -> None:
    effect = {"action": "booking", "key": "/id", "accepted": True}
    calls = [{"tool": "book", "arguments": arguments, "effect": effect} for arguments in ({"id": 1}, {})]
    first, second = without_absent_keys(calls)
    assert first == calls[0]
    assert second["effect"] == {"action": "booking", "accepted": True}
    assert without_absent_keys(calls[1:]) == calls[1:]


def test_a_tool_without_a_rule_has_no_effect_and_key_and_guard_are_taken_over() -> None:
    assert effect_of(RULES, ToolStep(source="", tool="look", arguments={})) == {}
    guarded = {"tools": {"book": {"action": "b", "guard": {"action": "b", "decision": "allow"}}}}
    assert effect_of(guarded, ToolStep(source="", tool="book", arguments={}))["guard"]["decision"] == "allow"


@pytest.mark.parametrize("rules", [
    {"tool": {}}, {"tools": []}, {"tools": {"book": {}}}, {"tools": {"book": {"action": "b", "accept": True}}},
    {"tools": {"book": {"action": "b", "rejected": {"any": ["("]}}}},
    {"tools": {"book": {"action": "b", "rejected": {"any": []}}}},
])  # fmt: skip
def test_a_malformed_annotation_is_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(ImportRefused) as caught:
        check_effects(rules)
    assert caught.value.finding.id == "import.effects"


def test_rules_for_tools_that_are_never_called_are_reported() -> None:
    assert unused_rules(RULES, {"look"}) == ["book"]
    assert unused_rules(RULES, {"book"}) == []
