"""Evidence leaves as an attachment, never as a page of ours."""

from __future__ import annotations

from django.http import HttpResponse


def attachment(data: bytes, name: str) -> HttpResponse:
    """The exact bytes. JSON as a download, not sniffed, so that nothing in it is ever rendered under our origin."""
    return HttpResponse(
        data,
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"},
    )
