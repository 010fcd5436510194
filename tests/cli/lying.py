"""A lane's files made without a server, and a server that answers with whatever a test gives it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from replaycases.cli.pulled_lane import digest_of
from replaycases.fixture.canonical import digest
from replaycases.fixture.lane_index import (
    LaneIndex,
    ListedApproval,
    ListedCase,
    ListedControl,
    ListedFile,
    ListedPolicy,
)
from replaycases.fixture.load import load_fixture
from replaycases.replay.controls import mutate
from tests import factories

LIST = b'{"results": [{"id": "x"}]}'


def listed(path: str, data: bytes) -> ListedFile:
    return ListedFile(path=path, sha256=digest_of(data), size=len(data))


def lane_files(old: bytes = b"{}") -> dict[str, bytes]:
    """A good lane's files by path. `old` is the manifest of the affected version."""
    files = {
        "RC-1.json": factories.fixture(),
        "old/RC-1/1.manifest.json": old,
        "controls/RC-1/1-confirmed.json": factories.fixture(case_id="control-1"),
        "controls/RC-1/1-confirmed.mutation.json": factories.MUTATION,
    }
    case, control = (load_fixture(files[name]) for name in ("RC-1.json", "controls/RC-1/1-confirmed.json"))
    mutated = load_fixture(mutate(files["controls/RC-1/1-confirmed.json"], factories.MUTATION))
    entries = [listed(path, data) for path, data in files.items()]
    entry = ListedCase(
        readable_id="RC-1",
        case_id=case.case_id,
        revision=1,
        fixture_hash=case.fixture_hash,
        content_hash=case.content_hash,
        checks_hash=case.checks_hash,
        flagged=False,
        files=tuple(entries[:2]),
        controls=(
            ListedControl(
                name="confirmed",
                outcome_type="success",
                fixture_hash=control.fixture_hash,
                checks_hash=control.checks_hash,
                mutated_hash=mutated.fixture_hash,
                files=tuple(entries[2:]),
            ),
        ),
        redaction=ListedApproval(
            by="ida",
            at="2026-01-01T00:00:00+00:00",
            content_hash=case.content_hash,
            policy=ListedPolicy(name="RC", version="2", digest="sha256:" + "1" * 64),
            detectors="1",
            waivers=0,
            stands=True,
        ),
    )
    index = LaneIndex(project="RC", lane="blocking", taken_at="2026-01-01T00:00:00+00:00", entries=(entry,))
    return {**files, "lane.json": index.dump()}


def with_file(files: Mapping[str, bytes], path: str, data: bytes) -> dict[str, bytes]:
    """The lane with another content of a file that its first case lists."""
    document = json.loads(files["lane.json"])
    [entry] = [entry for entry in document["entries"][0]["files"] if entry["path"] == path]
    entry.update(vars(listed(path, data)))
    return {**files, path: data, "lane.json": signed(document)}


def signed(document: Mapping[str, Any]) -> bytes:
    """An index with the digest that it then has: what somebody would write who knows how."""
    content = {name: value for name, value in document.items() if name not in ("taken_at", "digest")}
    return json.dumps({**document, "digest": digest(content)}).encode()


def zipped(files: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return file.getvalue()


def answer(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """An HTTP answer, whole."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "Connection: close", "", ""]
    return "\r\n".join(lines).encode() + body


class Liar:
    """A server that answers every lane with the given zip. What stands in `raw` is sent first, an item a request, as it
    is. `asked` are the paths of all requests, `sent` their headers; `meanwhile` is called while a lane is asked for."""

    def __init__(self) -> None:
        self.zip = b""
        self.raw: list[bytes] = []
        self.meanwhile: Callable[[], None] = lambda: None
        self.asked: list[str] = []
        self.sent: list[Mapping[str, str]] = []
        liar = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                liar.asked.append(self.path)
                liar.sent.append(dict(self.headers))
                if "export" in self.path:
                    liar.meanwhile()
                body = liar.zip if "export" in self.path else LIST
                self.wfile.write(liar.raw.pop(0) if liar.raw else answer(body))
                self.close_connection = True

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
