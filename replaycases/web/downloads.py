"""Evidence leaves as an attachment, never as a page of ours."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpResponse, StreamingHttpResponse


def attachment(data: bytes, name: str) -> HttpResponse:
    """The exact bytes. JSON as a download, not sniffed, so that nothing in it is ever rendered under our origin."""
    return HttpResponse(
        data,
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"},
    )


def streamed(parts: Iterable[str], name: str, *, media_type: str) -> StreamingHttpResponse:
    """A long text as a download, in parts as they are made; never rendered under our origin."""
    return StreamingHttpResponse(
        (part.encode() for part in parts),
        content_type=f"{media_type}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"},
    )
