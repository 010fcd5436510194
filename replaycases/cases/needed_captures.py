"""Captures that wait for somebody to make a case of them: drafts that the person began, and what ends soon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, QuerySet, Value
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import kept_queries
from replaycases.cases.expiry import WARNINGS
from replaycases.cases.kept_queries import Asker
from replaycases.cases.models import Capture, Draft
from replaycases.cases.needed_cases import MOST

COLUMNS = ("project__key", "number", "format", "runs", "name", "trace_id", "expires_at", "begun")


@dataclass(frozen=True, kw_only=True)
class CaptureRow:
    """`begun`: the person began a draft of one of its runs; else it ends soon. No case was made of that run, or of any
    of them."""

    readable_id: str
    format: str
    runs: int
    name: str
    trace_id: str
    expires_at: datetime
    begun: bool


def of(user: User, projects: Sequence[UUID]) -> list[CaptureRow]:
    """Those of the projects, the soonest to end first. One query, of two arms that each stop after `MOST` rows."""
    asker = Asker(user=user, soon=timezone.now() + WARNINGS[0])
    found: dict[str, CaptureRow] = {}
    for key, number, *rest in kept_queries.rows(_arms, asker, {"captures": projects}, MOST):
        row = _capture_row(f"{key}-T{number}", *rest)
        if row.begun or row.readable_id not in found:
            found[row.readable_id] = row
    return sorted(found.values(), key=lambda row: row.expires_at)[:MOST]


def _arms(asker: Asker, projects: Mapping[str, Sequence[UUID]], most: int) -> list[QuerySet[Capture, Any]]:
    there = Capture.objects.filter(purged_at=None, project__in=projects["captures"]).order_by("expires_at")
    begun = there.filter(pk__in=Draft.objects.filter(edited_by=asker.user, case=None).values("capture"))
    ending = there.filter(has_case=False, expires_at__lte=asker.soon)
    return [_arm(begun, most, begun=True), _arm(ending, most, begun=False)]


def _arm(chosen: QuerySet[Capture], most: int, *, begun: bool) -> QuerySet[Capture, Any]:
    rows = Capture.objects.filter(pk__in=chosen.values("pk")[:most]).order_by()
    return rows.annotate(begun=Value(begun, output_field=BooleanField())).values_list(*COLUMNS)


def _capture_row(
    readable_id: str, format: str, runs: int, name: str, trace_id: str, expires_at: datetime, begun: bool
) -> CaptureRow:
    return CaptureRow(
        readable_id=readable_id,
        format=format,
        runs=runs,
        name=name,
        trace_id=trace_id,
        expires_at=expires_at,
        begun=bool(begun),
    )
