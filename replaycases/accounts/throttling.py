"""Where a sign-in comes from: failures are counted by user name and address (django-axes)."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str | None:
    """The peer's address; behind a proxy the last one in X-Forwarded-For, which is the one that the proxy itself wrote.
    What the client wrote before it is not believed. None where there is no address (a socket file)."""
    given = str(request.META.get("REMOTE_ADDR", ""))
    if settings.BEHIND_PROXY:
        given = request.headers.get("X-Forwarded-For", given).rpartition(",")[2].strip()
    try:
        return str(ip_address(given))
    except ValueError:
        return None
