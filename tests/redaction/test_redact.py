"""From a document to a redacted one: nothing that was to go stays, and what values had to do with each other does."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaycases.redaction.canonical import canonical
from replaycases.redaction.manual import ManualRule, mac
from replaycases.redaction.places import Kind, Place
from replaycases.redaction.policy import BUILT_IN, read_policy
from replaycases.redaction.redact import Redaction, redact
from replaycases.redaction.relations import Fact, Occurrence, facts, lost
from replaycases.redaction.views.tree import read

KEY = bytes(range(32))
ALIASES_TOO = read_policy({"name": "test", "version": "1", "aliases": "replace"})

# Few values that resemble one another: what differs only in case, spacing, a tag or a digit, and one inside another.
POOL: dict[str, tuple[Kind, list[str]]] = {
    "email": ("email", ["jane.doe@corp.test", "Jane.Doe@corp.test", "jane.doe+a@corp.test", "doe@corp.test"]),
    "customer_name": ("person", ["Jane Doe", "jane doe", "Jane Doering", "John Doe"]),
    "user_id": ("id", ["jane_doe_4739", "100123", "100124", "ord-100123"]),
    "card_number": ("card", ["4111 1111 1111 1111", "4111111111111111", "5500 0000 0000 0004"]),
    "phone": ("phone", ["+1 212 867 5309", "+12128675309", "+44 7911 123456"]),
    "api_key": ("secret", ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", "correct-horse-battery"]),
    "iban": ("iban", ["DE89 3704 0044 0532 0130 00", "DE89370400440532013000"]),
    "request_uuid": ("uuid", ["0f8fad5b-d9cb-469f-a165-70867728950e", "0F8FAD5B-D9CB-469F-A165-70867728950E"]),
}
ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": lambda text: json.dumps({"note": text}),
    "escapes": lambda text: "said " + json.dumps(text).replace("@", "\\u0040").replace("0", "\\x30"),
    "percent": lambda text: "https://shop.test/?q=" + quote(text, safe=""),
    "entities": lambda text: "<b>" + html.escape(text).replace("a", "&#97;") + "</b>",
    "base64": lambda text: "data " + base64.b64encode(f"it is {text} now".encode()).decode(),
    "hex": lambda text: f"it is {text} now".encode().hex(),
    "invisible": lambda text: "\u200b".join(text),
}
occurrences = st.sampled_from(sorted(POOL)).flatmap(
    lambda field: st.tuples(st.just(field), st.sampled_from(POOL[field][1]), st.sampled_from(sorted(ENCODINGS)))
)


def _document(chosen: list[tuple[str, str, str]]) -> Any:
    """Each value once in its own field, where its kind is plain, and once in free text, encoded."""
    return [{field: value, "text": f"about {ENCODINGS[encoding](value)}"} for field, value, encoding in chosen]


@settings(max_examples=40)
@given(chosen=st.lists(occurrences, min_size=1, max_size=8))
def test_no_value_is_left_in_any_reading(chosen: list[tuple[str, str, str]]) -> None:
    redaction = redact(_document(chosen), policy=ALIASES_TOO, key=KEY)
    assert redaction.open == ()
    assert redaction.lost == ()
    texts = [view.text for text in _strings(redaction.document) for view in read(text).root.walk()]
    for field, value, _ in chosen:
        bare = _bare(POOL[field][0], value)
        assert not any(bare in _bare(POOL[field][0], text) for text in texts), value


@settings(max_examples=40)
@given(chosen=st.lists(occurrences, min_size=1, max_size=8))
def test_two_fields_hold_one_value_afterwards_exactly_if_they_did_before(chosen: list[tuple[str, str, str]]) -> None:
    document = _document(chosen)
    after = redact(document, policy=ALIASES_TOO, key=KEY).document
    for one, (field, value, _) in enumerate(chosen):
        for other, (other_field, other_value, _) in enumerate(chosen):
            if field == other_field:
                kind = POOL[field][0]
                same = canonical(kind, value) == canonical(kind, other_value)
                assert (canonical(kind, after[one][field]) == canonical(kind, after[other][field])) is same


texts = st.sampled_from(sorted({text for _, pool in POOL.values() for text in pool}))


@settings(max_examples=40)
@given(
    chosen=st.lists(occurrences, min_size=2, max_size=8),
    allowed=st.lists(texts, max_size=3),
    kept=st.lists(st.sampled_from(sorted(POOL)), max_size=2),
    rule_at=st.integers(0, 7),
)
def test_a_relation_with_what_stays_holds_or_is_told_as_lost(
    chosen: list[tuple[str, str, str]], allowed: list[str], kept: list[str], rule_at: int
) -> None:
    document = _document(chosen)
    fields = [{"key": field, "kind": "keep"} for field in kept]
    policy = read_policy({"name": "test", "version": "1", "aliases": "replace", "allowed": allowed, "fields": fields})
    field, value, _ = chosen[rule_at % len(chosen)]
    place = Place(pointer=f"/{rule_at % len(chosen)}/{field}", start=0, end=0)
    rules = [ManualRule(id="r1", action="keep", place=place, fits=mac(KEY, value))]
    redaction = redact(document, policy=policy, key=KEY, rules=rules)
    before, after = (_relations(chosen, one) for one in (document, redaction.document))
    assert redaction.lost or lost(before, after) == ()


def _relations(chosen: list[tuple[str, str, str]], document: Any) -> tuple[Fact, ...]:
    return facts(
        [
            Occurrence(
                place=Place(pointer=f"/{at}/{field}", start=0, end=0), kind=POOL[field][0], text=document[at][field]
            )
            for at, (field, _, _) in enumerate(chosen)
        ]
    )


STAYING: dict[str, dict[str, Any]] = {
    "a value that the policy allows": {"allowed": ["ord-10002", "jane.doe@corp.test"]},
    "a field that the policy keeps": {"fields": [{"key": "second_*", "kind": "keep"}]},
    "a kind that is off": {"kinds_off": ["email"]},
}


@pytest.mark.parametrize("policy", STAYING.values(), ids=STAYING)
def test_a_relation_that_is_lost_with_what_stays_refuses(policy: dict[str, Any]) -> None:
    document = {"first_name": "Jane Doe", "first_email": "john@corp.test", "second_email": "jane.doe@corp.test"}
    redaction = redact(document, policy=read_policy({"name": "t", "version": "1", **policy}), key=KEY)
    assert redaction.document["second_email"] == "jane.doe@corp.test"
    assert "name" in {fact.relation for fact in redaction.lost}


def test_ids_keep_their_order_with_one_that_stays() -> None:
    document = {f"{place}_id": f"ord-{number}" for place, number in enumerate((10001, 10004, 10005, 99990))}
    policy = read_policy({"name": "t", "version": "1", "allowed": ["ord-10004"]})
    redaction = redact(document, policy=policy, key=KEY)
    assert list(redaction.document.values()) == sorted(redaction.document.values())
    assert redaction.document["1_id"] == "ord-10004"
    assert redaction.lost == ()


def test_ids_without_room_beside_one_that_stays_have_lost_their_order() -> None:
    policy = read_policy({"name": "t", "version": "1", "allowed": ["ord-10001"]})
    redaction = redact({"a_id": "ord-10000", "b_id": "ord-10001"}, policy=policy, key=KEY)
    assert [fact.relation for fact in redaction.lost] == ["order"]


def test_a_day_that_a_person_keeps_beside_one_that_moves_is_a_lost_relation() -> None:
    document = {"dob": "1990-02-14", "text": "born on 1990-02-14."}
    keep = ManualRule(
        id="r1", action="keep", place=Place(pointer="/text", start=8, end=18), fits=mac(KEY, "1990-02-14")
    )
    redaction = redact(document, policy=BUILT_IN, key=KEY, rules=[keep])
    assert [str(fact) for fact in redaction.lost] == ["the same date stands at /dob and /text"]


def test_what_stays_beside_a_value_in_one_block_is_found_there_again() -> None:
    text = base64.b64encode(b"from john@corp.test to help@corp.test, thanks").decode()
    policy = read_policy({"name": "t", "version": "1", "allowed": ["help@corp.test"]})
    redaction = redact({"text": text}, policy=policy, key=KEY)
    assert [str(fact) for fact in redaction.lost] == ["the mailboxes at 2 places of /text (base64@0) are of one domain"]


def test_what_a_longer_value_takes_with_it_does_not_stay() -> None:
    policy = read_policy({"name": "t", "version": "1", "kinds_off": ["email"]})
    redaction = redact({"api_key": "jane@corp.test", "text": "jane@corp.test"}, policy=policy, key=KEY)
    assert "jane" not in str(redaction.document)
    assert redaction.lost == ()


def test_what_stays_has_no_relations_that_could_be_lost() -> None:
    policy = read_policy({"name": "t", "version": "1", "kinds_off": ["id"]})
    assert redact({"a_id": "ord-10001", "b_id": "ord-10002"}, policy=policy, key=KEY).facts == ()


def _strings(document: Any) -> list[str]:
    return [text for row in document for text in row.values()]


def _bare(kind: Kind, text: str) -> str:
    if kind in ("card", "phone", "iban"):
        return "".join(character for character in text if character.isalnum()).upper()
    return text.casefold()


def test_a_number_stays_a_number_and_the_same_one_as_its_string() -> None:
    after = redact({"order_id": 48213, "args": '{"order_id": "48213"}'}, policy=BUILT_IN, key=KEY).document
    assert isinstance(after["order_id"], int)
    assert json.loads(after["args"]) == {"order_id": str(after["order_id"])}
    assert after["order_id"] != 48213


def test_a_name_of_a_member_is_replaced_like_a_value() -> None:
    after = redact({"jane@corp.test": {"email": "jane@corp.test"}}, policy=BUILT_IN, key=KEY).document
    [(key, value)] = after.items()
    assert key == value["email"] != "jane@corp.test"


def test_one_key_gives_one_result_and_another_key_another() -> None:
    document = {"email": "jane@corp.test"}
    assert _after(document, KEY) == _after(document, KEY) != _after(document, KEY[::-1])


def _after(document: Any, key: bytes) -> Any:
    return redact(document, policy=BUILT_IN, key=key).document


def test_what_could_not_be_read_is_open() -> None:
    blob = base64.b64encode(bytes(range(128, 256)) * 3).decode()
    assert [finding.kind for finding in redact({"image": blob}, policy=BUILT_IN, key=KEY).open] == ["blind", "blind"][
        :1
    ]


def test_a_word_of_a_name_that_stands_alone_is_put_to_a_person() -> None:
    redaction = redact({"customer_name": "Jane Doe", "text": "Jane called."}, policy=BUILT_IN, key=KEY)
    assert [(finding.detector, finding.place.pointer) for finding in redaction.open] == [("alias", "/text")]


def test_what_is_left_as_it_stands_is_listed_with_why() -> None:
    policy = read_policy({"name": "test", "version": "1", "allowed": ["help@shop.test"]})
    redaction = redact({"text": "write to help@shop.test", "password": "***"}, policy=policy, key=KEY)
    assert {why for _, why in redaction.kept} == {"the policy keeps it", "masked already"}
    assert redaction.document == {"text": "write to help@shop.test", "password": "***"}


def test_the_frame_of_a_fixture_stays_and_a_secret_in_it_is_open() -> None:
    document = {
        "schema_version": "2.0",
        "case_id": "refund-4711",
        "events": [
            {"boundary": "tool", "tool": "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "arguments": {"user_id": "u-4711"}}
        ],
    }
    redaction = redact(document, policy=BUILT_IN, key=KEY)
    assert redaction.document["case_id"] == "refund-4711"
    assert redaction.document["events"][0]["arguments"] != {"user_id": "u-4711"}
    assert [finding.place.pointer for finding in redaction.open] == ["/events/0/tool"]


@pytest.mark.parametrize(
    "text",
    [
        "\\ud83d jane@corp.test \\udc00",
        "\ud83d jane@corp.test",
        "\u202ejane@corp.test\u202c",
        "jane@corp.test" * 3,
        "[" * 300 + "jane@corp.test",
        "%%%25%2 jane@corp.test &#xFFFFFF; &#0; \\U0010ffff",
    ],
)
def test_odd_text_is_read_or_left_open(text: str) -> None:
    redaction = redact({"text": text}, policy=BUILT_IN, key=KEY)
    assert "jane@corp" not in redaction.document["text"]
    assert redaction.open == () or text.startswith("\ud83d")


def test_a_detector_that_raises_leaves_a_blind_place(monkeypatch: pytest.MonkeyPatch) -> None:
    from replaycases.redaction.detectors.personal import Personal

    def fail(self: Personal, text: str, context: object) -> None:
        raise RuntimeError(text)

    monkeypatch.setattr(Personal, "hits", fail)
    redaction = redact({"text": "jane"}, policy=BUILT_IN, key=KEY)
    assert {finding.detector for finding in redaction.open} == {"blind:Personal failed"}


def test_nothing_that_is_said_of_a_redaction_quotes_a_value() -> None:
    redaction: Redaction = redact(
        {"email": "canary@corp.test", "canary@corp.test": "Canary", "customer_name": "Canary Smith"},
        policy=BUILT_IN,
        key=KEY,
    )
    said = [repr(redaction), *map(str, redaction.open), *map(str, redaction.facts), *map(repr, redaction.replaced)]
    assert "canary" not in "".join(said).casefold().replace("/canary@corp.test", "")


def test_the_digest_of_a_template_follows_its_content() -> None:
    content = "You help jane@corp.test."
    template = {"name": "system", "version": "1", "sha256": sha256(content.encode()).hexdigest(), "content": content}
    document = {"schema_version": "2.0", "templates": [template, {**template, "sha256": "0" * 64}]}
    redaction = redact(document, policy=BUILT_IN, key=KEY)
    right, wrong = redaction.document["templates"]
    assert right["sha256"] == sha256(right["content"].encode()).hexdigest()
    assert wrong["sha256"] == "0" * 64
    assert [change.source for change in redaction.changes] == [
        "/templates/0/sha256",
        "/templates/0/content",
        "/templates/1/content",
    ]
    assert redaction.open == ()


def test_a_value_that_was_replaced_is_open_in_the_frame() -> None:
    document = {"schema_version": "2.0", "case_id": "refund-4711", "input": {"claim_id": "refund-4711"}}
    redaction = redact(document, policy=BUILT_IN, key=KEY)
    assert [(finding.detector, finding.place.pointer) for finding in redaction.open] == [
        ("residual:original", "/case_id")
    ]


def test_what_the_frame_is_made_of_is_looked_for_nowhere_else() -> None:
    document = {"schema_version": "2.0", "case_id": "refund-4711", "input": "see refund-4711"}
    redaction = redact(document, policy=BUILT_IN, key=KEY)
    assert redaction.document == document
    assert redaction.open == ()


@pytest.mark.parametrize("name", ["gpt-4o-mini-2024-07-18", "claude-haiku-4-5-20251001"])
def test_a_model_is_nobodys_id(name: str) -> None:
    assert redact({"text": f"answered by {name}"}, policy=BUILT_IN, key=KEY).replaced == ()
