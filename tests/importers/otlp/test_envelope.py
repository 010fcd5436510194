"""OTLP in every arrangement in which files and requests hold it is read to the same spans and records."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.internal.encoder import _VarintBytes
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData

from replaycases.importers.findings import ImportRefused
from replaycases.importers.otlp import envelope, values
from replaycases.importers.otlp.protobuf_form import MAX_PARTS
from replaycases.importers.otlp.spans import MAX_ROWS, Export
from replaycases.importers.registry import open_recording
from tests.importers.otlp.exports import START, TRACE, as_json, export, record, sdk_request, span

ROWS = (("ask", {"gen_ai.request.model": "m", "n": 3, "temperature": 0.5, "on": True, "list": ["a", "b"]}),)


def read(data: bytes) -> Export:
    found = envelope.read_file(data)
    assert found is not None
    return found


def without_source(rows: list[Any]) -> list[Any]:
    return [replace(row, source="") for row in rows]


@pytest.fixture(scope="module")
def request_bytes() -> bytes:
    return sdk_request(ROWS)


@pytest.fixture(scope="module")
def request_message(request_bytes: bytes) -> ExportTraceServiceRequest:
    return ExportTraceServiceRequest.FromString(request_bytes)


def test_an_official_exporter_s_request_is_read(request_bytes: bytes) -> None:
    ask, root = envelope.read_traces(request_bytes, protobuf=True)
    assert (ask.name, root.name, ask.parent_id, ask.trace_id) == ("ask", "root", root.span_id, root.trace_id)
    assert ask.attributes == dict(ROWS[0][1])
    assert ask.resource["service.version"] == "7"
    assert (ask.scope_name, ask.scope_version, ask.kind) == ("shop.agent", "1.0", "internal")
    assert ask.source == "/resourceSpans/0/scopeSpans/0/spans/0"


def test_json_with_base64_ids_and_enum_names_is_read_the_same(
    request_bytes: bytes, request_message: ExportTraceServiceRequest
) -> None:
    expected = envelope.read_traces(request_bytes, protobuf=True)
    assert envelope.read_traces(as_json(request_message), protobuf=False) == expected


def test_snake_case_json_is_read_the_same(request_bytes: bytes, request_message: ExportTraceServiceRequest) -> None:
    expected = envelope.read_traces(request_bytes, protobuf=True)
    snake = envelope.read_traces(as_json(request_message, preserving_proto_field_name=True), protobuf=False)
    assert without_source(snake) == without_source(expected)


@pytest.mark.parametrize("prefix", [_VarintBytes, lambda size: size.to_bytes(4)], ids=["varint", "four-bytes"])
def test_a_stream_of_messages_is_read_whole(request_bytes: bytes, prefix: Any) -> None:
    frame = prefix(len(request_bytes)) + request_bytes
    found = read(frame * 3)
    assert len(found.spans) == 6
    assert found.spans[5].source.startswith("/2/resourceSpans/")
    assert not found.cut


def test_a_stream_that_breaks_off_keeps_its_whole_messages(request_bytes: bytes) -> None:
    frame = len(request_bytes).to_bytes(4) + request_bytes
    found = read(frame * 2 + frame[:-9])
    assert (len(found.spans), found.cut) == (4, True)


def test_one_export_on_each_line_is_read_whole() -> None:
    found = read(export(span(1)) + b"\n\n" + export(span(2)) + b"\n")
    assert [row.source.split("/")[1] for row in found.spans] == ["0", "1"]


def test_a_last_line_that_breaks_off_is_said() -> None:
    found = read(export(span(1)) + b"\n" + export(span(2))[:-20])
    assert (len(found.spans), found.cut) == (1, True)


def test_a_line_that_breaks_off_among_others_is_dropped_and_said() -> None:
    found = read(export(span(1)) + b"\n" + export(span(2))[:-20] + b"\n" + export(span(3)) + b"\n")
    assert ([row.span_id[-1] for row in found.spans], found.cut) == (["1", "3"], False)
    assert found.faults == ("a line that breaks off was dropped",)


def test_a_list_of_exports_is_read_whole() -> None:
    assert len(read(b"[" + export(span(1)) + b"," + export(span(2)) + b"]").spans) == 2


def test_two_files_put_together_are_one(request_bytes: bytes) -> None:
    pretty = json.dumps(json.loads(export(span(1))), indent=1).encode()
    logs = json.dumps({"resourceLogs": json.loads(export(logs=[record("e", {}, of=1)]))["resourceLogs"]}, indent=2)
    found = read(pretty + b"\n" + logs.encode())
    assert (len(found.spans), len(found.logs)) == (1, 1)
    assert found.logs[0].span_id == found.spans[0].span_id


def test_what_tempo_calls_batches_is_read_and_what_others_do_is_not() -> None:
    renamed = json.loads(export(span(1)))
    trace = {"batches": renamed["resourceSpans"]}
    assert len(read(json.dumps(trace).encode()).spans) == 1
    assert len(read(json.dumps({"trace": renamed}).encode()).spans) == 1
    assert envelope.read_file(b'{"batches": [{"id": 1}]}') is None


def test_a_line_that_is_no_export_is_said_and_one_of_metrics_is_not() -> None:
    data = export(span(1)) + b'\n{"resourceMetrics": []}\n'
    assert read(data).faults == ()
    assert read(data + b'{"message": "x"}\n').faults == ("an entry that is no export was dropped",)


def protobuf_logs() -> bytes:
    logs = LogsData()
    row = logs.resource_logs.add().scope_logs.add().log_records.add()
    row.trace_id, row.span_id, row.event_name = bytes.fromhex(TRACE), bytes(7) + b"\1", "gen_ai.choice"
    row.body.string_value = "said"
    return logs.SerializeToString()


def test_files_of_either_form_are_put_together(request_bytes: bytes) -> None:
    for first, second in ((request_bytes, protobuf_logs()), (export(span(1)), protobuf_logs())):
        found = read(envelope.together([first, second]))
        assert (len(found.spans) > 0, len(found.logs)) == (True, 1)
    pair = [b"\xef\xbb\xbf" + export(span(1)), export(span(2))]
    assert len(read(envelope.together(pair)).spans) == 2


def test_records_are_told_from_spans_in_protobuf() -> None:
    found = read(protobuf_logs())
    assert [(item.event_name, item.body, item.trace_id) for item in found.logs] == [("gen_ai.choice", "said", TRACE)]
    assert found.spans == []


def test_a_record_without_ids_is_no_span_either() -> None:
    logs = LogsData()
    logs.resource_logs.add().scope_logs.add().log_records.add().body.string_value = "said"
    found = read(logs.SerializeToString())
    assert (len(found.spans), len(found.logs)) == (0, 1)


def test_an_attribute_that_stands_twice_is_said_and_the_last_is_kept() -> None:
    row = span(1)
    row["attributes"] = [{"key": "k", "value": {"stringValue": text}} for text in ("a", "b")]
    found = read(export(row)).spans[0]
    assert (found.attributes, found.faults) == ({"k": "b"}, (values.TWICE,))


def test_what_is_dumped_is_read_again() -> None:
    attributes = {"text": "ü", "n": -3, "x": 0.5, "on": False, "none": None, "list": [1, "a"], "map": {"k": [{}]}}
    events = [{"name": "e", "timeUnixNano": "7", "attributes": []}]
    status = {"code": 2, "message": "no"}
    first = span(1, attributes=attributes, events=events, status=status, parent=9)
    found = read(export(first, span(2), logs=[record("e", attributes, of=1)]))
    again = read(envelope.dump(found.spans, found.logs))
    assert without_source(again.spans) == without_source(found.spans)
    assert without_source(again.logs) == without_source(found.logs)


def test_nanoseconds_beyond_what_a_double_holds_are_kept_as_numbers() -> None:
    row = {**span(1), "startTimeUnixNano": START + 1, "endTimeUnixNano": START + 3}
    assert (read(export(row)).spans[0].start_ns, read(export(row)).spans[0].end_ns) == (START + 1, START + 3)


@pytest.mark.parametrize(
    ("written", "kept", "fault"),
    [
        (b'{"intValue":"9007199254740993"}', "9007199254740993", values.BIG),
        (b'{"intValue":18446744073709551615}', "18446744073709551615", values.BIG),
        (b'{"doubleValue":"NaN"}', "nan", values.NO_NUMBER),
        (b'{"doubleValue":NaN}', "nan", values.NO_NUMBER),
        (b'{"doubleValue":1e999}', "inf", values.NO_NUMBER),
        (b'{"doubleValue":1e300}', "1e+300", values.BIG),
        (b'{"stringValue":"\\ud800!"}', "\ufffd!", values.HALF_CHARACTER),
        (b'{"intValue":"many"}', "many", values.UNREADABLE),
        (b'{"other":1}', None, values.UNREADABLE),
    ],
)
def test_what_cannot_stand_in_a_fixture_is_kept_as_text_and_said(written: bytes, kept: Any, fault: str) -> None:
    data = export(span(1, attributes={"x": "HERE"})).replace(b'{"stringValue":"HERE"}', written)
    found = read(data)
    assert found.spans[0].attributes == {"x": kept}
    assert fault in (*found.spans[0].faults, *found.faults)


def deep(levels: int, raw: int, inner: Any) -> Any:
    """An AnyValue of so many objects, the innermost `raw` of them lists that are no AnyValue."""
    for _ in range(raw):
        inner = [inner]
    made: Any = inner if raw else {"stringValue": "x"}
    for _ in range(levels - raw):
        made = {"kvlistValue": {"values": [{"key": "k", "value": made}]}}
    return made


@pytest.mark.parametrize("raw", [0, 1, 20])
def test_values_nested_too_deep_are_dropped_and_said_and_all_others_are_dumped(raw: int) -> None:
    here = [{"key": "x", "value": {"stringValue": "HERE"}}]
    event = {"name": "e", "timeUnixNano": "7", "attributes": here}
    data = export({**span(1), "attributes": here, "events": [event]})
    for levels, dropped in ((values.MAX_DEPTH + 1, False), (values.MAX_DEPTH + 2, True), (values.MAX_DEPTH + 30, True)):
        found = read(data.replace(b'{"stringValue":"HERE"}', json.dumps(deep(levels, raw, "x")).encode()))
        assert (values.TOO_DEEP in found.spans[0].faults) == dropped
        again = read(envelope.dump(found.spans))
        assert [one.attributes for one in again.spans] == [one.attributes for one in found.spans]
        assert [one.events for one in again.spans] == [one.events for one in found.spans]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\n{}",
        b"{}",
        b"[]",
        b'{"resourceSpans":1}',
        b'{"a":"\\"resourceSpans\\""}',
        b"\x0a\x02hi",
        b"\0" * 99,
    ],
)
def test_anything_else_is_no_export(data: bytes) -> None:
    assert envelope.read_file(data) is None


def test_more_spans_than_are_read_at_once_are_refused() -> None:
    rows = b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + b"{}," * (MAX_ROWS + 1) + b"{}]}]}]}"
    for read_it in (open_recording, lambda data: envelope.read_traces(data, protobuf=False)):
        with pytest.raises(ImportRefused) as caught:
            read_it(rows)
        assert caught.value.finding.id == "import.too-many-spans"


@pytest.mark.parametrize("part", [b"\x0a\x00", b"\0\0\0\0", b"\0"])
def test_a_file_of_nothing_but_empty_parts_is_no_export(part: bytes) -> None:
    assert envelope.read_file(part * (MAX_PARTS + 1)) is None


@pytest.mark.parametrize(("body", "protobuf"), [(b"\xff\xff", True), (b"[]", False), (b"{", False)])
def test_a_request_that_is_none_is_refused(body: bytes, protobuf: bool) -> None:
    for read_request in (envelope.read_traces, envelope.read_logs):
        with pytest.raises(ImportRefused):
            read_request(body, protobuf=protobuf)
