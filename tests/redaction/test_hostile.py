"""Whatever a document or a rule holds: no traceback, no pass, and nothing told of it."""

from __future__ import annotations

import base64
import json
from typing import Any, get_args

import pytest

from replaycases.redaction.leaves import leaves
from replaycases.redaction.manual import Action, ManualRule, mac
from replaycases.redaction.places import Place
from replaycases.redaction.policy import read_policy
from replaycases.redaction.record import record_of, rescan
from replaycases.redaction.redact import redact
from replaycases.redaction.scan import sources
from replaycases.redaction.views.tree import read

KEY = bytes(range(32))
POLICY = read_policy({"name": "test", "version": "1", "aliases": "replace", "dates": "shift"})
CANARY = "canary.doe@corp.test"


def nested(text: str, depth: int) -> str:
    return nested(json.dumps([text]), depth - 1) if depth else text


def bomb(text: str, times: int) -> str:
    return bomb(base64.b64encode(text.encode()).decode(), times - 1) if times else text


HOSTILE: dict[str, Any] = {
    "lone surrogates": [f"\ud83d {CANARY} \udc00", "\ud83d\ud83d", "\udfff" * 20],
    "right to left and zero width": [f"\u202e{CANARY}\u202c", "\u200b".join(CANARY), f"\u2067{CANARY}\u2069 ع"],
    "deeper than is read": [nested(CANARY, depth) for depth in (3, 4, 5, 7)] + ["[" * 400 + "]" * 400],
    "blocks in blocks": [bomb(CANARY * 3, depth) for depth in (1, 4, 5, 9)],
    "values in values": [CANARY, f"x{CANARY}", {"customer_name": "Canary", "email": f"Canary <{CANARY}>"}],
    "the same digits as text and number": {"order_id": 48213, "x": {"order_id": "48213"}, "n": [48213, "48213"]},
    "keys that are values": {CANARY: {CANARY: CANARY}, CANARY.upper(): 1, f"{CANARY} ": 2},
    "what an empty automaton once held": {"customer_name": "Jane Doe", "x": "\0nothing\0"},
    "what a surrogate looks like": ["[removed text 123456, 9 characters]", "synthetic-abcdefghijklmnop", "x@y.example"],
    "fields that hold something else": [
        {field: value}
        for field in ("dob", "ssn", "iban", "card_number", "phone", "request_uuid", "pin", "email", "order_id")
        for value in (0, -1, 0.5, 10**15, " ", "***", "\U0001f600", "\u0661", "1" * 5000, f"1990-01-01 {CANARY}")
    ],
    "shapes that nearly fit": ["{" * 300, "%%%25%2", "&#xFFFFFF;&#0;", "\\U0010ffff\\ud800", "\x00", "[1,", "a@b@c.de"],
    "nested JSON that is lenient": [f'{{"email":"{CANARY}","n":{"1" * 5000}}}', f'{{"password":"x\n{CANARY}"}}'],
    "a fixture in name only": {
        "schema_version": "2.0", "missing": 5, "templates": [3, {"content": CANARY, "sha256": []}], "events": CANARY,
    },
}  # fmt: skip


def rules_about(document: Any) -> list[ManualRule]:
    """One rule of each action in every tenth reading of the document, and at places that nothing has."""
    readings = [(source, view) for source in sources(document) for view in source.reading.root.walk() if view.text]
    places = [
        (
            Place(pointer=source.leaf.pointer, in_key=source.leaf.kind == "key", path=view.path, start=0, end=2),
            view.text,
        )
        for source, view in readings[::10]
    ]
    places.append((Place(pointer="/~7", path=("percent",), start=3, end=10**30), "x"))
    places.append((Place(pointer="", start=0, end=0), "x"))
    return [
        ManualRule(
            id=action,
            action=action,
            place=place,
            fits=mac(KEY, text[:2]),
            kind="card" if action == "mark" else None,
            other=places[0][0] if action == "join" else None,
            other_fits=mac(KEY, places[0][1][:2]),
            surrogate="Alba Stone",
            reason="why" if action == "structural" else "",
        )
        for place, text in places
        for action in get_args(Action)
    ]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("by_hand", [False, True])
def test_a_hostile_document_is_read_or_left_open(name: str, by_hand: bool) -> None:
    document = HOSTILE[name]
    rules = rules_about(document) if by_hand else []
    redaction = redact(document, policy=POLICY, key=KEY, rules=rules)
    texts = [view.text for leaf in leaves(redaction.document) for view in read(leaf.text).root.walk()]
    assert redaction.open or not any(CANARY in text.casefold() for text in texts)
    later = rescan(redaction.document, policy=POLICY, key=KEY, known=redaction.mapping)
    assert redaction.open or not later.open
    told = f"{redaction!r}{record_of(redaction, key=KEY).as_json()}{later!r}{later.as_json()}"
    assert "canary" not in told.casefold() or name == "keys that are values"


def test_rules_that_nothing_fits_tell_nothing_of_it() -> None:
    document = HOSTILE["values in values"]
    redaction = redact(document, policy=POLICY, key=KEY, rules=rules_about(document))
    assert any(finding.detector == "manual:does not fit" for finding in redaction.open)
    assert "canary" not in json.dumps(record_of(redaction, key=KEY).as_json()).casefold()
    assert "canary" not in repr(redaction).casefold()
