"""What waits in a case and stands in no index: it is looked for in the newest cases of a stage, never in all of them.

A case is in such a window when what it waits for begins, and leaves it once so many others came after it that somebody
would have to look for it in the list of cases. For a control that comes when a revision stands in a lane already, it
may have left before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import CharField, Count, Exists, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Cast

from replaycases.cases import decisions
from replaycases.cases.kept_queries import Asker
from replaycases.cases.models import Case, Control, Decision, DecisionOutcome, DependencyStatement, Stage

WINDOW = 50

Window = Callable[[Sequence[UUID]], QuerySet[Case, Any]]
Chosen = Callable[[Asker, Sequence[UUID]], QuerySet[Case, Any]]


def _approved(projects: Sequence[UUID]) -> QuerySet[Case, Any]:
    newest = Case.objects.filter(stage=Stage.REDACTION_APPROVED, project__in=projects)
    return newest.order_by("-created_at", "-number").values("pk")[:WINDOW]


def _reproduced(projects: Sequence[UUID]) -> QuerySet[Case, Any]:
    """Outside lanes: what a dependency's owner says was asked for before a revision came into one."""
    newest = Case.objects.filter(stage=Stage.REPRODUCED, lane="", project__in=projects)
    return newest.order_by("-stage_since").values("pk")[:WINDOW]


def _created(projects: Sequence[UUID]) -> QuerySet[Case, Any]:
    """Reproduced, wherever it stands: no index has those of all lanes by the time at which they came to that."""
    newest = Case.objects.filter(stage=Stage.REPRODUCED, project__in=projects)
    return newest.order_by("-created_at", "-number").values("pk")[:WINDOW]


def _controls(window: Window, asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case, Any]:
    """A control of the current revision is not approved; neither it nor the case is the person's own work."""
    return decisions.not_work_of(asker.user, Case.objects.filter(Exists(_unapproved(asker)), pk__in=window(projects)))


def _controls_in_lanes(asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case, Any]:
    """A control may come when a revision stands in a lane already: it waits for a reviewer as any other does."""
    return _controls(_created, asker, projects).exclude(lane="")


def how_many_controls(asker: Asker) -> Subquery:
    counted = _unapproved(asker).order_by().values("revision").annotate(count=Count("pk"))
    return Subquery(counted.values(said=Cast("count", CharField())), output_field=CharField())


def _unapproved(asker: Asker) -> QuerySet[Control]:
    approved = Decision.objects.filter(control=OuterRef("pk"), outcome=DecisionOutcome.APPROVED, voided_at=None)
    others = Control.objects.filter(revision=OuterRef("current_revision")).exclude(created_by=asker.user)
    return others.filter(~Exists(approved))


def _dependencies(window: Window, asker: Asker, projects: Sequence[UUID]) -> QuerySet[Case, Any]:
    """What is said last of the current revision leaves open what the fixture does not hold. Asked of those who may read
    it, which everybody may once its expectation is approved, and whose work it is not."""
    cases = Case.objects.filter(pk__in=window(projects), expectation_approved=True).alias(**_said())
    return decisions.not_work_of(asker.user, cases.filter(_ANSWERS | _EFFECTS))


def what_of_the_dependency() -> models.Case:
    return models.Case(
        When(_ANSWERS & _EFFECTS, then=Value("answers and effects")),
        When(_ANSWERS, then=Value("answers")),
        default=Value("effects"),
        output_field=CharField(),
    )


def _said() -> Mapping[str, Subquery]:
    newest = DependencyStatement.objects.filter(revision=OuterRef("current_revision")).order_by("-said_at")
    return {name: Subquery(newest.values(name)[:1]) for name in ("authored_confirmed", "no_effect_confirmed")}


_ANSWERS = Q(current_revision__authored_answers__gt=0) & (Q(authored_confirmed=None) | Q(authored_confirmed=False))
# None is not known: of revisions from before it was kept.
_EFFECTS = (
    Q(current_revision__unstated_tools__isnull=False)
    & ~Q(current_revision__unstated_tools=[])
    & (Q(no_effect_confirmed=None) | Q(no_effect_confirmed=False))
)
_WINDOWS: tuple[Window, ...] = (_approved, _reproduced)
CONTROLS: Sequence[Chosen] = (*(partial(_controls, window) for window in _WINDOWS), _controls_in_lanes)
DEPENDENCIES = tuple(partial(_dependencies, window) for window in _WINDOWS)
