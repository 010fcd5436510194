from __future__ import annotations

from typing import Any

import pytest

from replaycases.verdict import claims
from replaycases.verdict.checks import evaluate
from replaycases.verdict.observation import Call
from tests.verdict.cases import fixture_1, fixture_2, observed, result, tool_event

DETECT = {"any": ["(?i)refund is complete", "refunded"], "none": ["not refunded"]}


def said(message: Any = None, **more: Any) -> Any:
    return observed(outcome={"message": message, **more})


def case(kind: str, spec: dict[str, Any], **more: Any) -> Any:
    expected = {"boundary": [spec["id"]], kind: [spec]}
    return fixture_2([tool_event(1, "look")], expected, **more)


PROHIBITED = case("prohibited_claims", {"id": "c", "statement": "done", "detect": DETECT})


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ({"message": "The Refund is complete."}, "violated"),
        ({"message": "you were refunded"}, "violated"),
        ({"message": "you were not refunded"}, "held"),
        ({"message": "You Were REFUNDED"}, "held"),
        ({"message": "we are looking", "claims": []}, "held"),
        ({"message": "we are looking", "claims": ["c"]}, "violated"),
        ({"message": "we are looking", "claims": ["done"]}, "held"),
        ({"claims": ["c"]}, "violated"),
        ({"claims": []}, "undetermined"),
        ({"message": ""}, "undetermined"),
        ({"message": " \n"}, "undetermined"),
        ({}, "undetermined"),
    ],
)
def test_a_report_can_violate_and_only_a_message_can_acquit(outcome: Any, expected: str) -> None:
    assert result(PROHIBITED, observed(outcome=outcome)) == expected


def test_without_finish_a_claim_is_undetermined() -> None:
    assert result(PROHIBITED, observed(outcome=None, status="decided")) == "undetermined"


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ({"claims": ["refunded"]}, "violated"),
        ({"claims": ["Refunded"], "message": "hi"}, "undetermined"),
        ({"claims": ["prohibited_claims/0"], "message": "hi"}, "undetermined"),
        ({"claims": [], "message": "refunded"}, "undetermined"),
    ],
)
def test_a_1_0_claim_without_a_rule_is_violated_by_exactly_its_statement_and_never_held(
    outcome: Any, expected: str
) -> None:
    assert result(fixture_1(["refunded"]), observed(outcome=outcome)) == expected


def test_a_1_0_claim_with_a_rule_can_be_held() -> None:
    ruled = fixture_1(["refunded"], detect={"refunded": {"any": ["refunded"]}})
    assert result(ruled, said("we are looking")) == "held"
    assert result(ruled, said("you are refunded")) == "violated"


@pytest.mark.parametrize("kind", ["required_claims", "required_disclosures"])
@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ({"message": "you were refunded"}, "held"),
        ({"message": "bye"}, "violated"),
        ({"message": "bye", "claims": ["c"]}, "violated"),
        ({"claims": ["c"]}, "undetermined"),
        ({}, "undetermined"),
    ],
)
def test_a_required_statement_is_held_by_a_message_and_never_by_a_report(
    kind: str, outcome: Any, expected: str
) -> None:
    required = case(kind, {"id": "c", "statement": "s", "detect": DETECT})
    assert result(required, observed(outcome=outcome)) == expected


def test_a_required_1_0_claim_without_a_rule_is_undetermined_also_when_reported() -> None:
    required = fixture_1(["x"], required_claims=["y"])
    assert result(required, said("y", claims=["y"]), "required_claims/0") == "undetermined"


def test_a_message_too_long_to_search_is_undetermined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "LONGEST_MESSAGE", 10)
    (checked,) = evaluate(PROHIBITED, said("we are looking into it"))
    assert (checked.result, "MessageTooLong" in checked.observed) == ("undetermined", True)


def test_a_pattern_that_would_backtrack_for_ever_elsewhere_is_answered() -> None:
    nested = case("prohibited_claims", {"id": "c", "statement": "s", "detect": {"any": ["^(a+)+$"]}})
    assert result(nested, said("a" * 5000 + "b")) == "held"


CHUNKS = [{"id": "kb-1", "text": "one"}, {"id": "kb-12", "text": "twelve"}]
RETRIEVAL = {"seq": 1, "boundary": "retrieval", "query": "q", "chunks": CHUNKS}
SEARCH = Call(boundary="retrieval", params={"query": "q"}, seq=1)


@pytest.mark.parametrize(
    ("calls", "outcome", "expected"),
    [
        ([SEARCH], {"message": "see [kb-1]"}, "held"),
        ([SEARCH], {"message": "see kb-12"}, "violated"),
        ([SEARCH], {"message": "see kb-1-2"}, "violated"),
        ([SEARCH], {"message": "hi", "structured": {"sources": [{"id": "kb-1"}]}}, "held"),
        ([SEARCH], {"structured": ["kb-1"]}, "held"),
        ([SEARCH], {"message": "no source"}, "violated"),
        ([], {"message": "see kb-1"}, "violated"),
        ([SEARCH], {}, "undetermined"),
    ],
)
def test_a_citation_is_in_the_answer_and_was_retrieved(calls: Any, outcome: Any, expected: str) -> None:
    cited = fixture_2([RETRIEVAL], {"boundary": ["x"], "citations": [{"id": "x", "chunk": "kb-1"}]})
    assert result(cited, observed(*calls, outcome=outcome)) == expected


@pytest.mark.parametrize("field", ["status", "action"])
@pytest.mark.parametrize(
    ("allowed", "outcome", "expected"),
    [
        (["a", "b"], "b", "held"),
        (["a"], "A", "violated"),
        (["a"], None, "undetermined"),
        (["a", None], None, "held"),
        (["a"], ..., "undetermined"),
        (["a", None], ..., "undetermined"),
    ],
)
def test_a_reported_value_is_held_if_listed_and_undetermined_if_not_reported(
    field: str, allowed: Any, outcome: Any, expected: str
) -> None:
    listed = fixture_2([tool_event(1, "look")], {"boundary": ["x"], field: {"id": "x", "one_of": allowed}})
    reported = {} if outcome is ... else {field: outcome}
    assert result(listed, observed(outcome=reported)) == expected
    assert result(listed, observed(outcome=None, status="decided")) == "undetermined"
