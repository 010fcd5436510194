"""Evidence leaves as an attachment, never as a page of ours."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpResponse, StreamingHttpResponse

JSON = "application/json"
BYTES = "application/octet-stream"
TEXT = "text/plain; charset=utf-8"


def attachment(data: bytes, name: str, *, media_type: str = JSON) -> HttpResponse:
    """The exact bytes as a download, not sniffed, so that nothing in it is ever rendered under our origin."""
    return HttpResponse(
        data,
        content_type=media_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"},
    )


def streamed(parts: Iterable[str], name: str, *, media_type: str) -> StreamingHttpResponse:
    """A long text as a download, in parts as they are made; never rendered under our origin."""
    return StreamingHttpResponse(
        (part.encode() for part in parts),
        content_type=f"{media_type}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"},
    )
