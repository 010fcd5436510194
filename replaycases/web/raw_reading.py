"""Raw evidence on a page: shown, withheld, or a form in its place that asks why it is to be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from replaycases.cases import evidence, raw_reads, reading
from replaycases.cases.models import Capture, Case, Payload, RawRead
from replaycases.web.downloads import JSON, attachment
from replaycases.web.scope import user_of


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What parts/raw_read.html reads. `back` is where the reader is led once they said why; `reason` what they said
    of it before, `refused` why that was not taken. `gone` says that it is destroyed, to who may read it; "" if not."""

    access: reading.Access
    of: Case | Capture
    back: str
    reason: str = ""
    refused: str = ""
    gone: str = ""

    @property
    def open(self) -> bool:
        return self.access.open and not self.gone

    @property
    def asks(self) -> bool:
        return self.access.asks and not self.gone

    @property
    def instead(self) -> bool:
        """Whether something stands in the content's place: the form, or that it is destroyed."""
        return self.asks or bool(self.gone)

    @property
    def read(self) -> RawRead | None:
        return self.access.read

    @property
    def address(self) -> str:
        name = "capture_raw_read_list" if isinstance(self.of, Capture) else "case_raw_read_list"
        return reverse(name, args=[self.of.readable_id])

    @property
    def covers(self) -> str:
        if isinstance(self.of, Capture):
            return f"{self.of.readable_id} and the drafts of its runs"
        return f"all revisions, controls, manifests and verdicts of {self.of.readable_id}"

    @property
    def minutes(self) -> int:
        return settings.REPLAYCASES_RAW_READ_MINUTES

    @property
    def most(self) -> int:
        return raw_reads.REASON_CAP


def of(request: HttpRequest, *subjects: reading.Readable, back: str = "") -> Shown:
    """How the reader stands to the subjects together, all of them of one case or capture. They are led to the page that
    they asked for, or `back` where it answered a form."""
    user = user_of(request)
    what = reading.of_what(subjects[0])
    found = [reading.access_to(subject, user) for subject in subjects]
    worst = next((one for one in found if not one.may), None) or next((one for one in found if not one.open), None)
    shown = worst or next((one for one in found if one.raw), found[0])
    gone = next(filter(None, map(reading.destroyed, subjects)), "") if shown.may and shown.raw else ""
    last = raw_reads.last_reason(user, what) if shown.asks and not gone else ""
    return Shown(access=shown, of=what, back=_here(request) or back, reason=last, gone=gone)


def _here(request: HttpRequest) -> str:
    return request.get_full_path() if request.method in ("GET", "HEAD") else ""


def begun(request: HttpRequest, *, case: Case | None = None, capture: Capture | None = None) -> str:
    """The reader said why in the form; where they are led now."""
    raw_reads.begin(user_of(request), case=case, capture=capture, reason=request.POST.get("reason", ""))
    wanted = request.POST.get("next", "")
    own = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None) and wanted.startswith("/")
    return wanted if own else ""


def ask(request: HttpRequest, of: Case | Capture, *, back: str, refused: str = "", status: int) -> HttpResponse:
    """A page with the form alone."""
    access = reading.Access(may=True, raw=True)
    said = request.POST.get("reason", "")
    shown = Shown(access=access, of=of, back=back, reason=said, refused=refused)
    return render(request, "parts/raw_read_page.html", {"raw": shown}, status=status)


def download(
    request: HttpRequest, subject: reading.Readable, payload: Payload, name: str, *, back: str
) -> HttpResponse:
    """The exact bytes as an attachment, or the form, which leads `back` to a page: a download has none of its own."""
    return download_made(request, subject, lambda: evidence.read(payload), name, back=back)


def download_made(
    request: HttpRequest,
    subject: reading.Readable,
    made: Callable[[], bytes],
    name: str,
    *,
    back: str,
    media_type: str = JSON,
) -> HttpResponse:
    """The same of bytes that are made of the subject, once it is known to be open."""
    shown = of(request, subject)
    if shown.gone:
        raise evidence.EvidenceDestroyed(shown.gone)
    if shown.asks:
        return ask(request, reading.of_what(subject), back=back, status=403)
    reading.require_open(subject, user_of(request))
    return attachment(made(), name, media_type=media_type)
