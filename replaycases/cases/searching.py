"""Finding cases by a piece of their title, incident, own name or hash, fast for rare words and for frequent ones.

On PostgreSQL an index over all runs of three letters finds rare pieces (see migration `case_search`). A piece that is
found nearly everywhere would make it read everything; the newest rows then hold enough that match.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models import BooleanField, Count, F, Func, Q, TextField, Value
from django.db.models.functions import Lower, StrIndex
from django.db.models.lookups import GreaterThan

from replaycases.accounts.models import Project
from replaycases.cases.models import Case, FixtureRevision

READABLE_ID = r"[A-Z][A-Z0-9]{0,11}-[1-9][0-9]{0,8}"
TRIGRAMS = "replaycases_trigrams"
TEXT = ("title", "incident_id", "case_id")
# So many matches among so many of the newest cases make a piece frequent.
SAMPLE = 2000
FREQUENT = 80
SHORTEST_INDEXED = 3
SHORTEST_HASH = 4
MOST_BY_HASH = 500


@dataclass(frozen=True, kw_only=True)
class Found:
    """`condition` narrows cases down to those that match. `frequent`: so many do that nobody should count them."""

    condition: Q
    frequent: bool


def matching(text: str, projects: Mapping[str, Project]) -> Found:
    """Cases whose title, incident or fixture's case id holds `text`, that have it as their readable id in one of
    `projects` (by key), or one of whose revisions has a hash that starts so. Upper and lower case are the same."""
    text = text.strip()
    exact = _by_readable_id(text, projects) | _by_hash(text)
    if connection.vendor != "postgresql":
        held = Q(title__icontains=text) | Q(incident_id__icontains=text) | Q(case_id__icontains=text)
        return Found(condition=held | exact, frequent=False)
    frequent = len(text) < SHORTEST_INDEXED or _is_frequent(text, projects)
    held = _held(text) if frequent else _indexed(text) & _held(text)
    return Found(condition=held | exact, frequent=frequent)


def _by_readable_id(text: str, projects: Mapping[str, Project]) -> Q:
    named = case_id_of(text)
    return Q(project=projects[named[0]], number=named[1]) if named and named[0] in projects else Q()


def case_id_of(text: str) -> tuple[str, int] | None:
    """ "RC-17" as ("RC", 17), whatever its case; None for what is no readable id."""
    said = text.strip().upper()
    if not re.fullmatch(READABLE_ID, said):
        return None
    key, _, number = said.rpartition("-")
    return key, int(number)


def _by_hash(text: str) -> Q:
    digest = text.lower().removeprefix("sha256:")
    if len(digest) < SHORTEST_HASH or not set(digest) <= set("0123456789abcdef"):
        return Q()
    start = f"sha256:{digest}"
    hashed = Q(content_hash__startswith=start) | Q(fixture_hash__startswith=start)
    revisions = FixtureRevision.objects.filter(hashed).order_by()[:MOST_BY_HASH]
    cases: set[UUID] = {case for (case,) in revisions.values_list("case_id")}
    return Q(pk__in=cases) if cases else Q()


def _is_frequent(text: str, projects: Mapping[str, Project]) -> bool:
    """Judged by the newest cases, which a list shows first and an index gives in their order."""
    newest = Case.objects.filter(project__in=projects.values()).order_by("-created_at", "-number")
    sample = newest.annotate(held=GreaterThan(StrIndex(_TEXT, piece_of(text)), 0)).values("held")[:SAMPLE]
    found: int = sample.aggregate(found=Count("held", filter=Q(held=True)))["found"]
    return found >= FREQUENT


def piece_of(text: str) -> Lower:
    return Lower(Value(text, output_field=TextField()))


def _held(text: str) -> Q:
    return Q(GreaterThan(StrIndex(_TEXT, piece_of(text)), 0))


def _indexed(text: str) -> Q:
    """What `_held` says and the index can find: every run of three letters of `text` is somewhere in it."""
    return Q(HoldsAll(Func(_TEXT, function=TRIGRAMS), Func(piece_of(text), function=TRIGRAMS)))


# The expression that the index is over, letter by letter.
_TEXT = Func(
    *(F(name) for name in TEXT), template="lower(%(expressions)s)", arg_joiner=" || ' ' || ", output_field=TextField()
)


class HoldsAll(Func):
    template = "(%(expressions)s)"
    arg_joiner = " @> "
    output_field = BooleanField()
