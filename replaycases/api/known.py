"""What nobody knows is refused by its name, in a query and in a body: it would be passed over in silence."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from django.http import QueryDict
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request


def require_known(said: Mapping[str, Any], known: Container[str], why: str, *, lists: Container[str] = ()) -> None:
    """Raises ValidationError for what would be passed over in silence: a part of a query or a body that there is not,
    and all but the last of one that is sent several times and is none of the `lists`."""
    faults = {name: [why] for name in said if name not in known}
    if isinstance(said, QueryDict):
        several = [name for name, values in said.lists() if len(values) > 1 and name not in lists]
        faults = {name: ["Send it once."] for name in several} | faults
    if faults:
        raise ValidationError(faults)


class KnownFilters(DjangoFilterBackend):  # type: ignore[misc] # django-filter has no types
    """The filters of a list. One that there is not is a 400: the whole list would look like what was asked for."""

    def filter_queryset(self, request: Request, queryset: Any, view: Any) -> Any:
        if view.action == "list":
            filters = self.get_filterset_class(view, queryset)
            known = [*(filters.base_filters if filters else ()), "cursor", "page_size", "format"]
            require_known(request.query_params, known, f"There is no such filter. There are: {', '.join(known)}.")
        return super().filter_queryset(request, queryset, view)
