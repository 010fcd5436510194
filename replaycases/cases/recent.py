"""Statistics that may be a minute old: counted once for everybody who sees the same projects."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar
from uuid import UUID

from django.core.cache import cache

SECONDS = 60
T = TypeVar("T")


def of(name: str, projects: Iterable[UUID], count: Callable[[], T]) -> T:
    """What `count` gives for these projects, at most `SECONDS` old."""
    of_projects = hashlib.sha256("".join(sorted(map(str, projects))).encode()).hexdigest()
    key = f"recent:{name}:{of_projects}"
    found: T | None = cache.get(key)
    if found is None:
        found = count()
        cache.set(key, found, SECONDS)
    return found
