"""What a policy may say, and what no policy can: a secret and what cannot be read are never let through by it."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from replaycases.redaction.manual import ManualRule, mac
from replaycases.redaction.places import Place
from replaycases.redaction.policy import Policy, PolicyInvalid, read_policy
from replaycases.redaction.redact import Redaction, redact

KEY = bytes(range(32))
PASSWORD, TOKEN = "hunter2222!", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
DOCUMENT: dict[str, Any] = {
    "password": PASSWORD,
    "note": f"use {TOKEN}",
    "args": json.dumps({"api_key": PASSWORD, "text": TOKEN, "deeper": json.dumps({"pwd": PASSWORD})}),
    "url": f"https://x.test/?q=token%20{TOKEN}",
}
BLOB = base64.b64encode(bytes(range(128, 256)) * 3).decode()


def policy(**members: Any) -> Policy:
    return read_policy({"name": "test", "version": "1", **members})


def redacted(document: Any, *rules: ManualRule, **members: Any) -> Redaction:
    return redact(document, policy=policy(**members), key=KEY, rules=rules)


EVERY_WAY_OFF: dict[str, dict[str, Any]] = {
    "kept by key": {"fields": [{"key": "*", "kind": "keep"}]},
    "kept by pointer": {"fields": [{"pointer": "/*", "kind": "keep"}]},
    "allowed": {"allowed": [PASSWORD, TOKEN, f"use {TOKEN}"]},
    "of another kind that is off": {
        "fields": [{"key": "*", "kind": "id"}],
        "kinds_off": ["id", "opaque_id", "text", "person", "username"],
        "opaque": {"on": False},
    },
}


@pytest.mark.parametrize("way", EVERY_WAY_OFF)
def test_no_policy_lets_a_secret_through(way: str) -> None:
    redaction = redacted(DOCUMENT, **EVERY_WAY_OFF[way])
    said = json.dumps(redaction.document)
    assert (PASSWORD in said, TOKEN in said, redaction.open) == (False, False, ())


@pytest.mark.parametrize("way", EVERY_WAY_OFF)
def test_no_policy_lets_pass_what_cannot_be_read(way: str) -> None:
    assert "blind" in [finding.kind for finding in redacted({"image": BLOB}, **EVERY_WAY_OFF[way]).open]


def test_what_a_policy_keeps_is_left_but_for_its_secrets() -> None:
    redaction = redacted(
        {"note": f"jane@corp.test has {TOKEN}", "args": json.dumps({"email": "jane@corp.test"})},
        fields=[{"key": "*", "kind": "keep"}],
    )
    assert redaction.document["note"].startswith("jane@corp.test has ghp_synthetic-")
    assert redaction.document["args"] == '{"email": "jane@corp.test"}'
    assert [why for _, why in redaction.kept] == ["the policy keeps it"] * 2


def test_a_secret_that_a_person_keeps_is_open_for_a_waiver_whatever_the_policy_says() -> None:
    document = {"password": PASSWORD}
    keep = ManualRule(
        id="r1",
        action="keep",
        place=Place(pointer="/password", start=0, end=0),
        fits=mac(KEY, PASSWORD),
    )
    redaction = redacted(document, keep, fields=[{"key": "*", "kind": "keep"}], allowed=[PASSWORD])
    assert redaction.document == document
    assert [(finding.kind, finding.detector) for finding in redaction.open] == [("secret", "field:secret")]


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"kinds_off": ["email", "nope"]}, "/kinds_off: there is no kind 'nope'; it is of address,"),
        ({"kinds_off": ["keep"]}, "/kinds_off: there is no kind 'keep'"),
        ({"fields": [{"key": "a", "kind": "emial"}]}, "/fields/0/kind: there is no kind 'emial'; it is one of secret,"),
        ({"fields": [{"key": "a", "kind": "blind"}]}, "/fields/0/kind: there is no kind 'blind'"),
    ],
)
def test_a_kind_that_does_not_exist_is_refused_by_name(members: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyInvalid) as refusal:
        policy(**members)
    [problem] = refusal.value.problems
    assert problem.startswith(said)


@pytest.mark.parametrize("rows", [None, "email", [1], [[]], [""], ["email"] * 50])
def test_what_is_no_list_of_kinds_is_refused(rows: Any) -> None:
    with pytest.raises(PolicyInvalid, match="/kinds_off is a list of at most"):
        policy(kinds_off=rows)
