"""Finding captures by their own id or a piece of their name or trace id.

What is frequent is found among the newest, what is rare by an index over all runs of three letters (see migration
`capture_search`)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from django.db import connection
from django.db.models import F, Func, Q, QuerySet, TextField
from django.db.models.functions import StrIndex
from django.db.models.lookups import GreaterThan

from replaycases.accounts.models import Project
from replaycases.cases.models import Capture
from replaycases.cases.searching import SAMPLE, SHORTEST_INDEXED, TRIGRAMS, HoldsAll, piece_of

READABLE_ID = r"([A-Z][A-Z0-9]{0,11})-T([1-9][0-9]{0,8})"


def matching(text: str) -> Q:
    """Captures whose name or trace id holds `text`, or that have it as their readable id, in upper or lower case. None
    for an empty text."""
    said = text.strip()
    if not said:
        return Q(pk__in=())
    if connection.vendor != "postgresql":
        return Q(name__icontains=said) | Q(trace_id__icontains=said) | _by_readable_id(said)
    held = _held(said) if len(said) < SHORTEST_INDEXED else _indexed(said) & _held(said)
    return held | _by_readable_id(said)


def newest(text: str, projects: Iterable[Project], most: int) -> list[Capture]:
    """At most `most` of those in the projects, the newest first. One query, or two where few of the newest match."""
    mine = Capture.objects.filter(project__in=[project.pk for project in projects])
    rows = mine.select_related("project")
    said = text.strip()
    if not said:
        return []
    if connection.vendor != "postgresql":
        return list(rows.filter(matching(said)).order_by("-captured_at", "-number")[:most])
    found = {row.pk: row for row in _among_newest(rows, said)[:most]}
    if len(found) < most and len(said) >= SHORTEST_INDEXED:
        rare = mine.filter(_indexed(said) & _held(said)).order_by()
        found |= {row.pk: row for row in rows.filter(pk__in=rare.values("pk")[:most])}
    return sorted(found.values(), key=lambda row: row.captured_at, reverse=True)[:most]


def _among_newest(rows: QuerySet[Capture], said: str) -> QuerySet[Capture]:
    lately = rows.order_by("-captured_at").values("pk")[:SAMPLE]
    return rows.filter(_held(said) & Q(pk__in=lately) | _by_readable_id(said)).order_by("-captured_at", "-number")


def _by_readable_id(said: str) -> Q:
    named = re.fullmatch(READABLE_ID, said.upper())
    return Q(project__key=named[1], number=int(named[2])) if named else Q(pk__in=())


def _held(said: str) -> Q:
    return Q(GreaterThan(StrIndex(_TEXT, piece_of(said)), 0))


def _indexed(said: str) -> Q:
    return Q(HoldsAll(Func(_TEXT, function=TRIGRAMS), Func(piece_of(said), function=TRIGRAMS)))


# The expression that the index is over, letter by letter.
_TEXT = Func(
    *(F(name) for name in ("name", "trace_id")),
    template="lower(%(expressions)s)",
    arg_joiner=" || ' ' || ",
    output_field=TextField(),
)
