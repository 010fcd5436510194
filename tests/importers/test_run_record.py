"""The run record: what a trace says of a run around its steps, what a person adds, and what nobody stated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.importers import claude_code, langfuse, langsmith, run_record
from replaycases.importers.findings import ImportRefused
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.formats import Format
from replaycases.importers.neutral import NeutralRun
from replaycases.importers.registry import open_recording, report_on, to_case
from replaycases.importers.run_record import host_of, lacking, of_trace, repository_of
from replaycases.importers.supplied import Supplied, supplied_from
from tests.importers import cassettes
from tests.importers.otlp.exports import export, span
from tests.importers.samples import SAMPLES

JSON = Any
DIGEST = f"sha256:{'a' * 64}"
RUN = "5f8d04b6-7a31-4a3f-9a55-0c6a7a1d2b11"
PARENT = "5f8d04b6-7a31-4a3f-9a55-0c6a7a1d2b00"


def read(document: JSON, format: Format) -> NeutralRun:
    return format.read(ForeignFile(json.dumps(document).encode()), 0)


def test_spans_name_the_run_and_where_it_ran() -> None:
    resource = {
        "vcs.repository.url.full": "https://bot:pw@git.example/shop/agent?token=1",
        "vcs.ref.head.revision": "0123456789abcdef0123456789abcdef01234567",
        "container.image.repo_digests": [f"registry.example/agent@{DIGEST}"],
        "process.runtime.name": "CPython",
        "process.runtime.version": "3.11.4",
        "deployment.environment.name": "production",
    }
    model = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.response.id": "chatcmpl-77aa1",
        "server.address": "models.example",
        "server.port": 8443,
    }
    file = export(span(0xA1, parent=0xA9), span(2, parent=0xA1, attributes=model), resource=resource)
    assert open_recording(file).read(0).record == {
        "run_id": f"{0xA1:016x}",
        "parent_run_id": f"{0xA9:016x}",
        "repository": "https://git.example/shop/agent",
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "image_digest": f"registry.example/agent@{DIGEST}",
        "toolchain": "CPython 3.11.4",
        "deployment": "production",
        "endpoint": "models.example:8443",
        "request_ids": "chatcmpl-77aa1",
    }


def test_langsmith_names_the_run_and_its_parent() -> None:
    extra = {"metadata": {"revision_id": "0a1b2c3"}, "runtime": {"runtime": "python", "runtime_version": "3.12.1"}}
    rows = [
        {"id": RUN, "trace_id": PARENT, "parent_run_id": PARENT, "run_type": "chain", "extra": extra},
        {"id": f"{RUN[:-1]}2", "trace_id": PARENT, "parent_run_id": RUN, "run_type": "llm", "inputs": {}},
    ]
    said = {"run_id": RUN, "parent_run_id": PARENT, "commit": "0a1b2c3", "toolchain": "python 3.12.1"}
    assert read(rows, langsmith.FORMAT).record == said


def test_a_langfuse_trace_is_the_run() -> None:
    row = {
        "id": "o1",
        "traceId": RUN,
        "type": "GENERATION",
        "startTime": "2026-01-02T03:04:05Z",
        "input": [],
        "output": {},
    }
    document = {"trace": {"id": RUN, "environment": "staging", "release": "0a1b2c3"}, "observations": [row]}
    said = {"run_id": RUN, "deployment": "staging", "commit": "0a1b2c3"}
    assert read(document, langfuse.FORMAT).record == said


def test_a_session_names_its_client_and_its_requests() -> None:
    message = {"role": "assistant", "id": "m", "content": [{"type": "text", "text": "hi"}]}
    client = {"sessionId": RUN, "version": "2.0.1", "requestId": "req_011CX"}
    line = {"type": "assistant", "uuid": "u", "message": message, **client}
    said = {"run_id": RUN, "harness": "claude-code 2.0.1", "request_ids": "req_011CX"}
    assert read([line], claude_code.FORMAT).record == said


def test_a_cassette_names_the_host_and_the_requests() -> None:
    url = "https://user:pw@gateway.example/v1/chat/completions?key=secret"
    asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    told = {"choices": [{"message": {"role": "assistant", "content": "so"}}]}
    file = cassettes.cassette(cassettes.interaction(asked, told, url=url, x_request_id="req_01123"))
    assert open_recording(file).read(0).record == {"endpoint": "gateway.example", "request_ids": "req_01123"}


def test_our_own_recorder_names_its_run() -> None:
    recording = open_recording(SAMPLES["recorded:lines"])
    assert recording.read(0).record == {"run_id": recording.runs[0].label}


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("run_id", "the run of Jane Doe"),
        ("run_id", "jane.doe-1"),
        ("run_id", "491701234567"),
        ("endpoint", "jane@host"),
        ("commit", "main"),
        ("image_digest", "agent:latest"),
        ("toolchain", "python\n3"),
        ("approval_reference", "CHG-7"),
        ("deployment", {"name": "x"}),
    ],
)
def test_a_trace_says_nothing_that_has_not_the_form_of_its_part(part: str, value: JSON) -> None:
    assert of_trace(**{part: value}) == {}


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://a:b@API.example:443/v1?x=1#y", "api.example"),
        ("http://10.0.0.7:8080/", "10.0.0.7:8080"),
        ("db.example", "db.example"),
        ("https://[", ""),
        (7, ""),
    ],
)
def test_of_an_address_the_host_is_kept(url: JSON, host: str) -> None:
    assert host_of(url) == host


def test_of_a_repository_who_may_read_it_is_left_out() -> None:
    assert repository_of("https://me:token@git.example/a/b/?x=1") == "https://git.example/a/b"


def test_many_ids_are_counted() -> None:
    ids = [f"req_{number:05}" for number in range(run_record.MOST_IDS + 3)]
    assert of_trace(request_ids=[*ids, *ids])["request_ids"].endswith("req_00009 and 3 more")


def test_what_nobody_stated_is_reported_by_what_it_is_about_and_caps_nothing() -> None:
    every = {gap.name: gap for gap in lacking(())}
    assert every.keys() == {f"record.{group.name}" for group in run_record.GROUPS}
    assert all(gap.cost.startswith("not stated: ") and not gap.caps for gap in every.values())
    known = {"repository", "commit", "patch", "approval_reference"}
    left = {gap.name: gap.cost for gap in lacking(known)}
    assert "record.code" not in left
    assert left["record.authority"] == "not stated: decision; actor; capability scope; effect ids"
    assert every["record.authority"].cost.endswith("who allowed the run to do what it did cannot be walked back")


def test_what_a_person_stated_is_no_gap_and_stands_in_no_fixture() -> None:
    run = open_recording(SAMPLES["chat-transcript"]).read(0)
    names = {"case_id": "c", "incident_id": "INC-7", "frozen_at": "2026-11-01T09:00:00Z"}
    said = supplied_from({**names, "record": {"approval_reference": "CHG-7"}})
    report = report_on(run, said)
    assert not any("approval reference" in gap.cost for gap in report.record)
    assert to_case(run, said).document == to_case(run, supplied_from(names)).document
    assert any("approval reference" in gap.cost for gap in report_on(run, Supplied()).record)


@pytest.mark.parametrize("record", [{"aproval": "CHG-7"}, {"actor": 7}, {"actor": ""}, {"actor": "x" * 501}, []])
def test_a_record_of_another_shape_is_refused(record: JSON) -> None:
    with pytest.raises(ImportRefused):
        supplied_from({"record": record})
