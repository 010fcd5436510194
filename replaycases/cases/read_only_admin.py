"""Admin pages that only show, and admin pages that change through services."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from replaycases.cases.policies import InvalidTransition

M = TypeVar("M", bound=models.Model)

if TYPE_CHECKING:
    _Base = admin.ModelAdmin
else:

    class _Base(admin.ModelAdmin, Generic[M]):
        """Django's takes no type arguments at run time."""


class ReadOnlyAdmin(_Base[M]):
    """Neither adds nor changes nor deletes; what acts on rows is a named action."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False


class ThroughServices(_Base[M]):
    """Saves through a service, which locks, decides again and records. What the service refuses is a message, and
    nothing is stored."""

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except (ValidationError, InvalidTransition) as refused:
            tell_refused(request, refused)
            return redirect(request.path)


def for_each(request: HttpRequest, chosen: Iterable[M], act: Callable[[M], object], done: str) -> None:
    """Act on each row in a transaction of its own; an outcome a row."""
    for row in chosen:
        told = str(row)
        try:
            act(row)
        except (ValidationError, InvalidTransition, PermissionDenied) as refused:
            tell_refused(request, refused)
        else:
            messages.success(request, f"{told}: {done}.")


def tell_refused(request: HttpRequest, refused: Exception) -> None:
    sentences = refused.messages if isinstance(refused, ValidationError) else [str(refused)]
    messages.error(request, " ".join(sentences))
