"""A block in base64 or hexadecimal is read whatever it holds, and no known value passes in one."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable

import pytest

from replaycases.redaction.policy import read_policy
from replaycases.redaction.redact import redact

KEY = bytes(range(32))
OFF = {"name": "test", "version": "1"}
ALIASES_TOO = read_policy({**OFF, "aliases": "replace"})


@pytest.mark.parametrize(
    "held",
    [
        b"\0jane.doe@corp.test",
        b"\x02\x034111111111111111",
        b"id=7\0Jane Doe\x1b[0m",
        "mail jane.doe@corp.test, été".encode("latin-1"),
        "\ufeffmail jane.doe@corp.test".encode("utf-16-le"),
        "Jane Doe".encode("utf-16-be"),
    ],
)
@pytest.mark.parametrize("encoded", [bytes.hex, lambda octets: base64.b64encode(octets).decode()])
def test_a_block_with_control_characters_or_in_another_charset_is_read(
    held: bytes, encoded: Callable[[bytes], str]
) -> None:
    fields = {"email": "jane.doe@corp.test", "card_number": "4111111111111111", "customer_name": "Jane Doe"}
    redaction = redact({**fields, "data": encoded(held)}, policy=ALIASES_TOO, key=KEY)
    after = redaction.document["data"]
    assert redaction.open == ()
    assert not any(value.encode() in _octets(after).replace(b"\0", b"") for value in fields.values())


def _octets(block: str) -> bytes:
    return (
        bytes.fromhex(block) if re.fullmatch("[0-9a-f]+", block) else base64.b64decode(block + "=" * (-len(block) % 4))
    )


@pytest.mark.parametrize("value", ["jane.doe@corp.test", "Jane Doe"])
@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le"])
def test_a_value_in_a_block_that_is_no_text_is_open(value: str, charset: str) -> None:
    noise = bytes(range(128, 168))
    block = base64.b64encode(noise + value.encode(charset) + noise).decode()
    document = {"email": "jane.doe@corp.test", "customer_name": "Jane Doe", "data": block}
    redaction = redact(document, policy=read_policy({**OFF, "opaque": {"on": False}}), key=KEY)
    assert [(one.detector, one.place.pointer) for one in redaction.open] == [("residual:original", "/data")]
