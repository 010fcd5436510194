"""Domain refusals as pages of ours."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from replaycases.cases.lifecycle import InvalidTransition


class ConflictPage:
    """A state that does not allow what was asked is a 409 on every page, as a missing right is a 403."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, InvalidTransition):
            return render(request, "409.html", {"reason": str(exception)}, status=409)
        return None
