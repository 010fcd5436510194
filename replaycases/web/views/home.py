"""The page everybody lands on: what needs them."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from replaycases.accounts.roles import ADMINISTERS, CREATES_CASES
from replaycases.cases import needs
from replaycases.web import home_page, topbar
from replaycases.web.scope import user_of
from replaycases.web.views.notifications import shown_at


@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    found = needs.of(user_of(request))
    context = {
        "section": "home",
        "needs": found,
        "bar": topbar.Bar(unread=found.unread, audits=found.audits),
        "now": timezone.now(),
        "shown_at": shown_at(),
        "strip": home_page.strip(found.tallies),
        "lists": home_page.lists(found),
        "changed": found.changed[: home_page.SHOWN],
        "changed_count": home_page.counted(len(found.changed)),
        "proposals": found.proposals[: home_page.SHOWN] if found.proposals is not None else None,
        "proposal_count": home_page.counted(len(found.proposals or ())),
        "findings": found.findings[: home_page.SHOWN] if found.findings is not None else None,
        "finding_count": home_page.counted(len(found.findings or ())),
        "captures": home_page.captures_of(found),
        "capture_count": home_page.counted(len(found.captures or ())),
        "health": home_page.health_panel(found.projects),
        "administers": not found.roles.isdisjoint(ADMINISTERS),
        "may_create": not found.roles.isdisjoint(CREATES_CASES),
    }
    return render(request, "home/page.html", context)
