"""What a person was told: unread first."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from replaycases.cases import inbox
from replaycases.cases.models import NotificationKind
from replaycases.web.pages import page_of
from replaycases.web.scope import user_of

INSTANT = "%Y-%m-%dT%H:%M:%S.%f%z"


class ReadingForm(forms.Form):
    until = forms.DateTimeField(input_formats=[INSTANT])
    kind = forms.ChoiceField(choices=NotificationKind.choices, required=False)


def shown_at() -> str:
    """Now, as `ReadingForm` reads it: when a page was made."""
    return timezone.now().strftime(INSTANT)


@login_required
@require_safe
def notification_list(request: HttpRequest) -> HttpResponse:
    """Unread first, each part newest first."""
    told = inbox.of(user_of(request)).select_related("case__project", "incident_report__project")
    page = page_of(request, told.order_by(F("read_at").desc(nulls_first=True), "-created_at"))
    return render(request, "notifications/list.html", {"section": "notifications", "page": page, "now": shown_at()})


@login_required
@require_POST
def reading(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The person read one of theirs."""
    user = user_of(request)
    inbox.mark_read(user, notification=get_object_or_404(inbox.of(user), pk=pk))
    return redirect(_back(request))


@login_required
@require_POST
def reading_all(request: HttpRequest) -> HttpResponse:
    """All that they have not read, or those of one `kind`. `until` is when the page was made: what came after it was
    not on it, and stays unread."""
    form = ReadingForm(request.POST)
    if not form.is_valid():
        raise BadRequest("The form is not whole. Load the page again.")
    kind = form.cleaned_data["kind"]
    inbox.mark_all_read(
        user_of(request), until=form.cleaned_data["until"], kind=NotificationKind(kind) if kind else None
    )
    return redirect(_back(request))


def _back(request: HttpRequest) -> str:
    """The page that the form stood on, if it is one of ours."""
    wanted = request.POST.get("next", "")
    own = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None) and wanted.startswith("/")
    return wanted if own else "notification_list"
