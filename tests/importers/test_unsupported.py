from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from replaycases.importers.findings import ImportRefused
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.registry import FORMATS, open_recording
from replaycases.importers.unsupported import UNSUPPORTED
from tests.importers.samples import SAMPLES

JSON = Any


def archive(*names: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        for name in names:
            file.writestr(name, "{}")
    return held.getvalue()


def written(document: JSON) -> bytes:
    return json.dumps(document).encode()


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "look", "arguments": {}}}
EVENT = {"id": 1, "timestamp": "2026-01-02T03:04:05", "source": "agent", "action": "run", "args": {}}
SPAN = {"name": "x", "context": {"trace_id": "t", "span_id": "s"}, "span_kind": "LLM", "attributes": {}}
TRACE = {"object": "trace", "id": "t", "workflow_name": "w"}
TOOL_PART = {"type": "tool-look", "toolCallId": "c", "state": "output-available", "input": {}, "output": {}}
KNOWN = {
    "har": [written({"log": {"version": "1.2", "entries": []}}), b"\xef\xbb\xbf" + written({"log": {"entries": []}})],
    "inspect": [
        archive("_journal/start.json"),
        archive("samples/1_epoch_1.json", "header.json"),
        written({"version": 2, "status": "success", "eval": {}, "plan": {}, "samples": []}),
        b'{"version": 2, "status": "success", "eval": {}, "results": {"accuracy": NaN}}',
        written({"eval": {}, "plan": {}, "status": "success"}),
    ],
    "swe-agent": [
        written({"history": [{"role": "user", "content": "x", "agent": "main"}]}),
        written({"environment": "e", "trajectory": [{"action": "ls", "observation": ""}]}),
    ],
    "openhands": [written([EVENT, {**EVENT, "observation": "run"}])],
    "temporal": [written({"events": [{"eventId": "1", "eventType": "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED"}]})],
    "mcp": [
        written(CALL) + b"\n" + written(CALL),
        written([CALL]),
        b"event: message\ndata: " + written(CALL) + b"\n\n",
    ],
    "openai-agents": [written({"data": [TRACE, {"object": "trace.span", "span_data": {}}]})],
    "phoenix": [written([SPAN]), written({"data": [SPAN]}), written(SPAN) + b"\n" + written(SPAN)],
    "weave": [written([{"id": "1", "op_name": "weave:///a/b/op/x:1", "trace_id": "t", "inputs": {}}])],
    "mlflow": [written({"info": {"trace_id": "tr-1"}, "data": {"spans": []}})],
    "vercel-ui": [
        b'data: {"type":"start"}\n\ndata: {"type":"tool-input-available","toolCallId":"c"}\n\n',
        written([{"id": "1", "role": "assistant", "parts": [{"type": "step-start"}, TOOL_PART]}]),
        written({"messages": [{"role": "assistant", "parts": [TOOL_PART]}]}),
    ],
    "agentdojo": [written({"suite_name": "s", "pipeline_name": "p", "messages": [{"role": "user", "content": []}]})],
}


@pytest.mark.parametrize(("name", "data"), [(name, data) for name, files in KNOWN.items() for data in files])
def test_a_format_that_is_not_read_is_refused_by_its_name(name: str, data: bytes) -> None:
    with pytest.raises(ImportRefused) as caught:
        open_recording(data)
    row = next(row for row in UNSUPPORTED if row.name == name)
    finding = caught.value.finding
    assert finding.id == "import.not-supported"
    assert row.title in finding.message
    assert finding.hint == row.instead


def test_each_has_a_file_here() -> None:
    assert set(KNOWN) == {row.name for row in UNSUPPORTED}


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_none_of_them_takes_a_file_of_a_format_that_is_read(name: str) -> None:
    assert [row.name for row in UNSUPPORTED if row.sniff(ForeignFile(SAMPLES[name]))] == []
    assert next(format.name for format in FORMATS if format.sniff(ForeignFile(SAMPLES[name]))) == name.split(":")[0]


@pytest.mark.parametrize("data", [
    b"", b"PK\x03\x04", archive("header.json"), b"data: {}", b'{"log": []}', b'[{"jsonrpc": "2.0"}, 1, {}]',
    b'{"history": [{"role": "user", "content": "x"}]}', b'{"info": {}, "data": {"spans": []}}',
    b'[{"role": "user", "parts": [{"type": "tool-look"}]}]', b'{"data": []}', b'{"object": "trace"',
])  # fmt: skip
def test_what_only_resembles_one_is_none(data: bytes) -> None:
    assert [row.name for row in UNSUPPORTED if row.sniff(ForeignFile(data))] == []
