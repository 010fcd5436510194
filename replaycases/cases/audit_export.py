"""Audit events as a file: JSON lines, or CSV of which a spreadsheet runs nothing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet

from replaycases.accounts import access
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import AUDITS
from replaycases.cases import events
from replaycases.cases.models import AuditEvent, AuditHead, Case

Format = Literal["jsonl", "csv"]
CHUNK = 1000
FIELDS = (
    "sequence",
    "at",
    "project",
    "case",
    "actor",
    "token",
    "action",
    "object_type",
    "object_id",
    "object_hash",
    "before",
    "after",
    "prev_hash",
    "hash",
)
# What a spreadsheet takes for the start of a formula, also after blanks or as a wide form.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n", "|", "%")
_GUARD = "'"


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Each None or "" where it narrows nothing. `since` is the first instant that is in, `until` the first that is
    not."""

    project: Project | None = None
    case: Case | None = None
    person: UUID | None = None
    action: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def told(self) -> dict[str, str]:
        """The filters as an audit event keeps them."""
        said = {
            "project": self.project.key if self.project else "",
            "case": self.case.readable_id if self.case else "",
            "person": str(self.person or ""),
            "action": self.action,
            "since": self.since.isoformat() if self.since else "",
            "until": self.until.isoformat() if self.until else "",
        }
        return {name: value for name, value in said.items() if value}


def audited(user: User) -> QuerySet[Project]:
    """The projects whose events the user may read: those where a role of theirs audits; all for a superuser."""
    seen = Project.objects.visible_to(user)
    if user.is_superuser:
        return seen
    return Project.objects.filter(
        pk__in=seen.values("pk"), memberships__user=user, memberships__role__in=AUDITS
    ).distinct()


def chosen(user: User, filters: Filters) -> QuerySet[AuditEvent]:
    """The events that the user may read and the filters let through. A superuser's hold those of no project too."""
    found = AuditEvent.objects.all()
    if filters.project is not None:
        found = found.filter(project=filters.project)
    if not user.is_superuser:
        found = found.filter(project__in=list(audited(user).values_list("pk", flat=True)))
    narrowing = {
        "case": filters.case,
        "actor": filters.person,
        "action": filters.action,
        "at__gte": filters.since,
        "at__lt": filters.until,
    }
    return found.filter(**{name: value for name, value in narrowing.items() if value})


def export(actor: User, *, filters: Filters, form: Format) -> Iterator[str]:
    """The chosen events, oldest first, as text in parts. That they were exported is an event too, recorded before the
    first part. Raises PermissionDenied, or ValidationError without a project, unless the actor audits just one."""
    projects = list(audited(actor)[:2])
    if not projects:
        raise PermissionDenied("Audit events are read by: " + ", ".join(sorted(role.label for role in AUDITS)) + ".")
    project = filters.project or (filters.case.project if filters.case else None)
    if project is None and len(projects) == 1 and not actor.is_superuser:
        project = projects[0]
    if project is None and not actor.is_superuser:
        raise ValidationError("Choose one project: an export is recorded in the project that it is of.")
    if project is not None and not actor.is_superuser:
        access.require(actor, project, *AUDITS)
    found = chosen(actor, filters)
    if project is not None:
        found = found.filter(project=project)
    return _recorded(actor, found, project, filters.case, filters.told(), form)


def export_case(actor: User, *, case: Case) -> Iterator[str]:
    """Every event of the case, for anybody who sees it, as JSON lines. Recorded as `export` is."""
    if not Project.objects.visible_to(actor).filter(pk=case.project_id).exists():
        raise PermissionDenied("This case is in a project of which you are no member.")
    own = AuditEvent.objects.filter(case=case)
    return _recorded(actor, own, case.project, case, {"case": case.readable_id}, "jsonl")


def _recorded(
    actor: User,
    found: QuerySet[AuditEvent],
    project: Project | None,
    case: Case | None,
    filters: dict[str, str],
    form: Format,
) -> Iterator[str]:
    """The parts of the file. It ends before the event that records it, so what is counted there is what it holds."""
    with transaction.atomic():
        # The head's lock, which recording takes: nothing comes in between the count and the event.
        last = AuditHead.objects.select_for_update().get().sequence
        found = found.filter(sequence__lte=last)
        events.record(
            actor=actor,
            action="audit.exported",
            subject=actor,
            project=project,
            case=case,
            after={**filters, "format": form, "events": found.count()},
        )
    return _csv(found) if form == "csv" else _json_lines(found)


def _json_lines(found: QuerySet[AuditEvent]) -> Iterator[str]:
    for row in _rows(found):
        said = {**row, "before": json.loads(row["before"]), "after": json.loads(row["after"])}
        yield json.dumps(said, ensure_ascii=True, separators=(",", ":")) + "\n"


def _csv(found: QuerySet[AuditEvent]) -> Iterator[str]:
    yield csv_line(FIELDS)
    for row in _rows(found):
        yield csv_line([row[name] for name in FIELDS])


def csv_line(cells: Iterable[str]) -> str:
    """One line of CSV, every cell quoted and none a formula."""
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow([guarded(cell) for cell in cells])
    return line.getvalue()


def guarded(cell: str) -> str:
    """The cell as text: with an apostrophe before what a spreadsheet would take for a formula, or for such a guard."""
    starts = cell.lstrip().startswith(_FORMULA) or cell.startswith((*_FORMULA, _GUARD))
    return f"{_GUARD}{cell}" if starts else cell


def _rows(found: QuerySet[AuditEvent]) -> Iterator[dict[str, str]]:
    """Oldest first, `CHUNK` at a time by their sequence: nothing is held open while the file is sent."""
    last = 0
    while True:
        chunk = found.filter(sequence__gt=last).order_by("sequence").select_related("project", "case__project", "actor")
        batch = list(chunk[:CHUNK])
        yield from (_row(event) for event in batch)
        if len(batch) < CHUNK:
            return
        last = batch[-1].sequence


def _row(event: AuditEvent) -> dict[str, str]:
    return {
        "sequence": str(event.sequence),
        "at": event.at.isoformat(),
        "project": event.project.key if event.project else "",
        "case": event.case.readable_id if event.case else "",
        "actor": event.actor.get_username() if event.actor else "",
        "token": event.token,
        "action": event.action,
        "object_type": event.object_type,
        "object_id": event.object_id,
        "object_hash": event.object_hash,
        "before": event.before,
        "after": event.after,
        "prev_hash": event.prev_hash,
        "hash": event.hash,
    }
