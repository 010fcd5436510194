"""Paging: 500 rows a page, so that the browser's find-in-page tells the truth."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

ROWS_A_PAGE = 500
# Only so many rows of a long list are counted and can be leafed through: beyond that a filter finds what one looks for.
COUNTED = 5_000


def page_of(request: HttpRequest, rows: Any) -> Page[Any]:
    """The page that `?page=` asks for; a number out of range gives the nearest one."""
    return Paginator(rows, ROWS_A_PAGE).get_page(request.GET.get("page"))


class CountedPaginator(Paginator):  # type: ignore[type-arg] # it takes none when it runs
    """The first `COUNTED` rows of a long list, and whether there are more."""

    object_list: QuerySet[Any]

    @cached_property
    def _found(self) -> int:
        return self.object_list.order_by().values("pk")[: COUNTED + 1].count()

    @cached_property
    def count(self) -> int:
        return min(self._found, COUNTED)

    @property
    def has_more(self) -> bool:
        return self._found > COUNTED


def page_of_many(request: HttpRequest, rows: QuerySet[Any]) -> Page[Any]:
    """The same of a list that may be too long to be counted."""
    return CountedPaginator(rows, ROWS_A_PAGE).get_page(request.GET.get("page"))
