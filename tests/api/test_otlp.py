"""The receiver for collectors: what OTLP says of its answers, and the official exporter over a real socket."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.db import OperationalError
from django.test import Client
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.trace import Status, StatusCode

from replaycases.accounts.models import User
from replaycases.api import otlp
from replaycases.cases import evidence, people, trace_buffer, trace_captures
from replaycases.cases.models import BufferedTrace, Draft, Payload
from replaycases.importers.otlp import envelope
from tests import factories
from tests.api.otlp_requests import OTHER, TRACE, as_json, as_protobuf, chat, records, span

PROTOBUF = "application/x-protobuf"


@pytest.fixture
def of(db: None) -> factories.People:
    return factories.people(factories.project())


@pytest.fixture
def secret(of: factories.People) -> str:
    return token_of(of.responder, of, "otlp")


def token_of(user: User, of: factories.People, *scopes: str) -> str:
    _, secret = people.create_token(user, project=of.project, name="collector", scopes=scopes, days=1)
    return secret


def send(secret: str, body: bytes, *, type: str = "application/json", path: str = "traces", **headers: str) -> Any:
    sent = {"Authorization": f"Bearer {secret}", "Content-Type": type, **headers}  # also of an empty body
    return Client(headers=sent).post(f"/v1/{path}", body, content_type=type)


def test_json_is_taken_and_answered_in_json(secret: str) -> None:
    answer = send(secret, as_json(chat()), type="application/json; charset=utf-8")
    assert (answer.status_code, answer["Content-Type"], answer.json()) == (200, "application/json", {})
    assert BufferedTrace.objects.get().spans == 1


def test_protobuf_is_taken_and_answered_in_protobuf(secret: str) -> None:
    answer = send(secret, as_protobuf(chat()), type=PROTOBUF)
    assert (answer.status_code, answer["Content-Type"], answer.content) == (200, PROTOBUF, b"")
    assert BufferedTrace.objects.get().spans == 1


def test_log_records_are_taken(secret: str) -> None:
    assert send(secret, records(times=3), path="logs").json() == {}
    assert BufferedTrace.objects.get().records == 3


def test_what_is_not_kept_is_a_partial_success_with_its_number_and_reason(secret: str) -> None:
    body = [chat(), span(2, trace="")]
    partial = send(secret, as_json(*body)).json()["partialSuccess"]
    assert partial["rejectedSpans"] == "1"
    assert "id of a trace" in partial["errorMessage"]
    answer = ExportTraceServiceResponse.FromString(send(secret, as_protobuf(*body), type=PROTOBUF).content)
    assert answer.partial_success.rejected_spans == 1
    assert send(secret, records(trace=""), path="logs").json()["partialSuccess"]["rejectedLogRecords"] == "1"
    logs = send(secret, b"", type=PROTOBUF, path="logs").content
    assert ExportLogsServiceResponse.FromString(logs) == ExportLogsServiceResponse()


def test_a_request_that_came_to_the_address_of_the_other_signal_is_refused(secret: str) -> None:
    """An answer of 200 would say that it is kept."""
    logs = LogsData()
    record = logs.resource_logs.add().scope_logs.add().log_records.add()
    record.time_unix_nano, record.event_name = 1_700_000_000_000_000_100, "noted"
    nameless = logs.SerializeToString()
    record.trace_id, record.span_id = bytes.fromhex(TRACE), bytes(8)
    for body in (nameless, logs.SerializeToString()):
        assert b"log records to /v1/logs" in send(secret, body, type=PROTOBUF).content
        assert send(secret, body, type=PROTOBUF, path="logs").status_code == 200
    assert b"spans to /v1/traces" in send(secret, as_protobuf(chat()), type=PROTOBUF, path="logs").content
    for body, path in ((records(), "traces"), (as_json(chat()), "logs")):
        answer = send(secret, body, path=path)
        assert (answer.status_code, answer.json()["code"]) == (400, 3)
        assert "are not taken here" in answer.json()["message"]
    assert BufferedTrace.objects.get().spans == 0


def test_gzip_is_unpacked_also_in_several_members(secret: str) -> None:
    body = as_json(chat())
    packed = gzip.compress(body[:100]) + gzip.compress(body[100:])
    assert send(secret, packed, **{"Content-Encoding": "gzip"}).status_code == 200
    assert BufferedTrace.objects.get().spans == 1


def test_a_gzip_that_unpacks_to_too_much_is_refused(secret: str, settings: Any) -> None:
    settings.REPLAYCASES_OTLP_BODY_BYTES = 10_000
    for size, status in ((10_000, 400), (10_001, 413), (5_000_000, 413)):
        answer = send(secret, gzip.compress(b" " * size), **{"Content-Encoding": "gzip"})
        assert answer.status_code == status


def test_no_more_of_a_gzip_is_unpacked_than_is_taken() -> None:
    """A gigabyte of nothing in a megabyte."""
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(1024))
    tracemalloc.start()
    assert len(otlp._unpacked(bomb, 1000)) == 1000
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 << 20


def test_a_gzip_of_very_many_members_is_not_copied_once_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    fed = 0

    class Counted:
        def __init__(self, wbits: int) -> None:
            self.member = made(wbits)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.member, name)

        def decompress(self, data: bytes, most: int) -> bytes:
            nonlocal fed
            fed += len(data)
            return self.member.decompress(data, most)

    made = zlib.decompressobj
    monkeypatch.setattr(zlib, "decompressobj", Counted)
    body = as_json(chat())
    packed = gzip.compress(b"") * 5_000 + gzip.compress(body)
    assert otlp._unpacked(packed, 10_000) == body
    assert fed < len(packed) * otlp._PIECE // 10


@pytest.mark.parametrize("packed", [False, True])
def test_a_body_that_comes_in_chunks_without_a_length_is_read(packed: bool) -> None:
    body = as_json(chat())
    sent = gzip.compress(body) if packed else body
    assert otlp._body(in_chunks(sent, packed=packed, **{"wsgi.input_terminated": True})) == body


def test_a_body_in_chunks_is_refused_where_the_server_does_not_end_it() -> None:
    with pytest.raises(otlp.Refused) as refused:
        otlp._body(in_chunks(b"{}"))
    assert refused.value.status == 411


def test_no_more_of_a_body_in_chunks_is_read_than_is_taken(settings: Any) -> None:
    settings.REPLAYCASES_OTLP_BODY_BYTES = 2000
    sent = in_chunks(b" " * 100_000, **{"wsgi.input_terminated": True})
    with pytest.raises(otlp.Refused) as refused:
        otlp._body(sent)
    assert (refused.value.status, sent.META["wsgi.input"].tell()) == (413, 2001)


def in_chunks(sent: bytes, *, packed: bool = False, **environ: Any) -> WSGIRequest:
    """As a server hands it on: the chunks put together, no length."""
    encoding = {"HTTP_CONTENT_ENCODING": "gzip"} if packed else {}
    named = {"REQUEST_METHOD": "POST", "PATH_INFO": "/v1/traces", "HTTP_TRANSFER_ENCODING": "chunked"}
    return WSGIRequest({**named, **encoding, "wsgi.input": io.BytesIO(sent), **environ})


@pytest.mark.parametrize(
    ("status", "code", "sent"),
    [
        (400, 3, {"body": b"[]"}),
        (400, 3, {"body": b"\x1f\x8b broken", "Content-Encoding": "gzip"}),
        (400, 3, {"body": gzip.compress(b"{}")[:-5], "Content-Encoding": "gzip"}),
        (413, 8, {"body": b" " * 2001}),
        (415, 3, {"body": b"{}", "Content-Encoding": "br"}),
        (415, 3, {"body": b"{}", "type": "text/plain"}),
        (401, 16, {"body": b"{}", "secret": "rc_unknown"}),
    ],
)
def test_what_is_not_taken_is_said_in_the_form_of_the_request(
    secret: str, settings: Any, status: int, code: int, sent: dict[str, Any]
) -> None:
    settings.REPLAYCASES_OTLP_BODY_BYTES = 2000
    answer = send(**{"secret": secret, **sent})
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/json")
    assert answer.json()["code"] == code
    assert answer.json()["message"]
    assert not Payload.objects.exists()


def test_an_error_of_a_protobuf_request_is_a_status_in_protobuf(secret: str) -> None:
    answer = send("rc_unknown", b"", type=PROTOBUF)
    assert (answer.status_code, answer["Content-Type"]) == (401, PROTOBUF)
    assert answer["WWW-Authenticate"].startswith("Bearer")
    said = answer.content
    assert said[:3] == bytes([0x08, 16, 0x12])
    assert said[3] == len(said[4:])  # one byte: shorter than 128
    assert b"token" in said[4:]


def test_a_long_message_has_its_length_in_two_bytes() -> None:
    said = otlp._status(3, "x" * 300)
    assert said == bytes([0x08, 3, 0x12, 0xAC, 0x02]) + b"x" * 300


def test_a_token_needs_the_scope_and_its_owner_the_role(of: factories.People) -> None:
    for secret in (token_of(of.responder, of, "read", "cases", "captures"), token_of(of.qa, of, "otlp")):
        assert send(secret, as_json(chat())).status_code == 403
    assert not Payload.objects.exists()


def test_the_secret_of_a_collector_reads_nothing_and_writes_nothing_else(of: factories.People, secret: str) -> None:
    """It stands in the configuration of every host that runs a collector."""
    capture = factories.drafted(of.project, of.responder)
    before, address = Draft.objects.get().choices_id, f"/api/v1/captures/{capture.pk}/"
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    for path in ("/api/v1/cases/", "/api/v1/captures/", "/api/v1/traces/", address):
        assert client.get(path).status_code == 403, path
    put = client.put(f"{address}runs/0/draft/", {"choices": {}}, content_type="application/json")
    assert (put.status_code, Draft.objects.get().choices_id) == (403, before)
    assert client.post("/api/v1/captures/?project=RC", b"{}", content_type="application/json").status_code == 403


def test_a_session_sends_nothing(of: factories.People) -> None:
    client = Client()
    client.force_login(of.responder)
    assert client.post("/v1/traces", as_json(chat()), content_type="application/json").status_code == 401


def test_only_post_is_answered(secret: str) -> None:
    answer = Client(headers={"Authorization": f"Bearer {secret}"}).get("/v1/traces")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")


def test_a_full_buffer_asks_to_come_again(secret: str, settings: Any) -> None:
    settings.REPLAYCASES_OTLP_BUFFER_TRACES = 1
    assert send(secret, as_json(span(1, parent=9))).status_code == 200
    answer = send(secret, as_json(span(1, trace=OTHER)))
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0


def test_a_busy_database_asks_to_come_again(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: Any, **__: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(trace_buffer, "receive", busy)
    answer = send(secret, as_json(chat()))
    assert answer.status_code == 503
    assert answer["Retry-After"]


def test_a_key_ring_that_cannot_be_read_asks_to_come_again(secret: str, settings: Any, tmp_path: Path) -> None:
    """A collector drops what is answered with 500."""
    settings.EVIDENCE_KEYS_FILE = tmp_path / "ring.json"
    settings.EVIDENCE_KEYS_FILE.write_text("{")
    answer = send(secret, as_json(chat()))
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert not Payload.objects.exists()


def test_no_answer_quotes_what_was_sent(secret: str) -> None:
    for body in (as_json(chat(trace="")), b'{"resourceSpans": "4711"', b'["4711"]'):
        assert b"4711" not in send(secret, body).content


# --- the official exporter ------------------------------------------------------------------------------------------


class Recorder:
    """Runs a traced program against the server."""

    def __init__(self, url: str, secret: str, **options: Any) -> None:
        self.exporter = OTLPSpanExporter(f"{url}/v1/traces", headers={"Authorization": f"Bearer {secret}"}, **options)
        self.provider = TracerProvider(resource=Resource({"service.name": "shop", "service.version": "7"}))
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.results: list[SpanExportResult] = []
        export = self.exporter.export

        def kept(spans: Any) -> SpanExportResult:
            self.results.append(export(spans))
            return self.results[-1]

        self.exporter.export = kept  # type: ignore[method-assign]

    def run(self) -> str:
        tracer = self.provider.get_tracer("shop.agent")
        with tracer.start_as_current_span("invoke_agent") as root:
            attributes = {pair["key"]: pair["value"]["stringValue"] for pair in chat()["attributes"]}
            with tracer.start_as_current_span("chat gpt-test", attributes=attributes):
                pass
            root.set_status(Status(StatusCode.ERROR))
            trace_id = root.get_span_context().trace_id
        return f"{trace_id:032x}"


@pytest.fixture
def recorders() -> Iterator[list[Recorder]]:
    made: list[Recorder] = []
    yield made
    for recorder in made:
        recorder.provider.shutdown()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
def test_the_official_exporter_delivers_a_trace_that_becomes_a_capture(
    live_server: Any, recorders: list[Recorder], compression: Compression
) -> None:
    of = factories.people(factories.project())
    recorder = Recorder(live_server.url, token_of(of.responder, of, "otlp"), compression=compression)
    recorders.append(recorder)
    trace_id = recorder.run()
    assert set(recorder.results) == {SpanExportResult.SUCCESS}
    trace = BufferedTrace.objects.get()
    assert (trace.trace_id, trace.spans, trace.ended) == (trace_id, 2, True)
    capture = trace_captures.capture_trace(of.responder, project=of.project, trace_id=trace_id)
    export = envelope.read_file(evidence.read(capture.payload))
    assert export is not None
    assert {one.name for one in export.spans} == {"invoke_agent", "chat gpt-test"}
    assert {one.resource["service.version"] for one in export.spans} == {"7"}


@pytest.mark.django_db(transaction=True)
def test_the_official_exporter_comes_again_after_a_503(
    live_server: Any, recorders: list[Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    of = factories.people(factories.project())
    receive, calls = trace_buffer.receive, []

    def busy_once(*args: Any, **said: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise OperationalError("database is locked")
        return receive(*args, **said)

    monkeypatch.setattr(trace_buffer, "receive", busy_once)
    monkeypatch.setattr(otlp, "RETRY_SECONDS", "0")
    recorder = Recorder(live_server.url, token_of(of.responder, of, "otlp"))
    recorders.append(recorder)
    recorder.run()
    assert recorder.results == [SpanExportResult.SUCCESS] * 2
    assert (len(calls), BufferedTrace.objects.get().spans) == (3, 2)


@pytest.mark.django_db(transaction=True)
def test_the_official_exporter_takes_a_partial_success_as_delivered(
    live_server: Any, recorders: list[Recorder], settings: Any
) -> None:
    settings.REPLAYCASES_OTLP_TRACE_SPANS = 1
    of = factories.people(factories.project())
    recorder = Recorder(live_server.url, token_of(of.responder, of, "otlp"))
    recorders.append(recorder)
    recorder.run()
    assert recorder.results == [SpanExportResult.SUCCESS] * 2
    assert BufferedTrace.objects.get().spans == 1


@pytest.mark.django_db(transaction=True)
def test_the_official_exporter_gives_up_where_its_token_is_not_known(
    live_server: Any, recorders: list[Recorder]
) -> None:
    recorder = Recorder(live_server.url, "rc_unknown")
    recorders.append(recorder)
    recorder.run()
    assert set(recorder.results) == {SpanExportResult.FAILURE}
