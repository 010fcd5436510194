"""What a person was told: unread first."""

from __future__ import annotations

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from replaycases.accounts.models import Project, User
from replaycases.cases.models import Notification, NotificationKind
from replaycases.web.pages import page_of
from replaycases.web.scope import user_of


class ReadingForm(forms.Form):
    until = forms.DateTimeField(input_formats=["%Y-%m-%dT%H:%M:%S.%f%z"])
    kind = forms.ChoiceField(choices=NotificationKind.choices, required=False)


def seen_by(user: User) -> QuerySet[Notification]:
    """The user's notifications about cases that they may see now."""
    own = Notification.objects.filter(user=user)
    return own if user.is_superuser else own.filter(case__project__in=Project.objects.visible_to(user))


def shown_at() -> str:
    """Now, as `ReadingForm` reads it: when a page was made."""
    return timezone.now().strftime("%Y-%m-%dT%H:%M:%S.%f%z")


@login_required
@require_safe
def notification_list(request: HttpRequest) -> HttpResponse:
    """Unread first, each part newest first."""
    listed = seen_by(user_of(request)).select_related("case__project")
    listed = listed.order_by(F("read_at").desc(nulls_first=True), "-created_at")
    return render(
        request,
        "notifications/list.html",
        {
            "section": "notifications",
            "page": page_of(request, listed),
            "now": shown_at(),
        },
    )


@login_required
@require_POST
def reading(request: HttpRequest, pk: str) -> HttpResponse:
    """The person read one of theirs."""
    notification = get_object_or_404(Notification, pk=pk, user=user_of(request))
    Notification.objects.filter(pk=notification.pk, read_at=None).update(read_at=timezone.now())
    return redirect(_back(request))


@login_required
@require_POST
def reading_all(request: HttpRequest) -> HttpResponse:
    """All that they have not read, or those of one `kind`. `until` is when the page was made: what came after it was
    not on it, and stays unread."""
    form = ReadingForm(request.POST)
    if not form.is_valid():
        raise BadRequest("The form is not whole. Load the page again.")
    unread = Notification.objects.filter(
        user=user_of(request), read_at=None, created_at__lte=form.cleaned_data["until"]
    )
    if form.cleaned_data["kind"]:
        unread = unread.filter(kind=form.cleaned_data["kind"])
    unread.update(read_at=timezone.now())
    return redirect(_back(request))


def _back(request: HttpRequest) -> str:
    """The page that the form stood on, if it is one of ours."""
    wanted = request.POST.get("next", "")
    own = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None) and wanted.startswith("/")
    return wanted if own else "notification_list"
