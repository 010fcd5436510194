"""A secret is found in the shapes in which headers, forms and data stand, and what stands beside it stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.redaction.policy import BUILT_IN, read_policy
from replaycases.redaction.redact import redact

KEY = bytes(range(32))
SECRET = "sid-hunter22"


def after(document: Any, **members: Any) -> Any:
    redaction = redact(document, policy=read_policy({"name": "test", "version": "1", **members}), key=KEY)
    assert (redaction.open, redaction.lost) == ((), ())
    return redaction.document


SHAPES: dict[str, Any] = {
    "headers by name": [{"name": "Cookie", "value": SECRET}, {"name": "X-Api-Key", "value": SECRET}],
    "value first": {"value": SECRET, "key": "password"},
    "several values": {"Name": "Set-Cookie", "Values": [SECRET, f"{SECRET}; Path=/"]},
    "pairs": [["Cookie", SECRET], ["X-Api-Key", SECRET], ["Authorization", f"Basic {SECRET}"]],
    "value below": {"password": {"value": SECRET}, "cookies": [{"name": "a", "value": SECRET}]},
    "a number": [{"key": "pin", "value": 48213}, {"key": "password", "value": SECRET}],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wrapped", [lambda shape: shape, json.dumps], ids=["as it is", "in a string"])
def test_a_value_is_judged_by_what_it_is_called_beside_its_key(shape: str, wrapped: Any) -> None:
    said = json.dumps(after({"data": wrapped(SHAPES[shape])}))
    assert (SECRET in said, "48213" in said) == (False, False)


@pytest.mark.parametrize(
    "document",
    [
        {"required": ["password", "user-name"], "also": ["cookie", "token", "x=1"]},
        [{"name": "status", "value": "late-2"}, {"name": "service.name", "value": "shop"}],
        {"name": "Cookie", "text": "chocolate-2"},
        {"key": "password", "value": "***"},
    ],
)
def test_names_beside_names_are_no_values(document: Any) -> None:
    assert after({"data": document, "args": json.dumps(document)}) == {"data": document, "args": json.dumps(document)}


def test_a_policy_judges_by_what_a_value_is_called_too() -> None:
    document = [{"name": "nick", "value": "Rosebud"}, {"name": "first_name", "value": "Mia"}]
    nick, first = after(document, fields=[{"key": "nick", "kind": "person"}, {"key": "first_name", "kind": "keep"}])
    assert (nick["value"] == "Rosebud", first["value"]) == (False, "Mia")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('got {"password": "hunter"}, done', 'got {"password": "'),
        ('```json\n{"user": "jane", "api_key": "hunter two"}\n```', '```json\n{"user": "jane", "api_key": "'),
        ('{"password":"hunter"}\n{"state":"late"}', '"}\n{"state":"late"}'),
        ("{'password': 'hunter', 'state': 'late'}", "', 'state': 'late'}"),
        ("{'clientSecret' => 'hunter'}", "{'clientSecret' => '"),
        ('cut: {"password": "hunter', 'cut: {"password": "'),
        ('"Authorization": "hunter2 222"', '"Authorization": "'),
        ("user=jane&password=hunter2&x=1", "&x=1"),
        ("user=jane&password=hunter&x=1", "&x=1"),
        ('the "password" is "hunter2"', 'the "password" is "'),
        ("my password is hunter2&3", "my password is "),
    ],
)
def test_a_secret_in_a_text_goes_and_what_stands_beside_it_stays(text: str, kept: str) -> None:
    said = after({"text": text})["text"]
    assert "hunter" not in said
    assert kept in said
    assert "hunter2&3" not in text or said.count("&") == 0


@pytest.mark.parametrize(
    "text", ["set {'password': 'string'}", '"token": "***", "pin": "<your pin>"', '"tool": "hunter"']
)
def test_what_only_names_a_secret_stays(text: str) -> None:
    assert redact({"text": text}, policy=BUILT_IN, key=KEY).document == {"text": text}
