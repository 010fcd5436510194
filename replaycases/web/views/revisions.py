"""A fixture revision's exact bytes."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from replaycases.cases import evidence, reading
from replaycases.web.downloads import attachment
from replaycases.web.scope import CaseId, revision_or_404, user_of


@login_required
@require_safe
def document(request: HttpRequest, case_id: CaseId, number: int) -> HttpResponse:
    revision = revision_or_404(request, case_id, number)
    reading.require(revision, user_of(request))
    name = f"{revision.case.readable_id}-revision-{revision.number}.json"
    return attachment(evidence.read(revision.payload), name)
