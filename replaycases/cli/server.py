"""What `pull` and `push-results` share: one server, spoken to with a token over TLS."""

from __future__ import annotations

import argparse
import http.client
import ipaddress
import json
import os
import urllib.error
import urllib.request
from typing import IO, Any
from urllib.parse import urlsplit

from replaycases.cli.reading import USAGE, Refused
from replaycases.cli.running import ENVIRONMENT

TOKEN_VARIABLE = "REPLAYCASES_TOKEN"  # noqa: S105 - a name
SECONDS = 60
LARGEST_ANSWER = 32 * 1024 * 1024
CHUNK = 1 << 20


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
        self._opener = urllib.request.build_opener(_NoRedirect)

    def get_json(self, path: str) -> Any:
        return self._json(urllib.request.Request(self._address + path, headers=self._headers))  # noqa: S310

    def post_json(self, path: str, document: Any) -> Any:
        headers = {**self._headers, "Content-Type": "application/json"}
        data = json.dumps(document).encode()
        return self._json(urllib.request.Request(self._address + path, data=data, headers=headers))  # noqa: S310

    def download(self, path: str, to: IO[bytes], *, largest: int) -> None:
        request = urllib.request.Request(self._address + path, headers=self._headers)  # noqa: S310
        try:
            with self._open(request) as response:
                while chunk := response.read(CHUNK):
                    if to.tell() + len(chunk) > largest:
                        raise Refused(ENVIRONMENT, f"{self._address}: the answer is larger than {largest} bytes.")
                    to.write(chunk)
        except (OSError, http.client.HTTPException) as error:
            raise self._broken(error) from None

    def _json(self, request: urllib.request.Request) -> Any:
        try:
            with self._open(request) as response:
                return json.loads(response.read(LARGEST_ANSWER))
        except (OSError, http.client.HTTPException) as error:
            raise self._broken(error) from None
        except ValueError:
            raise Refused(ENVIRONMENT, f"{self._address}: the answer is not JSON. Is this the right address?") from None

    def _open(self, request: urllib.request.Request) -> Any:
        try:
            return self._opener.open(request, timeout=SECONDS)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(self._address, error) from None

    def _broken(self, error: Exception) -> Refused:
        why = error.reason if isinstance(error, urllib.error.URLError) else error
        return Refused(ENVIRONMENT, f"{self._address}: no answer: {why}")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def _refusal(address: str, error: urllib.error.HTTPError) -> Refused:
    """The server's own sentence, if it sent one."""
    try:
        document = json.loads(error.read(LARGEST_ANSWER))
        said = document["detail"] if isinstance(document.get("detail"), str) else json.dumps(document)
        said = " ".join([said, *(str(finding["message"]) for finding in document.get("findings", []))])
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        said = error.headers.get("Location", "") if 300 <= error.code < 400 else ""
    code = USAGE if 300 <= error.code < 500 else ENVIRONMENT
    return Refused(code, f"{address}: answered {error.code}. {said}".rstrip())


def _token() -> str:
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        raise Refused(USAGE, f"{TOKEN_VARIABLE} is not set. Make a token on the server and put it there.")
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise Refused(USAGE, f"{TOKEN_VARIABLE} holds characters that no token has. Copy it again.")
    return token


def _address(url: str, *, insecure: bool) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise Refused(USAGE, "--server: must be an address such as https://replaycases.example")
    if parts.scheme == "http" and not (insecure or _is_this_host(parts.hostname)):
        raise Refused(USAGE, "--server: http would show the token to everybody on the way. Use https.")
    return url.rstrip("/")


def _is_this_host(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"
