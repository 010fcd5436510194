"""The OTLP/HTTP receiver: /v1/traces and /v1/logs, as a collector's exporter speaks to them.

JSON and protobuf, plain or gzip; the answer has the content type of the request. A collector repeats what is answered
with 429, 502, 503 or 504, and drops what gets any other error: those say that repeating would not help.
"""

from __future__ import annotations

import json
import logging
import zlib
from typing import Literal

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.views.decorators.csrf import csrf_exempt
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from replaycases.accounts import tokens
from replaycases.accounts.models import Scope, User
from replaycases.cases import evidence, trace_buffer
from replaycases.cases.incoming import announced
from replaycases.cases.key_ring import KeyMissing, RingInvalid
from replaycases.cases.trace_buffer import BufferFull, Received, Signal
from replaycases.importers.findings import ImportRefused

logger = logging.getLogger(__name__)
PROTOBUF, JSON = "application/x-protobuf", "application/json"
RETRY_SECONDS = "30"
_GZIP = 16 + zlib.MAX_WBITS
_PIECE = 4096
# The codes of google.rpc.Status, which is what an error's body is.
_CODES = {400: 3, 401: 16, 403: 7, 405: 12, 411: 3, 413: 8, 415: 3, 429: 8, 503: 14}


class Refused(Exception):
    """An answer that is an error. `message` may be shown."""

    def __init__(self, status: Literal[400, 401, 403, 405, 411, 413, 415, 429, 503], message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@csrf_exempt
def traces(request: HttpRequest) -> HttpResponse:
    return _answered(request, "traces")


@csrf_exempt
def logs(request: HttpRequest) -> HttpResponse:
    return _answered(request, "logs")


def _answered(request: HttpRequest, signal: Signal) -> HttpResponse:
    protobuf = request.content_type == PROTOBUF
    try:
        return _success(_received(request, signal, protobuf=protobuf), signal, protobuf=protobuf)
    except Refused as refused:
        return _error(refused, protobuf=protobuf)
    except PermissionDenied as denied:
        return _error(Refused(403, str(denied)), protobuf=protobuf)
    except ImportRefused as refusal:
        return _error(Refused(400, str(refusal.finding)), protobuf=protobuf)
    except evidence.EvidenceTooLarge:
        return _error(Refused(413, "The body is larger than this server keeps."), protobuf=protobuf)
    except UnreadablePostError:
        return _error(Refused(400, "The body broke off before the length that was announced."), protobuf=protobuf)
    except BufferFull:
        full = "The buffer of the project is full of traces that are still being written. Send this again later."
        return _error(Refused(429, full), protobuf=protobuf)
    except OperationalError:
        logger.exception("the database did not take what a collector sent")
        return _error(Refused(503, "The database is busy. Send this again later."), protobuf=protobuf)
    except (RingInvalid, KeyMissing):
        logger.exception("the key ring did not seal what a collector sent")
        return _error(Refused(503, "Nothing can be sealed now. Send this again later."), protobuf=protobuf)


def _received(request: HttpRequest, signal: Signal, *, protobuf: bool) -> Received:
    if request.method != "POST":
        raise Refused(405, "Send POST.")
    if not protobuf and request.content_type != JSON:
        raise Refused(415, f"Send {PROTOBUF} or {JSON}.")
    sender = _sender(request)
    assert sender.token is not None
    body = _body(request)
    return trace_buffer.receive(sender, project=sender.token.project, signal=signal, body=body, protobuf=protobuf)


def _sender(request: HttpRequest) -> User:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    user = tokens.authenticate(secret.strip()) if scheme.lower() == "bearer" else None
    if user is None or user.token is None:
        raise Refused(401, "Send Authorization: Bearer and a token of the project that is neither ended nor revoked.")
    if Scope.OTLP not in user.token.scopes:
        raise Refused(403, f"The token lacks the scope {Scope.OTLP}.")
    return user


def _body(request: HttpRequest) -> bytes:
    """The body, unpacked. Neither it nor what it unpacks to is read further than it may be long."""
    most = settings.REPLAYCASES_OTLP_BODY_BYTES
    too_large = Refused(413, f"At most {most} bytes are taken at once, unpacked. Send smaller batches.")
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("gzip", "identity", ""):
        raise Refused(415, "Send the body as it is, or packed with gzip.")
    if (announced(request.META) or 0) > most:
        raise too_large
    body = _sent(request, most + 1)
    if encoding == "gzip":
        body = _unpacked(body, most + 1)
    if len(body) > most:
        raise too_large
    return body


def _sent(request: HttpRequest, most: int) -> bytes:
    """At most `most` bytes of the body. One that comes in chunks has no length, for which Django reads nothing: an
    exporter that packs as it sends would be told that its spans are kept."""
    if "chunked" not in request.headers.get("Transfer-Encoding", "").lower():
        return request.read(most)
    if not request.META.get("wsgi.input_terminated"):
        raise Refused(411, "Send the body with its length.")
    body: bytes = request.META["wsgi.input"].read(most)
    return body


def _unpacked(packed: bytes, most: int) -> bytes:
    """At most `most` bytes of it; a gzip file may have several members. It is fed in pieces: what is left after a
    member is a copy, and a body of very many small members would be copied once for each."""
    parts: list[bytes] = []
    room, at = most, 0
    member = zlib.decompressobj(_GZIP)
    while at < len(packed) and room:
        if member.eof:
            member = zlib.decompressobj(_GZIP)
        piece = packed[at : at + _PIECE]
        try:
            parts.append(member.decompress(piece, room))
        except zlib.error:
            raise Refused(400, "The body is no gzip.") from None
        room -= len(parts[-1])
        at += len(piece) - len(member.unused_data)
    if room and packed and not member.eof:
        raise Refused(400, "The gzip body breaks off.")
    return b"".join(parts)


def _success(received: Received, signal: Signal, *, protobuf: bool) -> HttpResponse:
    name = "rejectedSpans" if signal == "traces" else "rejectedLogRecords"
    if not protobuf:
        partial = {"partialSuccess": {name: str(received.rejected), "errorMessage": received.why}}
        return HttpResponse(json.dumps(partial if received.rejected else {}), content_type=JSON)
    answer: ExportTraceServiceResponse | ExportLogsServiceResponse
    if signal == "traces":
        answer = ExportTraceServiceResponse()
        answer.partial_success.rejected_spans = received.rejected
    else:
        answer = ExportLogsServiceResponse()
        answer.partial_success.rejected_log_records = received.rejected
    answer.partial_success.error_message = received.why
    if not received.rejected:
        answer.ClearField("partial_success")
    return HttpResponse(answer.SerializeToString(), content_type=PROTOBUF)


def _error(refused: Refused, *, protobuf: bool) -> HttpResponse:
    code = _CODES[refused.status]
    if protobuf:
        body, content_type = _status(code, refused.message), PROTOBUF
    else:
        body, content_type = json.dumps({"code": code, "message": refused.message}).encode(), JSON
    response = HttpResponse(body, status=refused.status, content_type=content_type)
    if refused.status in (429, 503):
        response["Retry-After"] = RETRY_SECONDS
    if refused.status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="replaycases"'
    if refused.status == 405:
        response["Allow"] = "POST"
    return response


def _status(code: int, message: str) -> bytes:
    """google.rpc.Status: its number in field 1, its message in field 2."""
    text = message.encode()
    length, size = len(text), b""
    while length > 0x7F:
        size += bytes([length & 0x7F | 0x80])
        length >>= 7
    return bytes([0x08, code, 0x12]) + size + bytes([length]) + text
