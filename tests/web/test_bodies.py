"""What comes in is written down as it comes, bounded, whole or not at all, and leaves no file behind."""

from __future__ import annotations

import io
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.handlers.wsgi import WSGIHandler
from django.test import Client

from replaycases.accounts.models import Project, Scope, User
from replaycases.cases import captures, incoming, key_ring, people
from replaycases.cases.evidence import EvidenceTooLarge
from replaycases.cases.models import Capture, Origin, TraceBatch
from replaycases.web.bodies import WholeBodies
from tests.api.otlp_requests import as_json, chat
from tests.cases.test_captures import TRACE

MIB = 1 << 20
PART = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'


def form(**fields: bytes) -> bytes:
    parts = (
        PART % (name.encode(), b'; filename="f"' if name == "file" else b"", said) for name, said in fields.items()
    )
    return b"".join(parts) + b"--x--\r\n"


# --- bounded --------------------------------------------------------------------------------------------------------


def test_no_more_is_read_than_may_be_kept_and_little_of_it_is_in_memory() -> None:
    read = []

    def endless() -> Iterator[bytes]:
        while True:
            read.append(1)
            yield bytes(256 * 1024)

    tracemalloc.start()
    with pytest.raises(EvidenceTooLarge):
        incoming.received(endless(), most=16 * MIB)
    came = incoming.received((bytes(256 * 1024) for _ in range(64)), most=16 * MIB)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(read), came.size) == (65, 16 * MIB)
    assert most < 3 * MIB
    assert came == incoming.held(came.file)


def test_sealing_and_opening_hold_one_copy_each() -> None:
    key, plain = bytes(32), bytes(8 * MIB)
    tracemalloc.start()
    sealed = key_ring.seal(key, plain, context=b"row")
    _, sealing = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    assert key_ring.open_seal(key, bytes(sealed), context=b"row") == plain
    _, opening = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sealing < 9 * MIB
    assert opening < 25 * MIB + MIB  # the sealed bytes, their copy as a database gives them, the plain ones


def test_bytes_that_are_there_already_are_not_read_again(
    project: Project, everyone: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = captures.bring(everyone, project=project, data=TRACE, origin=Origin.UPLOAD)
    monkeypatch.setattr(captures, "open_recording", None)
    came = incoming.received([TRACE[:10], TRACE[10:]], most=MIB)
    assert captures.bring(everyone, project=project, data=came, origin=Origin.API) == first


# --- whole ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def secret(project: Project, everyone: User) -> str:
    return people.create_token(everyone, project=project, name="x", scopes=list(Scope), days=1)[1]


def sent(path: str, body: bytes, type: str, secret: str, **head: Any) -> int:
    """The status of a request as a server hands it on, through what stands before the application."""
    path, _, query = path.partition("?")
    named = {"REQUEST_METHOD": "POST", "PATH_INFO": path, "QUERY_STRING": query, "SERVER_NAME": "localhost"}
    rest = {"SERVER_PORT": "80", "wsgi.url_scheme": "http", "wsgi.errors": io.StringIO(), "CONTENT_TYPE": type}
    said = {"wsgi.input": io.BytesIO(body), "HTTP_AUTHORIZATION": f"Bearer {secret}", "HTTP_HOST": "localhost"}
    statuses: list[str] = []
    answer: Any = WholeBodies(WSGIHandler())({**named, **rest, **said, **head}, lambda s, _: statuses.append(s))
    answer.close()
    return int(statuses[0][:3])


WAYS = [
    ("/api/v1/captures/?project=RC", "application/octet-stream", TRACE + b"\n" * 80),
    ("/api/v1/captures/", "multipart/form-data; boundary=x", form(project=b"RC", file=TRACE + b"\n" * 80)),
    ("/v1/traces", "application/json", as_json(chat()) + b"\n" * 80),
    ("/api/v1/captures/from-trace/", "application/json", b'{"project": "RC", "trace_id": "x"}' + b" " * 80),
]


@pytest.mark.parametrize(("path", "type", "body"), WAYS, ids=["raw", "multipart", "collector", "json"])
def test_a_body_that_breaks_off_is_refused_and_not_taken_for_a_shorter_one(
    secret: str, path: str, type: str, body: bytes
) -> None:
    """What is missing would not be missed: white space, or what follows the last part's content."""
    assert sent(path, body[:-40], type, secret, CONTENT_LENGTH=str(len(body))) == 400
    assert not Capture.objects.exists()
    assert not TraceBatch.objects.exists()
    assert sent(path, body, type, secret, CONTENT_LENGTH=str(len(body))) in (200, 201, 400)
    assert Capture.objects.exists() or TraceBatch.objects.exists() or "from-trace" in path


def test_a_body_without_a_length_is_no_empty_one(secret: str) -> None:
    chunked = {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
    for path, type, body in (*WAYS, ("/login/", "application/x-www-form-urlencoded", b"a=b")):
        if not path.startswith("/v1/"):
            assert sent(path, body, type, secret, **chunked) == 411
        assert sent(path, body, type, secret, CONTENT_LENGTH="x") < 500


@pytest.mark.parametrize(
    "body",
    [
        form(project=b"RC", file=TRACE, **{f"f{number}": b"" for number in range(21)}),
        form(project=b"RC", symptom=b"x" * (5 * MIB + 1), file=TRACE),
        form(file=TRACE, project=b"RC").replace(b"--x--", b"")
        + PART % (b"file", b'; filename="f"', b"") * 11
        + b"--x--",
    ],
    ids=["fields", "a field", "files"],
)
def test_a_form_beyond_its_limits_is_refused(secret: str, body: bytes, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 20
    type = "multipart/form-data; boundary=x"
    assert sent("/api/v1/captures/", body, type, secret, CONTENT_LENGTH=str(len(body))) in (400, 413)
    assert not Capture.objects.exists()


# --- nothing left behind --------------------------------------------------------------------------------------------


def test_an_upload_has_no_name_in_the_temporary_folder(
    signed_in: Client, project: Project, everyone: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def look(*args: Any, **said: Any) -> Any:
        seen.append((said["data"].size, list(tmp_path.iterdir())))
        raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(captures, "bring", look)
    signed_in.force_login(everyone)
    file = SimpleUploadedFile("trace.json", b"[" + b" " * 3 * MIB)
    with pytest.raises(KeyboardInterrupt):
        signed_in.post("/captures/new/", {"project": project.pk, "file": file})
    assert seen == [(3 * MIB + 1, [])]
