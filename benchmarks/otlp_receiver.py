"""Spans a second that the OTLP/HTTP receiver takes in one process: `python benchmarks/otlp_receiver.py`.

Each round sends one batch of 500 spans of 50 traces, as a collector's exporter would, through the whole of Django: the
token, gzip, decoding, the rules of the project, sealing and the database (SQLite, in a folder of its own). Every batch
holds other traces. The median round counts, in CPU time, since a shared machine only slows things down. `ratio` is
that time to the one that json.loads takes for the same bytes. The last line is JSON.
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["DJANGO_SETTINGS_MODULE"] = "replaycases.config.settings"
_FOLDER = tempfile.TemporaryDirectory(prefix="replaycases-otlp-")
os.environ["REPLAYCASES_VAR"] = _FOLDER.name
os.environ.pop("DATABASE_URL", None)

import django  # noqa: E402  after the settings are named

django.setup()

from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData  # noqa: E402

from replaycases.accounts.models import Project, User  # noqa: E402
from replaycases.accounts.roles import Role  # noqa: E402
from replaycases.cases import capture_rules, people  # noqa: E402
from replaycases.cases.models import BufferedTrace, RuleKind  # noqa: E402

SPANS, TRACES, ROUNDS = 500, 50, 25
REQUIRED = 5_000
SAID = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Where is my refund? " * 10}]}])


def batch(round_: int) -> tuple[bytes, bytes]:
    """(protobuf, JSON) of the same spans: a root and nine model calls a trace, about 1 kB a span."""
    message = TracesData()
    scope = message.resource_spans.add().scope_spans.add()
    rows: list[dict[str, Any]] = []
    for number in range(SPANS):
        trace, place = divmod(number, SPANS // TRACES)
        span = scope.spans.add(name="chat model", kind=3, start_time_unix_nano=10**18, end_time_unix_nano=10**18 + 1)
        span.trace_id = (round_ * TRACES + trace + 1).to_bytes(16)
        span.span_id = (number + 1).to_bytes(8)
        span.parent_span_id = (number - place + 1).to_bytes(8) if place else b""
        said = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": SAID}
        for key, text in {**said, "gen_ai.output.messages": SAID, "user": f"user-{round_}"}.items():
            pair = span.attributes.add(key=key)
            pair.value.string_value = text
        rows.append(
            {
                "traceId": span.trace_id.hex(),
                "spanId": span.span_id.hex(),
                "parentSpanId": span.parent_span_id.hex(),
                "name": span.name,
                "kind": 3,
                "startTimeUnixNano": "1000000000000000000",
                "endTimeUnixNano": "1000000000000000001",
                "status": {},
                "attributes": [{"key": p.key, "value": {"stringValue": p.value.string_value}} for p in span.attributes],
            }
        )
    document = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": rows}]}]}
    return message.SerializeToString(), json.dumps(document).encode()


def prepared() -> str:
    """A project with ten rules; the secret of a token that may send."""
    call_command("migrate", verbosity=0)
    project = Project.objects.create(key="RC", name="Refunds")
    for name, role in (("responder", Role.RESPONDER), ("administrator", Role.ADMINISTRATOR)):
        user = User.objects.create(username=name, email=f"{name}@example.invalid")
        project.memberships.create(user=user, role=role)
    administrator = User.objects.get(username="administrator")
    for number in range(10):
        capture_rules.add(administrator, project=project, kind=RuleKind.ATTRIBUTE, key="user", value=f"nobody-{number}")
    responder = User.objects.get(username="responder")
    return people.create_token(responder, project=project, name="collector", scopes=["otlp"], days=1)[1]


def seconds(client: Client, body: bytes, **sent: str) -> float:
    started = time.process_time()
    answer = client.post("/v1/traces", body, **sent)  # type: ignore[arg-type]
    elapsed = time.process_time() - started
    assert answer.status_code == 200, answer.content
    return elapsed


def main() -> None:
    client = Client(headers={"Authorization": f"Bearer {prepared()}", "Host": "localhost"})
    taken: dict[str, list[float]] = {"protobuf": [], "protobuf gzip": [], "json": [], "json.loads": []}
    for round_ in range(ROUNDS):
        for place, name in enumerate(taken):
            protobuf, text = batch(round_ * len(taken) + place)
            if name == "json.loads":
                started = time.process_time()
                json.loads(text)
                taken[name].append(time.process_time() - started)
            elif name == "json":
                taken[name].append(seconds(client, text, content_type="application/json"))
            elif name == "protobuf":
                taken[name].append(seconds(client, protobuf, content_type="application/x-protobuf"))
            else:
                packed = {"content_type": "application/x-protobuf", "HTTP_CONTENT_ENCODING": "gzip"}
                taken[name].append(seconds(client, gzip.compress(protobuf, 6), **packed))
    assert BufferedTrace.objects.count() == ROUNDS * TRACES * 3
    medians = {name: statistics.median(rounds) for name, rounds in taken.items()}
    parsed = medians.pop("json.loads")
    figures = {
        name: {"spans_a_second": round(SPANS / median), "ratio_to_json_loads": round(median / parsed, 1)}
        for name, median in medians.items()
    }
    for name, figure in figures.items():
        print(f"{name:14} {figure['spans_a_second']:>7} spans/s  {figure['ratio_to_json_loads']:>5} x json.loads")
    print(json.dumps({"required": REQUIRED, "spans": SPANS, "traces": TRACES, **figures}))


if __name__ == "__main__":
    try:
        main()
    finally:
        _FOLDER.cleanup()
