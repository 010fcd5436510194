"""Who answers for what: cases with the owner of each boundary, those with most unowned ones first."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from replaycases.accounts.models import Project, Team, User
from replaycases.cases.models import Boundary, Case, CaseOwner
from replaycases.cases.policies import OPEN
from replaycases.web.forms import StyledForm
from replaycases.web.members import grouped


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The owner of one boundary; `gap` says why nobody can be asked, "" if somebody can."""

    boundary: str
    owner: User | Team | None
    is_team: bool
    gap: str


@dataclass(frozen=True, kw_only=True)
class OwnerRow:
    case: Case
    cells: tuple[Cell, ...]


class OwnerFilter(StyledForm):
    """The filters in the URL. A value that is not offered is told, and nothing is listed."""

    owner = forms.ChoiceField(required=False, label="Owner")
    boundary = forms.ChoiceField(required=False, label="Nobody to ask for", choices=[("", "any"), *Boundary.choices])

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        owners = CaseOwner.objects.filter(case__project=project).order_by().distinct()
        users = User.objects.filter(Q(memberships__project=project) | Q(pk__in=owners.values("user"))).distinct()
        known: dict[str, User | Team] = {
            **{f"team:{team.pk}": team for team in Team.objects.filter(project=project)},
            **{f"user:{user.pk}": user for user in users.order_by("display_name", "username")},
        }
        self.fields["owner"].choices = [("", "anybody"), *grouped(known)]  # type: ignore[attr-defined]


def listed(project: Project, form: OwnerFilter) -> QuerySet[Case]:
    """Open cases, the one with the fewest boundaries that somebody can be asked about first, then the oldest."""
    cases = Case.objects.filter(project=project, stage__in=OPEN).select_related("project")
    if not form.is_valid():
        return cases.none()
    kind, _, pk = form.cleaned_data["owner"].partition(":")
    if pk:
        cases = cases.filter(pk__in=CaseOwner.objects.filter(**{kind: pk}).values("case"))
    boundary = form.cleaned_data["boundary"]
    if boundary:
        cases = cases.exclude(pk__in=_askable(project).filter(boundary=boundary).values("case"))
    owned = _askable(project).filter(case=OuterRef("pk")).order_by().values("case")
    counted = Subquery(owned.annotate(n=Count("boundary", distinct=True)).values("n"), output_field=IntegerField())
    return cases.annotate(owned=Coalesce(counted, 0)).order_by("owned", "number")


def _askable(project: Project) -> QuerySet[CaseOwner]:
    return CaseOwner.objects.askable().filter(case__project=project)


def rows(cases: Sequence[Case]) -> list[OwnerRow]:
    """The five boundaries of each case. Two queries, however many cases."""
    every = CaseOwner.objects.filter(case__in=cases)
    askable = set(every.askable().values_list("pk", flat=True))
    owners: dict[UUID, dict[str, CaseOwner]] = {}
    for owner in every.select_related("user", "team"):
        owners.setdefault(owner.case_id, {})[owner.boundary] = owner
    return [OwnerRow(case=case, cells=_cells(owners.get(case.pk, {}), askable)) for case in cases]


def _cells(owners: Mapping[str, CaseOwner], askable: Container[UUID]) -> tuple[Cell, ...]:
    cells = []
    for boundary in Boundary:
        owner = owners.get(boundary)
        if owner is None:
            cells.append(Cell(boundary=boundary.label, owner=None, is_team=False, gap="nobody"))
            continue
        is_team = owner.team is not None
        gap = "" if owner.pk in askable else "nobody in it" if is_team else "left the project"
        cells.append(Cell(boundary=boundary.label, owner=owner.team or owner.user, is_team=is_team, gap=gap))
    return tuple(cells)
