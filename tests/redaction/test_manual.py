"""What people decide of single places holds in every redaction, and what cannot be carried out is open."""

from __future__ import annotations

import base64
import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaycases.redaction.leaves import leaves
from replaycases.redaction.manual import (
    Action,
    ManualRule,
    ManualRuleInvalid,
    PlaceUnknown,
    as_json,
    mac,
    rule_from,
    value_at,
)
from replaycases.redaction.places import Kind, Place
from replaycases.redaction.policy import BUILT_IN, read_policy
from replaycases.redaction.record import read_record, record_of, rescan
from replaycases.redaction.redact import Redaction, redact
from replaycases.redaction.views.tree import read

KEY = bytes(range(32))
ALIASES_TOO = read_policy({"name": "test", "version": "1", "aliases": "replace"})
TEXT = "Jane Doe of jane@corp.test asked for Rosebud"


def at(pointer: str, start: int = 0, end: int = 0, *path: str, in_key: bool = False) -> Place:
    return Place(pointer=pointer, in_key=in_key, path=path, start=start, end=end)


def rule(document: Any, action: Action, place: Place, **more: Any) -> ManualRule:
    """As a person makes it who sees the document."""
    if action not in ("drop", "structural"):
        more["fits"] = mac(KEY, value_at(document, place))
    if "other" in more:
        more["other_fits"] = mac(KEY, value_at(document, more["other"]))
    return ManualRule(id="r1", action=action, place=place, **more)


def redacted(document: Any, *rules: ManualRule) -> Redaction:
    return redact(document, policy=ALIASES_TOO, key=KEY, rules=rules)


def detectors_of(redaction: Redaction) -> list[str]:
    return [finding.detector for finding in redaction.open]


def assert_settled(redaction: Redaction) -> None:
    assert redaction.open == ()
    assert redaction.lost == ()


UNFIT = ["manual:does not fit"]


# --- marks and what is kept -------------------------------------------------------------------------------------------


def test_what_a_person_marks_is_replaced_there_and_wherever_it_stands() -> None:
    document = {"a": TEXT, "b": "rosebud"}
    redaction = redacted(document, rule(document, "mark", at("/a", 37, 44), kind="secret"))
    assert "rosebud" not in json.dumps(redaction.document).casefold()
    assert ("secret", "manual:mark") in {(one.finding.kind, one.finding.detector) for one in redaction.replaced}
    assert redaction.open == ()


def test_a_short_word_that_a_person_marks_is_replaced_wherever_it_stands_alone() -> None:
    document = {"input": {"text": "Mia asks from Miami", "to": "For Mia"}}
    text = redacted(document, rule(document, "mark", at("/input/text", 0, 3), kind="person")).document["input"]
    assert text["text"].endswith(" asks from Miami")
    assert text["to"] == f"For {text['text'].split()[0]}" != "For Mia"


def test_a_mark_covers_what_it_overlaps() -> None:
    document = {"a": TEXT}
    after = redacted(document, rule(document, "mark", at("/a", 0, 20), kind="text")).document["a"]
    assert after.startswith("[removed text ")
    assert after.endswith(" asked for Rosebud")


def test_a_mark_within_a_longer_value_says_what_it_is() -> None:
    document = {"a": TEXT}
    after = redacted(document, rule(document, "mark", at("/a", 17, 26), kind="organisation")).document["a"]
    assert "@" not in after


def test_a_whole_leaf_becomes_a_placeholder() -> None:
    document = {"note": "she told me everything"}
    [change] = redacted(document, rule(document, "mark", at("/note"), kind="text")).changes
    assert [(seam.start, seam.end, seam.kind) for seam in change.seams] == [(0, 22, "text")]


@pytest.mark.parametrize("kind", [kind for kind in get_args(Kind) if kind != "blind"])
@pytest.mark.parametrize("value", ["hello", "***", "\U0001f600 \u202eab", 12, 0.5])
def test_any_text_can_be_marked_as_anything(kind: Kind, value: object) -> None:
    document = {"a": value}
    after = redacted(document, rule(document, "mark", at("/a"), kind=kind)).document["a"]
    assert after != value
    assert isinstance(after, str) is isinstance(value, str)


def test_what_a_person_keeps_stays_and_is_open_for_a_waiver() -> None:
    document = {"text": "write to jane@corp.test"}
    redaction = redacted(document, rule(document, "keep", at("/text", 9, 23)))
    assert redaction.document == document
    assert [why for _, why in redaction.kept] == ["a person keeps it"]
    assert detectors_of(redaction) == ["personal:email"]


def test_what_a_person_keeps_is_open_whatever_its_member_is_called_now() -> None:
    document = {"order_id": "ord-100124"}
    name = rule(document, "mark", at("/order_id", 0, 8, in_key=True), kind="person")
    redaction = redacted(document, rule(document, "keep", at("/order_id")), name)
    assert list(redaction.document.values()) == ["ord-100124"]
    assert detectors_of(redaction) == ["field:id"]


def test_a_suggestion_that_a_person_keeps_is_settled() -> None:
    document = {"customer_name": "Jane Doe", "text": "Jane called."}
    keep = rule(document, "keep", at("/text", 0, 4))
    redaction = redact(document, policy=BUILT_IN, key=KEY, rules=[keep])
    assert redaction.open == ()
    assert redaction.document["text"] == "Jane called."


def test_what_is_part_of_a_longer_value_cannot_be_kept() -> None:
    document = {"text": "write to jane@corp.test"}
    redaction = redacted(document, rule(document, "keep", at("/text", 14, 23)))
    assert "corp.test" not in redaction.document["text"]
    assert detectors_of(redaction) == UNFIT


def test_a_signature_is_never_edited() -> None:
    document = {"signature": "abc Jane Doe", "customer_name": "Jane Doe", "args": '{"signature": "x Jane Doe y"}'}
    redaction = redacted(document, rule(document, "mark", at("/signature"), kind="text"))
    assert redaction.document["signature"] == document["signature"]
    assert redaction.document["args"] == document["args"]
    assert detectors_of(redaction) == [*UNFIT, "residual:original", "residual:original", "residual:original"]


def test_a_part_of_a_number_cannot_be_marked() -> None:
    document = {"amount": 48213}
    assert detectors_of(redacted(document, rule(document, "mark", at("/amount", 0, 2), kind="id"))) == UNFIT


# --- entities ---------------------------------------------------------------------------------------------------------

PEOPLE = {
    "customer_name": "Jane Doe",
    "owner_name": "J. Doe-Smith",
    "again": "about Jane Doe",
    "sender_name": "Jane Doe",
}


def test_two_that_are_joined_and_all_their_equals_get_one_surrogate() -> None:
    redaction = redacted(PEOPLE, rule(PEOPLE, "join", at("/customer_name"), other=at("/owner_name")))
    after = redaction.document
    assert (
        after["customer_name"] == after["owner_name"] == after["sender_name"] == after["again"].removeprefix("about ")
    )
    assert_settled(redaction)
    assert "equal" in {fact.relation for fact in redaction.facts if len(fact.places) == 4}


def test_one_that_is_split_off_gets_a_surrogate_of_its_own() -> None:
    redaction = redacted(PEOPLE, rule(PEOPLE, "split", at("/sender_name")))
    after = redaction.document
    assert after["customer_name"] != after["sender_name"]
    assert after["customer_name"] == after["again"].removeprefix("about ")
    assert_settled(redaction)


@pytest.mark.parametrize(
    "value",
    [
        "jane@corp.test",
        "ord-100123",
        "+1 212 867 5309",
        "4111 1111 1111 1111",
        "DE89370400440532013000",
        "10.1.2.3",
        100123,
    ],
)
def test_any_value_can_be_split_and_joined(value: object) -> None:
    document = {"customer_id": value, "other": {"customer_id": value}, "third_id": "ord-777888"}
    split = redacted(document, rule(document, "split", at("/other/customer_id")))
    assert len({str(split.document["customer_id"]), str(split.document["other"]["customer_id"]), str(value)}) == 3
    joined = redacted(document, rule(document, "join", at("/third_id"), other=at("/customer_id")))
    assert str(joined.document["third_id"]) == str(joined.document["customer_id"])
    assert_settled(split)
    assert_settled(joined)


def test_a_person_chooses_what_stands_for_a_value_everywhere() -> None:
    redaction = redacted(PEOPLE, rule(PEOPLE, "surrogate", at("/sender_name"), surrogate="Alba Stone"))
    assert redaction.document["again"] == "about Alba Stone"
    assert_settled(redaction)


@pytest.mark.parametrize(
    "surrogate",
    [
        "Jane Doe",
        "dear jane doe-x",
        "about Jane Doe",
        "  ",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "a J. Doe-Smith",
    ],
)
def test_a_surrogate_that_tells_or_alarms_is_refused(surrogate: str) -> None:
    redaction = redacted(PEOPLE, rule(PEOPLE, "surrogate", at("/owner_name"), surrogate=surrogate))
    assert detectors_of(redaction) == UNFIT
    assert surrogate not in json.dumps(redaction.document)


def test_a_chosen_surrogate_holds_no_value_even_within_a_word() -> None:
    document = {"first_name": "Anna"}
    choose = rule(document, "surrogate", at("/first_name"), surrogate="Hannah")
    assert detectors_of(redacted(document, choose)) == UNFIT


def test_two_values_cannot_get_one_chosen_surrogate() -> None:
    rules = [rule(PEOPLE, "surrogate", at(place), surrogate="Alba Stone") for place in ("/owner_name", "/sender_name")]
    redaction = redacted(PEOPLE, *rules)
    assert detectors_of(redaction) == UNFIT
    assert redaction.document["owner_name"] != redaction.document["sender_name"]


def test_two_names_of_members_of_one_object_cannot_be_joined() -> None:
    document = {"jane@corp.test": 1, "joe@corp.test": 2}
    places = (at(f"/{name}", in_key=True) for name in document)
    redaction = redacted(document, rule(document, "join", next(places), other=next(places)))
    assert detectors_of(redaction) == UNFIT
    assert len(redaction.document) == 2


def test_a_value_inside_a_block_is_split_by_its_reading() -> None:
    document = {"customer_name": "Jane Doe", "data": base64.b64encode(b"it is Jane Doe now").decode()}
    redaction = redacted(document, rule(document, "split", at("/data", 6, 14, "base64@0")))
    held = base64.b64decode(redaction.document["data"]).decode()
    assert redaction.document["customer_name"] not in held
    assert "Jane" not in held
    assert redaction.open == ()


# --- members that are left out, structural fixtures -------------------------------------------------------------------


def fixture() -> dict[str, Any]:
    return {
        "schema_version": "2.0",
        "case_id": "refund-4711",
        "incident_id": "inc-1",
        "workflow_version": "w1",
        "prompt_version": "p1",
        "frozen_at": "2026-01-02T03:04:05Z",
        "input": {"text": TEXT, "notes": {"private": "Rosebud"}, "jane@corp.test": {"x": 1}},
        "identity": {"user": "u-48213"},
        "events": [
            {
                "seq": 1,
                "boundary": "tool",
                "tool": "refund",
                "attempt": 1,
                "arguments": {"order_id": "ord-4711", "signature": "sig-4711-abc"},
                "outcome": {"type": "result", "value": {"ok": True}},
            }
        ],
        "expected": {"run_status": {"id": "ends", "forbid": ["crashed"]}},
    }


def test_a_member_that_is_left_out_is_recorded_as_missing() -> None:
    document = fixture()
    redaction = redacted(document, rule(document, "drop", at("/input/notes"), reason="not needed"))
    assert "notes" not in redaction.document["input"]
    [gap] = redaction.document["missing"]
    assert gap == {"pointer": "/input/notes", "cost": "left out when the case was redacted: not needed"}
    assert [(change.source, change.pointer) for change in redaction.changes if not change.seams] == [
        ("/input/notes", None)
    ]
    assert redaction.open == ()


def test_a_value_that_was_left_out_is_open_where_it_stands_else() -> None:
    document = {"order_id": "4711", "text": "see 4711"}
    assert detectors_of(redacted(document, rule(document, "drop", at("/order_id")))) == ["residual:original"]


def test_a_signature_can_be_left_out() -> None:
    document = fixture()
    redaction = redacted(document, rule(document, "drop", at("/events/0/arguments/signature")))
    assert "signature" not in redaction.document["events"][0]["arguments"]
    assert redaction.open == ()


def test_the_name_of_a_member_that_was_left_out_is_not_told_where_it_may_be_a_value() -> None:
    document = fixture()
    redaction = redacted(document, rule(document, "drop", at("/input/jane@corp.test")))
    assert redaction.document["missing"][0]["pointer"] == "/input"
    assert "jane" not in json.dumps(redaction.document)


def test_a_reason_that_names_somebody_is_open() -> None:
    document = fixture()
    redaction = redacted(document, rule(document, "drop", at("/input/notes"), reason="jane@corp.test said so"))
    assert [str(finding.place.pointer) for finding in redaction.open] == ["/missing/0/cost"]


@pytest.mark.parametrize(
    "pointer",
    ["/events/0/arguments", "/events/0/tool", "/events", "/expected/run_status", "", "/nowhere", "/time_zone"],
)
def test_what_a_fixture_needs_cannot_be_left_out(pointer: str) -> None:
    document = fixture()
    redaction = redacted(document, rule(document, "drop", at(pointer)))
    assert detectors_of(redaction) == UNFIT
    assert redaction.document.keys() == document.keys()


def test_an_older_fixture_cannot_say_that_something_is_missing() -> None:
    document = {"schema_version": "1.0", "input": {"notes": "x"}}
    redaction = redacted(document, rule(document, "drop", at("/input/notes")))
    assert redaction.document == document
    assert detectors_of(redaction) == UNFIT


def test_rules_about_what_was_left_out_are_moot() -> None:
    document = fixture()
    mark = rule(document, "mark", at("/input/notes/private"), kind="secret")
    assert redacted(document, mark, rule(document, "drop", at("/input/notes"))).open == ()


def test_a_fixture_is_declared_structural_and_never_less() -> None:
    document = fixture()
    structural = rule(document, "structural", at(""), reason="the text decides")
    assert redacted(document, structural).document["replayability"] == {
        "class": "structural",
        "reason": "the text decides",
    }
    lost_already = {**document, "replayability": {"class": "non_replayable", "reason": "no answers"}}
    redaction = redacted(lost_already, structural)
    assert redaction.document["replayability"] == lost_already["replayability"]
    assert detectors_of(redaction) == detectors_of(redacted({"x": 1}, structural)) == UNFIT


# --- rules that do not fit --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["mark", "keep", "split", "join", "surrogate"])
@pytest.mark.parametrize(
    "changed", [{"a": "other"}, {}, {"a": None}, {"a": ["Jane Doe"]}, ["Jane Doe"], 5, {"a": ""}, {"a": 3}]
)
def test_a_rule_that_no_longer_fits_is_open(action: Action, changed: Any) -> None:
    more: dict[str, Any] = {"mark": {"kind": "person"}, "surrogate": {"surrogate": "x"}}.get(action, {})
    document = {"a": "Jane Doe", "b": "Joe"}
    if action == "join":
        more = {"other": at("/b")}
    assert detectors_of(redacted(changed, rule(document, action, at("/a"), **more))) == UNFIT


def test_a_rule_is_read_as_it_was_written() -> None:
    join = rule(PEOPLE, "join", at("/customer_name"), other=at("/owner_name", 0, 2))
    assert rule_from(json.loads(json.dumps(as_json(join)))) == join


GOOD = as_json(ManualRule(id="1", action="mark", place=at("/a"), fits="00", kind="id"))


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {**GOOD, "action": "canary"},
        {**GOOD, "action": ["mark"]},
        {**GOOD, "kind": "blind"},
        {**GOOD, "kind": ["id"]},
        {**GOOD, "canary": 1},
        {**GOOD, "fits": ""},
        {**GOOD, "id": 5},
        {**GOOD, "surrogate": "canary"},
        {**GOOD, "reason": "\ud800"},
        {**GOOD, "place": {**GOOD["place"], "pointer": "canary"}},
        {**GOOD, "place": {**GOOD["place"], "start": True}},
        {**GOOD, "place": {**GOOD["place"], "start": 4, "end": 2}},
        {**GOOD, "place": {**GOOD["place"], "path": "canary"}},
        {**GOOD, "place": "canary"},
        {**GOOD, "other": GOOD["place"], "other_fits": "00"},
        {**GOOD, "action": "structural"},
        {**GOOD, "action": "join"},
    ],
)
def test_what_is_no_rule_is_refused_without_quoting_it(data: Any) -> None:
    with pytest.raises(ManualRuleInvalid) as caught:
        rule_from(data)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "place",
    [
        at("/b"),
        at("/a", 5, 99),
        at("/a", 3, 3),
        at("/a", 0, 1, "percent"),
        at("a"),
        at("/a~"),
        at("/b", in_key=True),
        at("", in_key=True),
        at("/a/0", in_key=True),
        at(""),
    ],
)
def test_a_place_that_is_not_there_is_refused_without_quoting_the_document(place: Place) -> None:
    with pytest.raises(PlaceUnknown) as caught:
        value_at({"a": "canary"}, place)
    assert "canary" not in str(caught.value)


# --- all together -----------------------------------------------------------------------------------------------------

DOCUMENT: dict[str, Any] = {
    "customer_name": "Jane Doe",
    "rows": [
        {"email": "jane.doe@corp.test", "text": "Jane Doe (jane.doe@corp.test), ord-100123"},
        {"order_id": "ord-100123", "args": json.dumps({"order_id": 100123, "who": "Jane Doe"})},
        {"order_id": "ord-100124", "data": base64.b64encode(b"it is Jane Doe now").decode()},
    ],
    "jane.doe@corp.test": "said%20ord-100123",
}
VALUES = ("jane doe", "jane.doe@corp.test", "ord-100123", "ord-100124")
PLACES = [
    at(leaf.pointer, start, end, in_key=leaf.kind == "key")
    for leaf in leaves(DOCUMENT)
    for start, end in ((0, 0), (0, min(8, len(leaf.text))), (len(leaf.text) // 2, len(leaf.text)))
]
rules = st.builds(
    lambda action, place, other, kind, text: rule(
        DOCUMENT,
        action,
        at(place.pointer) if action == "drop" else place,
        **({"kind": kind} if action == "mark" else {}),
        **({"other": other} if action == "join" else {}),
        **({"surrogate": text} if action == "surrogate" else {}),
    ),
    st.sampled_from(["mark", "keep", "join", "split", "surrogate", "drop"]),
    st.sampled_from(PLACES),
    st.sampled_from(PLACES),
    st.sampled_from(["person", "id", "secret", "text", "card", "date"]),
    st.sampled_from(["Alba Stone", "Jane Doe", "x", "ord-100124", "7"]),
)


@settings(max_examples=60, deadline=None)
@given(chosen=st.lists(rules, max_size=6))
def test_whatever_people_decide_a_value_is_gone_or_the_result_is_open(chosen: list[ManualRule]) -> None:
    redaction = redacted(DOCUMENT, *chosen)
    again = redacted(DOCUMENT, *chosen)
    assert again == redaction
    assert again.document == redaction.document
    texts = [view.text.casefold() for leaf in leaves(redaction.document) for view in read(leaf.text).root.walk()]
    left = [value for value in VALUES if any(value in text for text in texts)]
    assert left == [] or redaction.open
    record = record_of(redaction, key=KEY).as_json()
    assert read_record(json.loads(json.dumps(record))) == record_of(redaction, key=KEY)
    later = rescan(redaction.document, policy=ALIASES_TOO, key=KEY, known=redaction.mapping)
    assert left == [] or later.open
