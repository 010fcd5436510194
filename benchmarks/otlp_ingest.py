"""OTLP in: spans a second of one core for protobuf and JSON, decoding alone and up to a run; a draft of 10,000 events.

Run as `python benchmarks/otlp_ingest.py`; the last line is JSON. Each figure is the median of three runs in fresh
processes. `ratio` is the time as a multiple of `json.loads` of the same spans in JSON in the same process; `memory` is
what the process grew by at its peak, as a multiple of the file.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

SPANS = 10_000
AGENT_TURNS = 12
START = 1_790_000_000_000_000_000
WORDS = ("refund", "parcel", "order", "größe", "status", "late", "ünïcode", "42.5", "customer", "warehouse", "please")
TOOLS = [
    {
        "type": "function",
        "name": name,
        "description": "Looks something up in the system of record and says what it found there.",
        "parameters": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    }
    for name in ("find_order", "find_parcel", "refund", "escalate")
]


def make_trace(count: int = SPANS) -> dict[str, Any]:
    """One trace in OTLP JSON: conversations of a dozen turns, each a model call, a tool call and spans that are no
    boundary. A request holds the whole conversation before it, as instrumentations record it."""
    draw = random.Random(20261130)
    spans = []
    clock = iter(range(START, START + 10**15, 1_000_000))
    for turn in range(count // 4):
        if turn % AGENT_TURNS == 0:
            talk = [_message("system", _text(draw, 80)), _message("user", _text(draw, 30))]
        spans += _turn(draw, turn, talk, clock)
    scope = {"scope": {"name": "bench", "version": "1"}, "spans": spans}
    attributes = _pairs({"service.name": "bench", "service.version": "1", "host.name": "h"})
    return {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [scope]}]}


def _turn(draw: random.Random, turn: int, talk: list[Any], clock: Iterator[int]) -> list[dict[str, Any]]:
    name, call = TOOLS[turn % 4]["name"], f"call_{turn:08x}"
    part = {"type": "tool_call", "id": call, "name": name, "arguments": json.dumps({"id": _text(draw, 2)})}
    asked = {"role": "assistant", "parts": [part], "finish_reason": "tool_calls"}
    answer = _text(draw, 40)
    model = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.request.temperature": 0.2,
        "gen_ai.response.model": "m-1",
        "gen_ai.response.id": f"resp_{turn}",
        "gen_ai.usage.input_tokens": 900,
        "gen_ai.usage.output_tokens": 40,
        "gen_ai.input.messages": json.dumps(talk),
        "gen_ai.output.messages": json.dumps([asked]),
        "gen_ai.tool.definitions": json.dumps(TOOLS),
    }
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": call,
        "gen_ai.tool.call.arguments": part["arguments"],
        "gen_ai.tool.call.result": answer,
    }
    http = {"http.request.method": "POST", "url.full": "https://example.test/v1", "http.response.status_code": 200}
    response = {"type": "tool_call_response", "id": call, "response": answer}
    talk += [asked, {"role": "tool", "parts": [response]}]
    rows = (("chat m", model), ("POST", http), (f"execute_tool {name}", tool), ("GET", http))
    return [_span(4 * turn + at + 2, title, row, next(clock)) for at, (title, row) in enumerate(rows)]


def _span(number: int, name: str, attributes: dict[str, Any], start: int) -> dict[str, Any]:
    return {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": f"{number:016x}",
        "parentSpanId": f"{1:016x}",
        "name": name,
        "kind": 3,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 500_000),
        "attributes": _pairs(attributes),
        "status": {},
    }


def _pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    kinds = {str: "stringValue", float: "doubleValue", int: "intValue"}
    return [
        {"key": key, "value": {kinds[type(value)]: str(value) if isinstance(value, int) else value}}
        for key, value in attributes.items()
    ]


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _text(draw: random.Random, words: int) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(words))


def as_protobuf(trace: dict[str, Any]) -> bytes:
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    from replaycases.importers.otlp import envelope

    spans = envelope.read_traces(json.dumps(trace).encode(), protobuf=False)
    message = ParseDict(trace, TracesData(), ignore_unknown_fields=True)
    for row, span in zip(message.resource_spans[0].scope_spans[0].spans, spans, strict=True):
        row.trace_id, row.span_id = bytes.fromhex(span.trace_id), bytes.fromhex(span.span_id)
        row.parent_span_id = bytes.fromhex(span.parent_id)
    return message.SerializeToString()


def measure(path: Path, what: str) -> dict[str, float]:
    """In this process, once: what it takes to read the file."""
    from replaycases.importers.otlp import envelope
    from replaycases.importers.registry import open_recording, to_case
    from replaycases.importers.supplied import Supplied

    data = path.read_bytes()
    before = _peak()
    if what == "decode":
        seconds, _ = _timed(lambda: envelope.read_file(data))
        return {"seconds": seconds, "memory": (_peak() - before) / len(data)}
    if what == "loads":
        seconds, _ = _timed(lambda: json.loads(data))
        return {"seconds": seconds, "memory": (_peak() - before) / len(data)}
    seconds, run = _timed(lambda: open_recording(data).read())
    memory = (_peak() - before) / len(data)
    draft, case = _timed(lambda: to_case(run, Supplied(case_id="C", incident_id="I")))
    events = len(case.document["events"])
    return {"seconds": seconds, "memory": memory, "draft": seconds + draft, "events": events}


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = run()
    return time.process_time() - start, found


def _peak() -> int:
    """Of this process alone: what getrusage says starts from the peak of the process that started this one."""
    status = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("VmHWM:")).split()[1]) * 1024


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("/tmp")
    names = {"json": "bench-otlp.json", "protobuf": "bench-otlp.pb", "events": "bench-otlp-events.json"}
    files = {name: folder / file for name, file in names.items()}
    trace = make_trace()
    files["json"].write_bytes(json.dumps(trace).encode())
    files["protobuf"].write_bytes(as_protobuf(trace))
    files["events"].write_bytes(json.dumps(make_trace(2 * SPANS)).encode())
    try:
        _report(files)
    finally:
        for path in files.values():
            path.unlink()


def _report(files: dict[str, Path]) -> None:
    loads = _median(files["json"], "loads")["seconds"]
    figures: dict[str, Any] = {"spans": SPANS}
    for form in ("json", "protobuf"):
        path = files[form]
        decode, whole = _median(path, "decode"), _median(path, "run")
        figures[form] = {
            "bytes": path.stat().st_size,
            "decode_spans_per_second": round(SPANS / decode["seconds"]),
            "spans_per_second": round(SPANS / whole["seconds"]),
            "ratio_to_json_loads": round(whole["seconds"] / loads, 2),
            "memory_of_file": round(whole["memory"], 1),
        }
    draft = _median(files["events"], "run")
    figures["draft"] = {"events": draft["events"], "seconds": round(draft["draft"], 2), "limit": 3}
    print(json.dumps(figures))


def _median(path: Path, what: str) -> dict[str, float]:
    rows = []
    for _ in range(3):
        command = [sys.executable, __file__, "--once", what, str(path)]
        rows.append(json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout))
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--once"]:
        print(json.dumps(measure(Path(sys.argv[3]), sys.argv[2])))
    else:
        main()
