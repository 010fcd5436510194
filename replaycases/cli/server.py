"""What `pull`, `push-results` and `capture` share: one server, spoken to with a token over TLS."""

from __future__ import annotations

import argparse
import http.client
import ipaddress
import os
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import IO, Any
from urllib.parse import urlsplit, urlunsplit

import orjson

from replaycases.cli.output import TOKEN_VARIABLE
from replaycases.cli.reading import USAGE, Refused
from replaycases.cli.running import ENVIRONMENT

SECONDS = 60
"""How long the server may be silent."""
LONGEST = 3600
"""Seconds that one answer may take: a server that sends a byte a minute is never silent."""
LARGEST_ANSWER = 32 * 1024 * 1024
MOST_SAID = 2000
"""Characters of a server's own sentence that are passed on."""
CHUNK = 1 << 20
# Refused for now, and not for what was asked: too slow, too early, too many requests.
_LATER = {408, 425, 429}


def add_server_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--server", required=True, metavar="URL", help="the server's address, https://…")
    parser.add_argument(
        "--insecure-http", action="store_true", help="send the token without TLS to a host that is not this one"
    )
    parser.epilog = f"The token is read from {TOKEN_VARIABLE} and never from the command line."


class Server:
    """Requests to one server. Redirects are not followed: the token would go where nobody named. Raises Refused with
    exit code 2 for what the server refuses, and 60 where it cannot be had or cannot answer."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._address = _address(options.server, insecure=options.insecure_http)
        self._headers = {"Authorization": f"Bearer {_token()}", "Accept": "*/*"}
        self._status = 0
        self._opener = urllib.request.build_opener(_NoRedirect, *_no_proxy(self._address))

    def get_json(self, path: str) -> Any:
        return self._json(urllib.request.Request(self._address + path, headers=self._headers))  # noqa: S310

    def post_json(self, path: str, document: Any) -> Any:
        headers = {**self._headers, "Content-Type": "application/json"}
        data = orjson.dumps(document)
        return self._json(urllib.request.Request(self._address + path, data=data, headers=headers))  # noqa: S310

    def post_file(self, path: str, data: IO[bytes], said: Mapping[str, str]) -> tuple[bool, Any]:
        """Send a regular file as it is read, as `file` of a multipart body with `said` as its fields: nothing that is
        said stands in the address. Whether the server made something new of it, and its answer."""
        boundary = secrets.token_hex(16)
        fields = "".join(f"{_part(boundary, name)}\r\n\r\n{value}\r\n" for name, value in said.items())
        head = f'{fields}{_part(boundary, "file")}; filename="file"\r\nContent-Type: application/octet-stream\r\n\r\n'
        before, after = head.encode(errors="replace"), f"\r\n--{boundary}--\r\n".encode()
        length = len(before) + os.fstat(data.fileno()).st_size + len(after)
        kind = f"multipart/form-data; boundary={boundary}"
        headers = {**self._headers, "Content-Type": kind, "Content-Length": str(length)}
        pieces = chain((before,), iter(partial(data.read, CHUNK), b""), (after,))
        answer = self._json(urllib.request.Request(self._address + path, data=pieces, headers=headers))  # noqa: S310
        return self._status == http.HTTPStatus.CREATED, answer

    def download(self, path: str, to: IO[bytes], *, largest: int) -> None:
        """Raises OSError where `to` cannot be written."""
        request = urllib.request.Request(self._address + path, headers=self._headers)  # noqa: S310
        for piece in self._body(request, largest=largest):
            to.write(piece)

    def misunderstood(self) -> Refused:
        """For an answer that is JSON of another shape than this server's."""
        return Refused(ENVIRONMENT, f"{self._address}: the answer is not understood. Is this the right address?")

    def _json(self, request: urllib.request.Request) -> Any:
        try:
            return orjson.loads(b"".join(self._body(request, largest=LARGEST_ANSWER)))
        except orjson.JSONDecodeError:
            raise Refused(ENVIRONMENT, f"{self._address}: the answer is not JSON. Is this the right address?") from None

    def _body(self, request: urllib.request.Request, *, largest: int) -> Iterator[bytes]:
        """The answer as it comes. One that breaks off is Refused like one that never came."""
        try:
            with self._opener.open(request, timeout=SECONDS) as response:
                self._status = response.status
                yield from _pieces(response, largest)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(self._address, error) from None
        except _Broken as broken:
            raise Refused(ENVIRONMENT, f"{self._address}: {broken}") from None
        except (OSError, http.client.HTTPException) as error:
            why = error.reason if isinstance(error, urllib.error.URLError) else error
            raise Refused(ENVIRONMENT, f"{self._address}: no answer: {str(why)[:MOST_SAID]}") from None


def _part(boundary: str, name: str) -> str:
    return f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"'


class _Broken(Exception):
    """An answer that began and is not taken to its end. The message continues a sentence."""


def _pieces(response: Any, largest: int) -> Iterator[bytes]:
    """A body as it comes, held against its limits after every piece."""
    size, started = 0, time.monotonic()
    while piece := response.read1(CHUNK):
        size += len(piece)
        if size > largest:
            raise _Broken(f"the answer is larger than {largest} bytes.")
        if time.monotonic() - started > LONGEST:
            raise _Broken(f"the answer took more than {LONGEST} seconds.")
        yield piece
    if response.length:
        raise _Broken(f"the answer broke off: {response.length} bytes are missing.")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def _no_proxy(address: str) -> list[urllib.request.BaseHandler]:
    """What goes to this machine without TLS must not go through another one, whatever the environment says of proxies.
    Through TLS a proxy sees nothing."""
    parts = urlsplit(address)
    here = parts.scheme == "http" and _is_this_host(parts.hostname or "")
    return [urllib.request.ProxyHandler({})] if here else []


def _refusal(address: str, error: urllib.error.HTTPError) -> Refused:
    """The server's own sentence, if it sent one."""
    try:
        said = _sentence(orjson.loads(b"".join(_pieces(error.fp, LARGEST_ANSWER))))
    except (ValueError, OSError, http.client.HTTPException, _Broken):
        said = error.headers.get("Location", "") if 300 <= error.code < 400 else ""
    code = USAGE if 300 <= error.code < 500 and error.code not in _LATER else ENVIRONMENT
    return Refused(code, f"{address}: answered {error.code}. {said[:MOST_SAID]}".rstrip())


def _sentence(document: Any) -> str:
    fields: dict[str, Any] = document if isinstance(document, dict) else {}
    detail, findings = fields.get("detail"), fields.get("findings")
    said = [detail] if isinstance(detail, str) else _by_field(fields) or [orjson.dumps(document).decode()]
    listed = [one for one in findings if isinstance(one, dict)] if isinstance(findings, list) else []
    return " ".join([*said, *map(_finding, listed)])


def _by_field(fields: dict[str, Any]) -> list[str]:
    """What is wrong with each part of a request: {"project": ["There is none with this key."]}. [] for other shapes."""
    if not all(isinstance(said, list) and all(isinstance(one, str) for one in said) for said in fields.values()):
        return []
    return [f"{name}: {' '.join(said)}" for name, said in fields.items()]


def _finding(finding: dict[str, Any]) -> str:
    """Where, what, and what to do about it."""
    pointer, message, hint = (str(finding.get(name, "")) for name in ("pointer", "message", "hint"))
    place = f"{pointer}: " if pointer else ""
    return f"{place}{message.removesuffix('.')}. {hint}".rstrip()


def _token() -> str:
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        raise Refused(USAGE, f"{TOKEN_VARIABLE} is not set. Make a token on the server and put it there.")
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise Refused(USAGE, f"{TOKEN_VARIABLE} holds characters that no token has. Copy it again.")
    return token


def _address(url: str, *, insecure: bool) -> str:
    """The address put together from the parts that were looked at, so that nobody reads it otherwise."""
    plain = url.isascii() and url.isprintable() and not set(url) & set(' @?#\\"')
    try:
        parts = urlsplit(url if plain else "")
        host, port = parts.hostname, parts.port
        (host or "").encode("idna")
    except ValueError:  # also where a part of the name is too long
        host = None
    if not host or parts.scheme not in ("https", "http"):
        raise Refused(USAGE, "--server: must be an address such as https://replaycases.example")
    if parts.scheme == "http" and not (insecure or _is_this_host(host)):
        raise Refused(USAGE, "--server: http would show the token to everybody on the way. Use https.")
    named = f"[{host}]" if ":" in host else host
    where = named if port is None else f"{named}:{port}"
    return urlunsplit((parts.scheme, where, parts.path.rstrip("/"), "", ""))


def _is_this_host(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"
