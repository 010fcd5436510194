"""What is kept of a redaction says where everything stands, and no value; a document edited by hand is read anew."""

from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.fixture.pointer import resolve, split
from replaycases.redaction.manual import mac
from replaycases.redaction.policy import BUILT_IN
from replaycases.redaction.record import Record, RecordInvalid, read_record, record_of, rescan
from replaycases.redaction.redact import Redaction, redact

KEY = bytes(range(32))
DOCUMENT: dict[str, Any] = {
    "customer_name": "Jane Doe",
    "text": "I am Jane Doe, jane@corp.test, card 4111 1111 1111 1111",
    "args": '{"order_id": 100123, "note": "for \\u004aane Doe"}',
    "order_id": 100123,
    "jane@corp.test": {"url": "https://shop.test/?q=jane%40corp.test"},
}


def redacted(document: Any = DOCUMENT) -> Redaction:
    return redact(document, policy=BUILT_IN, key=KEY)


def again(document: Any, redaction: Redaction) -> Record:
    return rescan(document, policy=BUILT_IN, key=KEY, known=redaction.mapping)


def test_seams_lay_the_redacted_document_beside_its_source() -> None:
    redaction = redacted()
    assert [change.source for change in redaction.changes] == [
        "/customer_name",
        "/text",
        "/args",
        "/order_id",
        "/jane@corp.test",
        "/jane@corp.test/url",
    ]
    for change in redaction.changes:
        assert change.pointer is not None
        before = _raw(DOCUMENT, change.source, in_key=change.in_key)
        after = _raw(redaction.document, change.pointer, in_key=change.in_key)
        assert _kept(before, [(seam.start, seam.end) for seam in change.seams]) == _kept(
            after, [(seam.new_start, seam.new_end) for seam in change.seams]
        )
    assert sum(len(change.seams) for change in redaction.changes) == 9


def _raw(document: Any, pointer: str, *, in_key: bool) -> str:
    value = split(pointer)[-1] if in_key else resolve(document, pointer)
    return value if isinstance(value, str) else json.dumps(value)


def _kept(text: str, spans: list[tuple[int, int]]) -> list[str]:
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    return [text[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2)]


def test_a_record_holds_no_value() -> None:
    document = {**DOCUMENT, "code": "a" * 30 + "[" * 5}
    del document["jane@corp.test"]
    said = json.dumps(record_of(redacted(document), key=KEY).as_json()).casefold()
    assert not any(value in said for value in ("jane", "corp.test", "4111", "100123"))


def test_a_record_is_read_as_it_was_written() -> None:
    record = record_of(redacted({**DOCUMENT, "also": "Jane called"}), key=KEY)
    assert record.open
    assert read_record(json.loads(json.dumps(record.as_json()))) == record


@pytest.mark.parametrize("data", [None, [], {}, {"changes": 5}, {"changes": [{}], "open": []}])
def test_what_is_no_record_is_refused(data: Any) -> None:
    with pytest.raises(RecordInvalid):
        read_record(data)


def test_nothing_is_open_in_a_redacted_document_that_nobody_touched() -> None:
    redaction = redacted()
    assert redaction.open == ()
    assert again(redaction.document, redaction).open == ()


def test_what_is_written_into_a_redacted_document_by_hand_is_open() -> None:
    redaction = redacted()
    edited = {**redaction.document, "text": "Jane Doe wrote to joe@corp.test"}
    found = again(edited, redaction).open
    assert [(one.kind, one.detector, one.length) for one in found] == [
        ("person", "residual:original", 8),
        ("email", "personal:email", 13),
    ]
    assert [one.fits for one in found] == [mac(KEY, "Jane Doe"), mac(KEY, "joe@corp.test")]


def test_a_part_of_a_surrogate_elsewhere_is_no_surrogate() -> None:
    redaction = redacted()
    part = str(redaction.document["order_id"])[:4]
    assert [one.detector for one in again({"order_id": part}, redaction).open] == ["field:id"]


def test_a_document_that_nobody_redacted_is_read_like_any_other() -> None:
    found = rescan({**DOCUMENT, "also": "Jane called"}, policy=BUILT_IN, key=KEY).open
    assert {one.detector for one in found} >= {"field:person", "personal:email", "known", "alias", "field:id"}


def test_the_frame_of_a_fixture_is_its_own() -> None:
    document = {"schema_version": "2.0", "case_id": "refund-4711", "input": {"note": "refund-4711"}}
    record = rescan(document, policy=BUILT_IN, key=KEY)
    assert [one.place.pointer for one in record.kept] == ["/case_id"]
