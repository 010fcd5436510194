"""The incident that a fixture names beside the one of its case: they may differ, and then somebody should look."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest

from replaycases.cases import evidence, fixtures
from replaycases.cases.models import Case, FixtureRevision


def why_look(case: Case, named: object) -> str:
    """A sentence where the fixture names another incident than the case, "" where it is the same. `named` is what
    stands in the fixture."""
    said = evidence.printable(str(named).strip())
    if said == case.incident_id:
        return ""
    return (
        f"The fixture names the incident {said}, and the case is about {case.incident_id}. If it is another's, "
        "add a revision from the right fixture."
    )


def tell(request: HttpRequest, revision: FixtureRevision) -> None:
    """A warning after an upload, and no refusal: one incident may have several names."""
    told = why_look(revision.case, fixtures.of_revision(revision).incident_id)
    if told:
        messages.warning(request, told)
