"""VCR cassettes: the HTTP exchanges of one recording, in YAML or JSON, as vcrpy, its kin and VCR for Ruby write them.

vcrpy's own loader turns the interactions into requests and responses; what it is given was parsed by our bounded
parsers (docs/decisions/0014). A cassette is one run, in the order of the file, or of `recorded_at` where every
interaction has one. Beside vcrpy's `body` there is `parsed_body`, the value itself, and `base64_string`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from vcr.request import Request
from vcr.serialize import deserialize

from replaycases.fixture.pointer import ABSENT
from replaycases.importers.findings import refused
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.formats import Format
from replaycases.importers.http.bodies import Body, Unpacking, decoded, from_base64
from replaycases.importers.http.exchange import HttpExchange, http_date
from replaycases.importers.http.run import run_of
from replaycases.importers.neutral import NeutralRun, Note, RunHead
from replaycases.importers.times import instant_of

JSON = Any
NAME = "vcr"
_LISTS = ("interactions", "http_interactions")
_YAML = re.compile(rb"^(?:http_)?interactions\s*:", re.MULTILINE)
_LOST = "what was asked and answered there is not in the case"


def sniff(file: ForeignFile) -> bool:
    """By the list of interactions; YAML is not parsed for it."""
    if file.json is not ABSENT:
        return isinstance(file.json, dict) and _interactions(file.json) is not None
    return file.head[:1] not in (b"{", b"[") and _YAML.search(file.head) is not None


def heads(file: ForeignFile) -> tuple[RunHead, ...]:
    listed, source = _listed(file)
    many = "1 HTTP exchange" if len(listed) == 1 else f"{len(listed)} HTTP exchanges"
    return (RunHead(index=0, label=many, source=source),)


def read(file: ForeignFile, run: int) -> NeutralRun:
    """The run. Raises ImportRefused."""
    listed, source = _listed(file)
    notes: list[Note] = []
    recorded = [item for at, raw in enumerate(listed) if (item := _interaction(raw, f"{source}/{at}", notes))]
    exchanges = _exchanges(_in_order(recorded, notes))
    return run_of(exchanges, format=NAME, notes=notes)


@dataclass(frozen=True, kw_only=True)
class _Interaction:
    """One interaction as recorded. `document` is what vcrpy's loader is given for it, without the bodies that it does
    not know; `request` and `response` are these: a key and a value, or None."""

    source: str
    document: dict[str, JSON]
    request: tuple[str, JSON] | None
    response: tuple[str, JSON] | None
    recorded_at: str | None


def _listed(file: ForeignFile) -> tuple[list[JSON], str]:
    document = file.json if file.json is not ABSENT else file.yaml
    if document is ABSENT:
        raise file.yaml_fault()
    found = _interactions(document)
    if found is None:
        raise refused("cassette", "", "the cassette has no list of interactions", "Record it again with a current VCR.")
    return document[found], f"/{found}"


def _interactions(document: JSON) -> str | None:
    """Under which key the interactions stand."""
    keys = _LISTS if isinstance(document, dict) else ()
    return next((key for key in keys if isinstance(document.get(key), list)), None)


def _interaction(raw: JSON, source: str, notes: list[Note]) -> _Interaction | None:
    """None, with a note, for one that is no HTTP exchange."""
    request = raw.get("request") if isinstance(raw, dict) else None
    response = raw.get("response") if isinstance(raw, dict) else None
    if not isinstance(request, dict) or not isinstance(response, dict):
        notes.append(_left_out(source))
        return None
    method, url = request.get("method"), request.get("uri", request.get("url"))
    if not isinstance(method, str) or not isinstance(url, str):
        notes.append(_left_out(source))
        return None
    asked, told = _other_body(request), _other_body(response)
    document = {
        "request": {
            "method": method,
            "uri": url,
            "body": _text(request.get("body")) if asked is None else None,
            "headers": _headers(request.get("headers")),
        },
        "response": {
            "status": response.get("status"),
            "headers": _headers(response.get("headers")),
            "body": {"string": _text(response.get("body")) if told is None else None},
        },
    }
    return _Interaction(
        source=source,
        document=document,
        request=asked,
        response=told,
        recorded_at=_moment(raw.get("recorded_at")) or _moment(response.get("recorded_at")),
    )


def _left_out(source: str) -> Note:
    text = "an interaction is no HTTP request with its response (a web socket, or damaged): it is left out"
    return Note(kind="left_out", source=source, text=text, cost=_LOST, boundary="model")


def _other_body(message: dict[str, JSON]) -> tuple[str, JSON] | None:
    """A body that vcrpy's loader does not know: parsed already, or in base64."""
    if "parsed_body" in message:
        return "parsed_body", message["parsed_body"]
    body = message.get("body")
    if isinstance(body, dict) and isinstance(body.get("base64_string"), str | bytes):
        return "body/base64_string", body["base64_string"]
    return None


def _text(body: JSON) -> str | bytes | None:
    """The text of a body: vcrpy writes a request's as it is and a response's under `string`, others both that way."""
    held = body.get("string") if isinstance(body, dict) else body
    return held if isinstance(held, str | bytes) else None


def _headers(headers: JSON) -> dict[str, list[JSON]]:
    """The headers that have a name and a value, each as the list that vcrpy takes the first of."""
    listed = headers.items() if isinstance(headers, dict) else ()
    values = ((name, value if isinstance(value, list) else [value]) for name, value in listed)
    return {name: value for name, value in values if value and isinstance(value[0], str | bytes)}


def _moment(value: JSON) -> str | None:
    return instant_of(value) or http_date(value) if isinstance(value, str) else None


def _in_order(recorded: list[_Interaction], notes: list[Note]) -> list[_Interaction]:
    """In the order of the file, unless every interaction says when it was recorded."""
    moments = [datetime.fromisoformat(item.recorded_at) for item in recorded if item.recorded_at]
    if len(moments) < len(recorded) or moments == sorted(moments):
        return recorded
    notes.append(
        Note(kind="sequence_gap", source=recorded[0].source, text="the interactions stand in order of their times here")
    )
    return [item for _, _, item in sorted(zip(moments, range(len(recorded)), recorded, strict=True))]


def _exchanges(recorded: list[_Interaction]) -> Iterator[HttpExchange]:
    """Through vcrpy's loader, one by one as they are asked for."""
    unpacking = Unpacking()
    document = {"interactions": [item.document for item in recorded]}
    try:
        requests, responses = deserialize("", SimpleNamespace(deserialize=lambda text: document))
    except (ValueError, TypeError, LookupError, AttributeError):
        hint = "Record it again with a current vcrpy."
        raise refused("cassette", "", "vcrpy cannot load an interaction of the cassette", hint) from None
    for item, request, response in zip(recorded, requests, responses, strict=True):
        yield _exchange(item, request, response, unpacking)


def _exchange(item: _Interaction, request: Request, response: dict[str, JSON], unpacking: Unpacking) -> HttpExchange:
    asked, told = _lower(request.headers), _lower(response["headers"])
    asked_at = f"{item.source}/request/{item.request[0] if item.request else 'body'}"
    told_at = f"{item.source}/response/{item.response[0] if item.response else 'body/string'}"
    return HttpExchange(
        source=item.source,
        request_source=asked_at,
        response_source=told_at,
        method=request.method.upper(),
        url=request.uri,
        status=_status(response["status"]),
        request=_body(request.body, item.request, asked, asked_at, unpacking),
        response=_body(response["body"]["string"], item.response, told, told_at, unpacking),
        request_headers=asked,
        response_headers=told,
        recorded_at=item.recorded_at,
    )


def _body(
    data: bytes | None, other: tuple[str, JSON] | None, headers: dict[str, str], source: str, unpacking: Unpacking
) -> Body:
    unpacking.source = source
    if other is not None and other[0] == "parsed_body":
        return Body(parsed=other[1])
    data, fault = (data or b"", "") if other is None else from_base64(other[1])
    return Body(fault=fault) if fault else decoded(data, headers.get("content-encoding", ""), unpacking)


def _lower(headers: Any) -> dict[str, str]:
    """The first value of each header as text."""
    found = {}
    for name, value in headers.items():
        first = value[0] if isinstance(value, list) else value
        found[str(name).lower()] = first if isinstance(first, str) else first.decode("latin-1")
    return found


def _status(status: JSON) -> int:
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else status
    return code if isinstance(code, int) and not isinstance(code, bool) and 100 <= code <= 599 else 0


FORMAT = Format(name=NAME, title="VCR cassette", sniff=sniff, heads=heads, read=read)
