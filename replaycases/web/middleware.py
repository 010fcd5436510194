"""What holds for every request and response: no NUL comes in, no cache keeps what goes out, and domain refusals are
pages of ours."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict, UnreadablePostError
from django.shortcuts import render
from django.utils.cache import patch_cache_control

from replaycases.cases.evidence import EvidenceDamaged, EvidenceDestroyed
from replaycases.cases.incoming import announced
from replaycases.cases.key_ring import RingInvalid
from replaycases.cases.policies import InvalidTransition
from replaycases.cases.reading import ReasonNeeded
from replaycases.web.raw_reading import ask

logger = logging.getLogger(__name__)


class NeverStored:
    """Pages, downloads and API answers hold evidence that only this person may see: neither a proxy nor the browser
    keeps them, so that nothing is left to read after signing out or after the evidence has expired."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        patch_cache_control(response, private=True, no_store=True)
        return response


class NulRefused:
    """A NUL in a query string is a 400: no text that is kept holds one, and PostgreSQL takes none, so a filter that let
    it through would end as a 500. Also for the administrators' site, whose filters are not ours. The API says it in
    its own words, naming the parameter."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith("/api/") and _holds_nul(request.GET):
            return render(request, "400.html", status=400)
        return self.get_response(request)


def _holds_nul(query: QueryDict) -> bool:
    return any("\0" in text for name, values in query.lists() for text in (name, *values))


class BodyLimit:
    """A body that is larger than what is kept of it could be is refused before any of it is read (413), and one that
    comes in chunks without saying how long it is (411): Django would take it for an empty one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        longest = settings.MAX_UPLOAD_BYTES + settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        length = announced(request.META)
        if request.path.startswith("/v1/"):  # the receiver of traces has a cap of its own, and says it itself
            return self.get_response(request)
        if length is None and "chunked" in request.headers.get("Transfer-Encoding", "").lower():
            return JsonResponse({"detail": "Send the body with its length (Content-Length)."}, status=411)
        if length is None or length <= longest:
            return self.get_response(request)
        if request.path.startswith("/api/"):
            return JsonResponse({"detail": "The body is larger than this server accepts."}, status=413)
        return render(request, "413.html", {"most": longest}, status=413)


class ErrorPages:
    """On every page a state that does not allow what was asked is a 409, as a missing right is a 403, with the
    form where only the reason to read raw evidence is missing; raw evidence whose time was over is a 410; stored bytes
    that no longer have their digest are a 500 that says which to restore, with nothing of them shown; a key ring that
    cannot be read is a 503; and a body that broke off is a 400."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, InvalidTransition):
            return render(request, "409.html", {"reason": str(exception)}, status=409)
        if isinstance(exception, ReasonNeeded):
            return ask(request, exception.of, back="", status=403)
        if isinstance(exception, EvidenceDestroyed):
            return render(request, "410.html", {"destroyed": str(exception)}, status=410)
        if isinstance(exception, EvidenceDamaged):
            logger.error("%s", exception)
            return render(request, "500.html", {"damage": str(exception)}, status=500)
        if isinstance(exception, UnreadablePostError):
            return render(request, "400.html", status=400)
        if isinstance(exception, RingInvalid):
            logger.error("%s", exception)
            return render(request, "503.html", status=503)
        return None
