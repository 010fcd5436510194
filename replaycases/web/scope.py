"""Load what a URL names, within what the user may see. Whatever they may not see does not exist: 404."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from replaycases.accounts import access
from replaycases.accounts.models import Project, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases.models import Case, Comparison, Control, FixtureRevision, ReviewComment, Run

CaseId = tuple[str, int]


def user_of(request: HttpRequest) -> User:
    """The signed-in user; every view that calls it stands behind `login_required`."""
    return cast("User", request.user)


def may(user: User, project: Project, roles: Iterable[Role]) -> bool:
    """Whether a button is worth offering; the domain function decides again."""
    return access.has_any(user, project, roles)


def project_or_404(request: HttpRequest, key: str) -> Project:
    return get_object_or_404(Project.objects.visible_to(user_of(request)), key=key)


def team_or_404(request: HttpRequest, key: str, pk: UUID) -> Team:
    teams = Team.objects.filter(project__in=Project.objects.visible_to(user_of(request)))
    return get_object_or_404(teams.select_related("project"), project__key=key, pk=pk)


def case_or_404(request: HttpRequest, case_id: CaseId) -> Case:
    key, number = case_id
    cases = Case.objects.visible_to(user_of(request)).select_related(
        "project", "current_revision", "created_by", "latest_comparison", "reviewer"
    )
    return get_object_or_404(cases, project__key=key, number=number)


def comparison_or_404(request: HttpRequest, case_id: CaseId, number: int) -> Comparison:
    key, case_number = case_id
    comparisons = Comparison.objects.visible_to(user_of(request)).select_related(
        "project", "revision__case__project", "revision__case__current_revision", "old", "new", "requested_by"
    )
    return get_object_or_404(comparisons, project__key=key, revision__case__number=case_number, number=number)


def revision_or_404(request: HttpRequest, case_id: CaseId, number: int) -> FixtureRevision:
    key, case_number = case_id
    revisions = FixtureRevision.objects.visible_to(user_of(request)).select_related("case__project", "payload")
    return get_object_or_404(revisions, case__project__key=key, case__number=case_number, number=number)


def control_or_404(request: HttpRequest, case_id: CaseId, pk: UUID) -> Control:
    key, number = case_id
    controls = Control.objects.visible_to(user_of(request)).select_related(
        "revision__case__project", "payload", "mutation", "created_by"
    )
    return get_object_or_404(controls, revision__case__project__key=key, revision__case__number=number, pk=pk)


def comment_or_404(request: HttpRequest, case_id: CaseId, pk: UUID) -> ReviewComment:
    key, number = case_id
    comments = ReviewComment.objects.visible_to(user_of(request)).select_related("revision__case__project")
    return get_object_or_404(comments, revision__case__project__key=key, revision__case__number=number, pk=pk)


def run_or_404(request: HttpRequest, key: str, number: int) -> Run:
    runs = Run.objects.visible_to(user_of(request)).select_related(
        "project", "run_set__revision__case__project", "run_set__implementation", "run_set__control", "manifest"
    )
    return get_object_or_404(runs, project__key=key, number=number)
