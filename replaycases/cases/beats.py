"""What a beat does row by row: what one row fails on stays with that row, and the others are looked at all the same."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from django.db.models import Model

logger = logging.getLogger(__name__)
Row = TypeVar("Row", bound=Model)


def each(rows: Iterable[Row], work: Callable[[Row], int]) -> int:
    """The sum of what `work` returns for each row, in their order. A row that it fails on counts 0, is logged by its id
    and is there again at the next look."""
    return sum(_tried(row, work) for row in rows)


def _tried(row: Row, work: Callable[[Row], int]) -> int:
    try:
        return work(row)
    except Exception:
        logger.exception("%s %s failed in a beat", type(row).__name__, row.pk)
        return 0
