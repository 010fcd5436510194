"""Where a document is held: asked by the id of it or of a chunk, answered with captures and cases."""

from __future__ import annotations

from itertools import groupby

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from replaycases.cases import held_documents
from replaycases.web.scope import user_of


@login_required
@require_safe
def document_search(request: HttpRequest) -> HttpResponse:
    name = request.GET.get("id", "").strip()
    found = held_documents.holders(user_of(request), name) if name else None
    by_case = groupby(found.revisions, key=lambda revision: revision.case) if found else ()
    cases = [(case, sorted(revision.number for revision in revisions)) for case, revisions in by_case]
    context = {"section": "captures", "name": name, "found": found, "cases": cases}
    return render(request, "captures/documents.html", context)
