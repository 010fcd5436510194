"""A word in every place of a collector's trace, in heads and in errors: no row, log, mail, export or page holds it."""

from __future__ import annotations

import gzip
import io
import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core import mail
from django.test import Client
from django.utils import timezone

from replaycases.accounts.models import Scope
from replaycases.cases import (
    audit_export,
    bell,
    capture_rules,
    evidence,
    expiry,
    mailing,
    notifying,
    people,
    trace_buffer,
    trace_captures,
)
from replaycases.cases.audit_export import Filters
from replaycases.cases.models import BufferedTrace, Capture, Payload, RuleKind
from replaycases.config.log import WithoutText
from tests import factories
from tests.api.otlp_requests import TRACE, chat, records, request, span

CANARY = "zqcanary"


def text(value: str) -> dict[str, str]:
    return {"stringValue": f"{value} {CANARY}"}


def sung() -> dict[str, Any]:
    """Every text that a span may hold, also under keys that nobody knows."""
    nested = {"kvlistValue": {"values": [{"key": CANARY, "value": {"arrayValue": {"values": [text("deep")]}}}]}}
    more = [{"key": f"{CANARY}.key", "value": text("value")}, {"key": "nested", "value": nested}]
    failed = {"key": "exception.message", "value": text("failed")}
    stack = {"key": "exception.stacktrace", "value": text("Traceback")}
    tool = {
        **span(2, parent=1),
        "name": f"execute_tool {CANARY}",
        "traceState": f"x={CANARY}",
        "status": {"code": 2, "message": CANARY},
        "events": [{"name": f"exception {CANARY}", "timeUnixNano": "1", "attributes": [failed, stack, *more]}],
        "links": [{"traceId": "ef" * 16, "spanId": "ef" * 8, "attributes": more}],
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
            *(
                {"key": f"gen_ai.tool.{name}", "value": text(name)}
                for name in ("name", "call.id", "call.arguments", "call.result", "description")
            ),
            *more,
        ],
    }
    said = json.loads(json.dumps(chat()).replace("4711", CANARY).replace("gpt-test", f"gpt-{CANARY}"))
    document = request(said, tool)
    (of,) = document["resourceSpans"]
    of["resource"]["attributes"] += more
    of["schemaUrl"] = of["scopeSpans"][0]["schemaUrl"] = f"https://{CANARY}.example"
    of["scopeSpans"][0]["scope"] = {"name": CANARY, "version": CANARY, "attributes": more}
    return document


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[io.StringIO]:
    """What our formatter writes of everything that is logged."""
    caplog.set_level(logging.DEBUG)
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(WithoutText("%(levelname)s %(name)s %(message)s"))
    logging.getLogger().addHandler(handler)
    yield handler.stream
    logging.getLogger().removeHandler(handler)


def rows() -> str:
    """Every row of the database, bytes as they are."""
    models = apps.get_models(include_auto_created=True)
    held = (row for model in models for row in model._base_manager.values_list())
    return "\n".join(
        "|".join(bytes(cell).decode("latin-1") if isinstance(cell, bytes | memoryview) else str(cell) for cell in row)
        for row in held
    )


@pytest.mark.django_db
@pytest.mark.parametrize("debug", [False, True])
def test_what_a_collector_sends_is_quoted_nowhere(
    settings: Any, log: io.StringIO, monkeypatch: pytest.MonkeyPatch, debug: bool
) -> None:
    settings.DEBUG = debug
    of = factories.people(factories.project())
    _, secret = people.create_token(of.responder, project=of.project, name="c", scopes=list(Scope), days=1)
    capture_rules.add(factories.everyone(of.project), project=of.project, kind=RuleKind.ERROR)
    rung: list[Any] = []
    monkeypatch.setattr(bell, "ring", rung.append)
    head = {"Authorization": f"Bearer {secret}", "User-Agent": CANARY, "X-Other": CANARY, "Traceparent": CANARY}
    client = Client(headers=head, raise_request_exception=False)
    answers = [post(client, "/v1/traces", json.dumps(sung()).encode())]
    answers += [
        post(client, "/v1/logs", records().replace(b"said", CANARY.encode()).replace(b"noted", CANARY.encode()))
    ]
    BufferedTrace.objects.update(last_at=timezone.now() - timedelta(hours=1))
    assert trace_captures.look() == 1
    capture = Capture.objects.get()
    answers += [client.get(f"/api/v1/captures/?trace_id={CANARY}"), client.get("/api/v1/traces/")]
    # What is refused, breaks off, or fails within.
    whole = json.dumps(sung()).encode()
    answers += [
        post(client, path, body) for path in ("/v1/traces", "/v1/logs") for body in (whole[:-9], b"[%s]" % whole)
    ]
    answers += [
        client.post("/v1/traces", gzip.compress(whole)[:-9], "application/json", headers={"Content-Encoding": "gzip"})
    ]
    answers += [client.post(f"/api/v1/captures/?project=RC&trace_id={CANARY}", whole[:-9], "application/octet-stream")]

    def fails(*args: Any, **said: Any) -> Any:
        quoted = json.dumps(sung())
        raise ValueError(quoted) from KeyError(quoted)

    monkeypatch.setattr(trace_captures, "assembled", fails)
    monkeypatch.setattr(trace_buffer, "receive", fails)
    answers += [post(client, "/v1/traces", whole)]
    answers += [client.post("/api/v1/captures/from-trace/", {"project": "RC", "trace_id": TRACE}, "application/json")]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 400, 400, 400, 400, 400, 422, 500, 500]
    for answer in answers:
        assert CANARY not in answer.content.decode().replace(f"x={CANARY}", ""), answer.content
        assert "no-store" in answer["Cache-Control"]
    shown = client.get(f"/api/v1/captures/{capture.pk}/")  # the names of tools are shown, and are all that is
    assert CANARY not in shown.content.decode()
    expiry.look()
    notifying.look()
    mailing.mail()
    exported = "".join(
        audit_export.export(factories.everyone(of.project), filters=Filters(project=of.project), form="jsonl")
    )
    assert "capture.brought" in exported
    for where, said in {
        "rows": rows(),
        "log": log.getvalue(),
        "export": exported,
        "mails": "".join(f"{one.subject}{one.body}" for one in mail.outbox),
        "messages": str(rung),
    }.items():
        assert CANARY not in said, f"{where}: {said[max(0, said.find(CANARY) - 300) :][:400]}"
    assert CANARY.encode() in b"".join(evidence.read(one) for one in Payload.objects.all())


def post(client: Client, path: str, body: bytes, **head: str) -> Any:
    return client.post(path, body, "application/json", headers=head)
