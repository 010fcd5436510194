"""How a program signs in: `Authorization: Bearer rc_…`, within the token's scopes."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from replaycases.accounts import tokens
from replaycases.accounts.models import ApiToken, User
from replaycases.cases.policies import BY_PERSON

SCHEME = "Bearer"


class TokenAuthentication(BaseAuthentication):
    """A token's owner, with the token. Without the header it is somebody else's turn."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken | None] | None:
        scheme, _, secret = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != SCHEME.lower():
            return None
        user = tokens.authenticate(secret.strip())
        if user is None:
            raise AuthenticationFailed("The token is unknown, expired or revoked, or its owner has no role any more.")
        return user, user.token

    def authenticate_header(self, request: Request) -> str:
        return f'{SCHEME} realm="replaycases"'


class HasScope(BasePermission):
    """A program may do what a scope of its token covers, and of that only what its owner may. A view says in
    `read_scopes` which scopes read it (none: only people) and in `write_scopes` which one an action needs; an action
    that is not there is for people: a token never decides."""

    def has_permission(self, request: Request, view: Any) -> bool:
        token: ApiToken | None = getattr(request.user, "token", None)
        if token is None or view.action is None:  # no action: the method is not allowed, and that is the answer
            return True
        wanted = self._wanted(request, view)
        if not wanted:
            raise PermissionDenied("This is for people. Sign in as yourself.")
        if wanted.isdisjoint(token.scopes):
            raise PermissionDenied(f"The token lacks the scope {' or '.join(sorted(wanted))}.")
        return True

    def _wanted(self, request: Request, view: Any) -> frozenset[str]:
        if request.method in SAFE_METHODS:
            return frozenset(view.read_scopes)
        scope = view.write_scopes.get(view.action)
        if scope is None:
            raise PermissionDenied(BY_PERSON)
        return frozenset({scope})


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # drf-spectacular has few types
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A project's token, rc_…, within its scopes."}
