"""Raw evidence of a capture as a download: what a page cuts, and the file whole, to a reader who said why."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from replaycases.cases import captures, evidence
from replaycases.importers.findings import ImportRefused
from replaycases.web import raw_reading
from replaycases.web.captures import loading, step_contents
from replaycases.web.captures.draft_views import unreadable
from replaycases.web.captures.loading import CaptureId
from replaycases.web.downloads import BYTES, TEXT
from replaycases.web.scope import user_of


@login_required
@require_safe
def step_content(request: HttpRequest, capture_id: CaptureId, run: int, number: int) -> HttpResponse:
    """What was asked and answered in one step, nothing cut."""
    capture = loading.capture_or_404(request, capture_id)
    run = loading.run_or_404(capture, run)

    def made() -> bytes:
        text = step_contents.text_of(captures.recording_of(user_of(request), capture).read(run), number)
        if not text:
            raise Http404
        return text.encode(errors="backslashreplace")  # half a surrogate pair is no UTF-8

    back = reverse("capture_run", args=[capture.readable_id, run], query={"at": number})
    name = f"{capture.readable_id}-run-{run}-step-{number}.txt"
    try:
        return raw_reading.download_made(request, capture, made, name, back=back, media_type=TEXT)
    except ImportRefused as refused:
        return unreadable(request, capture, run, str(refused))


@login_required
@require_safe
def document(request: HttpRequest, capture_id: CaptureId) -> HttpResponse:
    """The file as it came in."""
    capture = loading.capture_or_404(request, capture_id)
    back = reverse("capture_run", args=[capture.readable_id, 0])

    def made() -> bytes:
        return evidence.read(capture.payload)

    name = f"{capture.readable_id}.bin"
    return raw_reading.download_made(request, capture, made, name, back=back, media_type=BYTES)
