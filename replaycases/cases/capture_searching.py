"""Finding captures by their own id or a piece of their name or trace id.

What is frequent is found among the newest, what is rare by an index over all runs of three letters (see migration
`capture_search`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from uuid import UUID

from django.db import connection
from django.db.models import F, Func, Q, QuerySet, TextField
from django.db.models.functions import StrIndex
from django.db.models.lookups import GreaterThan

from replaycases.accounts.models import Project
from replaycases.cases.models import Capture
from replaycases.cases.searching import SHORTEST_INDEXED, TRIGRAMS, HoldsAll, piece_of

SAMPLE = 500
READABLE_ID = r"([A-Z][A-Z0-9]{0,11})-T([1-9][0-9]{0,8})"


def matching(text: str) -> Q:
    """Captures whose name or trace id holds `text`; what is written like a capture's own id means that one. Upper and
    lower case are the same. None for an empty text."""
    said = text.strip()
    named = _by_readable_id(said)
    if named is not None or not said:
        return named or Q(pk__in=())
    if connection.vendor != "postgresql":
        return Q(name__icontains=said) | Q(trace_id__icontains=said)
    return _held(said) if len(said) < SHORTEST_INDEXED else _indexed(said) & _held(said)


def newest(text: str, projects: Iterable[Project], most: int) -> list[Capture]:
    """At most `most` of those in the projects, the newest first. Two queries, three where few of the newest match."""
    rows = Capture.objects.filter(project__in=[project.pk for project in projects])
    said = text.strip()
    if not said:
        return []
    if _by_readable_id(said) is not None:
        return list(rows.filter(matching(said)).select_related("project")[:most])
    found = _among_newest(rows, said)[:most]
    if len(found) < most and len(said) >= SHORTEST_INDEXED:
        found += rows.filter(matching(said)).order_by().values_list("pk", flat=True)[:most]
    return list(rows.filter(pk__in=found).select_related("project").order_by("-captured_at", "-number")[:most])


def _among_newest(rows: QuerySet[Capture], said: str) -> list[UUID]:
    """Compared here: a database that is asked for a piece compares all rows first."""
    lately = rows.order_by("-captured_at").values_list("pk", "name", "trace_id")[:SAMPLE]
    piece = said.lower()
    return [pk for pk, name, trace_id in lately if piece in f"{name} {trace_id}".lower()]


def _by_readable_id(said: str) -> Q | None:
    named = re.fullmatch(READABLE_ID, said.upper())
    return Q(project__key=named[1], number=int(named[2])) if named else None


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
