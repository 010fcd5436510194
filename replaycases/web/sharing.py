"""Cases whose fixture is the same: a verdict reads every run on a fixture, whichever of them it was asked for."""

from __future__ import annotations

from django.db.models import QuerySet

from replaycases.accounts.models import User
from replaycases.cases.models import Case, FixtureRevision

MOST = 20


def cases_on(fixture_hash: str, checks_hash: str, *, beside: Case, user: User) -> QuerySet[Case]:
    """The other cases of the project, which the user sees, with a revision of exactly this fixture and these rules."""
    same = FixtureRevision.objects.filter(fixture_hash=fixture_hash, checks_hash=checks_hash).values("case")
    others = Case.objects.visible_to(user).filter(project=beside.project_id, pk__in=same).exclude(pk=beside.pk)
    return others.select_related("project").order_by("number")[:MOST]
