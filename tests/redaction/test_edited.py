"""A redacted document that somebody edits by hand keeps its relations, or is known to have lost them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from replaycases.redaction.edited import relations
from replaycases.redaction.policy import BUILT_IN
from replaycases.redaction.redact import redact

RAW: dict[str, Any] = {
    "case": {"owner_email": "jane@corp.test", "requester_email": "jane@corp.test", "other_email": "bob@corp.test"},
    "told": 'She wrote from jane@corp.test, and "so" did bob@corp.test.',
    "nested": json.dumps({"first_id": "ord-10001", "second_id": "ord-10002"}),
    "expected": {"email": "jane@corp.test"},
}


def lost_by(edit: Callable[[Any], None]) -> list[str]:
    done = redact(RAW, policy=BUILT_IN, key=bytes(range(32)))
    edited = copy.deepcopy(done.document)
    edit(edited)
    held, lost = relations(done.changes, raw=RAW, redacted=done.document, edited=edited)
    assert held
    assert set(lost) <= set(held)
    return [fact.relation for fact in lost]


def nothing(document: Any) -> None:
    pass


def another_requester(document: Any) -> None:
    document["case"]["requester_email"] = "somebody@zebu.example"


def of_one_domain_no_more(document: Any) -> None:
    document["case"]["other_email"] = "bob@else.example"


def other_order(document: Any) -> None:
    nested = json.loads(document["nested"])
    document["nested"] = json.dumps({"first_id": nested["second_id"], "second_id": nested["first_id"]})


def other_words(document: Any) -> None:
    document["told"] = "She wrote."
    document["expected"]["email"] = "nobody@zebu.example"
    document["more"] = "new"


def another_name_for_all(document: Any) -> None:
    document["told"] = ""
    for name in ("owner_email", "requester_email"):
        document["case"][name] = "other@" + document["case"][name].partition("@")[2]


@pytest.mark.parametrize("edit", [nothing, other_words, another_name_for_all])
def test_an_edit_that_leaves_the_values_their_relations_loses_none(edit: Callable[[Any], None]) -> None:
    assert lost_by(edit) == []


@pytest.mark.parametrize(
    ("edit", "relation"), [(another_requester, "equal"), (of_one_domain_no_more, "domain"), (other_order, "order")]
)
def test_an_edit_that_loses_a_relation_is_told(edit: Callable[[Any], None], relation: str) -> None:
    assert relation in lost_by(edit)


@pytest.mark.parametrize("nested", ["", "[" * 5000, "no JSON", '{"first_id": {}}', 7, None, {}])
def test_a_place_that_is_gone_loses_nothing_with_it(nested: Any) -> None:
    def edit(document: Any) -> None:
        document["nested"] = nested
        del document["case"]["other_email"]

    assert lost_by(edit) == []
