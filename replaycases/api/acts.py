"""Writes of the API as data: each is one call of one service of the domain.

An act is POST, PUT, PATCH or DELETE on a list, an object, or a noun below an object. The object is loaded first (404
for what the user may not see), then the body is checked for its shape (400), then the service is called, which decides
everything else (403, 409, 413, 422).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from replaycases.accounts.models import Scope
from replaycases.api.base import ApiViewSet

ViewSet = TypeVar("ViewSet", bound=type[ApiViewSet])
Shape = type[BaseSerializer[Any]]
_PLAIN: Mapping[str, str] = {"post": "create", "put": "update", "patch": "partial_update", "delete": "destroy"}


@dataclass(frozen=True, kw_only=True)
class Act:
    """`does(actor, **{subject: object}, **body)` is the service; `subject` is "" on a list, which has no object. `noun`
    is the sub-resource, "" for the list or object itself. `gives` None answers 204. `scope` is what a token needs, None
    for what only people do. `says` is the sentence of the documentation."""

    does: Callable[..., Any]
    says: str
    gives: Shape | None
    takes: Shape | None = None
    noun: str = ""
    method: Literal["post", "put", "patch", "delete"] = "post"
    subject: str = ""
    scope: Scope | None = None
    status: int = 200

    @property
    def name(self) -> str:
        return self.noun.replace("-", "_") if self.noun else _PLAIN[self.method]


def with_acts(*acts: Act) -> Callable[[ViewSet], ViewSet]:
    """Give the view set a method for each act, and its scope."""

    def give(view_set: ViewSet) -> ViewSet:
        for act in acts:
            setattr(view_set, act.name, _method(act))
        view_set.acts = (*view_set.acts, *acts)
        view_set.write_scopes = {**view_set.write_scopes, **{act.name: act.scope for act in acts if act.scope}}
        return view_set

    return give


def _method(act: Act) -> Callable[..., Response]:
    def respond(self: ApiViewSet, request: Request, **_: Any) -> Response:
        subject = {act.subject: self.get_object()} if act.subject else {}
        body = self.checked(act.takes) if act.takes else {}
        made = act.does(self.user, **subject, **body)
        if act.gives is None:
            return Response(status=204)
        return Response(act.gives(made, context=self.get_serializer_context()).data, status=act.status)

    respond.__name__ = act.name
    respond.__doc__ = act.says
    answers = {act.status: act.gives} if act.gives else {204: None}
    described = extend_schema(request=act.takes, responses=answers, filters=False)
    below = action(detail=True, methods=[act.method], url_path=act.noun)
    return described(below(respond) if act.noun else respond)
