"""A fixture revision's exact bytes."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from replaycases.cases import evidence
from replaycases.web.downloads import attachment
from replaycases.web.scope import CaseId, require_reading, revision_or_404, user_of


@login_required
@require_GET
def document(request: HttpRequest, case_id: CaseId, number: int) -> HttpResponse:
    revision = revision_or_404(request, case_id, number)
    require_reading(user_of(request), revision.payload)
    name = f"{revision.case.readable_id}-revision-{revision.number}.json"
    return attachment(evidence.read(revision.payload), name)
