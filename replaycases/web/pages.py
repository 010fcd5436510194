"""Paging: 500 rows a page, so that the browser's find-in-page tells the truth."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest

ROWS_A_PAGE = 500


def page_of(request: HttpRequest, rows: Any) -> Page[Any]:
    """The page that `?page=` asks for; a number out of range gives the nearest one."""
    return Paginator(rows, ROWS_A_PAGE).get_page(request.GET.get("page"))
