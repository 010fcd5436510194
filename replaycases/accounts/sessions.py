"""How long somebody stays signed in: a session has a greatest age and a longest rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import SessionBase
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

SIGNED_IN_AT = "signed_in_at"
ACTIVE_AT = "active_at"
# Use is noted at most this often, so that not every page writes the session.
NOTED_EVERY_SECONDS = 60


@receiver(user_logged_in)
def start(request: HttpRequest, **kwargs: Any) -> None:
    request.session[SIGNED_IN_AT] = request.session[ACTIVE_AT] = int(time.time())


class SessionLimits:
    """Signs out whoever signed in too long ago or did nothing for too long; the view then sees nobody. Stands after
    Django's authentication."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            now = int(time.time())
            if _is_over(request.session, now):
                logout(request)
            elif _is_an_act(request) and now - request.session[ACTIVE_AT] >= NOTED_EVERY_SECONDS:
                request.session[ACTIVE_AT] = now
        return self.get_response(request)


def _is_over(session: SessionBase, now: int) -> bool:
    """A session that does not say when it started is over too."""
    age: int = now - session.get(SIGNED_IN_AT, 0)
    rest: int = now - session.get(ACTIVE_AT, 0)
    return age >= settings.SESSION_COOKIE_AGE or rest >= settings.SESSION_IDLE_SECONDS


def _is_an_act(request: HttpRequest) -> bool:
    """Whether a person did something. A page that is left open asks again by itself while a job runs."""
    return not (request.method == "GET" and request.headers.get("HX-Request") == "true")
