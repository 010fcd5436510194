"""A part of an address that says who it is goes wherever it stands; what anybody may have in theirs stays."""

from __future__ import annotations

from typing import Any

import pytest

from replaycases.redaction.mailboxes import Parts
from replaycases.redaction.policy import BUILT_IN, read_policy
from replaycases.redaction.record import rescan
from replaycases.redaction.redact import Redaction, redact

KEY = bytes(range(32))
MAIL = "Jane.Doe+news@corp.test"


def redacted(document: Any, **members: Any) -> Redaction:
    return redact(document, policy=read_policy({"name": "test", "version": "1", **members}), key=KEY)


def test_parts_of_an_address_are_replaced_as_in_the_address() -> None:
    redaction = redacted(
        {
            "email": MAIL,
            "text": "jane.doe of CORP.test, see https://mail.corp.test/u/jane.doe, or @corp.test",
            "other": "bob.stone@corp.test",
        }
    )
    local, _, domain = redaction.document["email"].lower().partition("@")
    local = local.partition("+")[0]
    assert redaction.document["text"].lower() == (
        f"{local} of {domain}, see https://mail.{domain}/u/{local}, or @{domain}"
    )
    assert (redaction.open, redaction.lost) == ((), ())


@pytest.mark.parametrize("text", ["about jane.doe", "see corp.test", "6a616e652e646f65206f6620636f72702e74657374"])
def test_a_part_that_stands_there_again_is_open(text: str) -> None:
    redaction = redacted({"email": MAIL})
    found = rescan({**redaction.document, "text": text}, policy=BUILT_IN, key=KEY, known=redaction.mapping).open
    assert ("residual:original", "/text") in {(one.detector, one.place.pointer) for one in found}


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("jane.doe@corp.test", ["jane.doe", "corp.test"]),
        ("jdoe42@gmail.com", ["jdoe42"]),
        ("41723344@qq.com", ["41723344"]),
        ("jane.doe@yahoo.co.uk", ["jane.doe"]),
        ("jane@mail.corp.test", ["mail.corp.test"]),
        ("jd.1@ab.de", []),
        ("orders@example.com", []),
        ("jane@shop.example", []),
        ("no-reply@corp.test", []),
        ("Customer.Service@corp.test", []),
        ("support@corp.test", []),
    ],
)
def test_a_part_is_looked_for_if_it_says_who_it_is(address: str, told: list[str]) -> None:
    assert [part for _, part in Parts().of(address)] == told


def test_what_the_policy_allows_is_no_part() -> None:
    document = {"email": "jane.doe@corp.test", "text": "corp.test, ask bob@corp.test or jane.doe"}
    for allowed in (["corp.test"], ["BOB@corp.test"]):
        after = redacted(document, allowed=allowed).document
        assert after["text"].startswith("corp.test, ask ")
        assert "jane" not in after["text"]


def test_a_kind_that_is_off_is_no_part() -> None:
    redaction = redacted({"email": "jane.doe@corp.test", "text": "corp.test, jane.doe"}, kinds_off=["url", "username"])
    assert redaction.document["text"] == "corp.test, jane.doe"
    assert redaction.open == ()


def test_a_mailbox_that_stays_keeps_its_parts() -> None:
    document = {"email": "jane.doe@corp.test", "contact": "bob.stone@corp.test"}
    redaction = redacted(document, fields=[{"key": "contact", "kind": "keep"}])
    assert redaction.document["contact"] == "bob.stone@corp.test"
    assert [finding.place.pointer for finding in redaction.open] == []
