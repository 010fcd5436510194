"""What belongs to the person who is signed in: roles, teams, tokens and password; and who tried too often."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from replaycases.accounts.models import ApiToken, Membership
from replaycases.cases import people
from replaycases.web.forms_people import NewPasswordForm, OldPasswordForm, TokenForm
from replaycases.web.scope import user_of


@login_required
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    return _render_account(request)


def _render_account(
    request: HttpRequest,
    *,
    form: TokenForm | None = None,
    made: ApiToken | None = None,
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    """`secret` is shown on this one answer and never again."""
    user = user_of(request)
    held = Membership.objects.filter(user=user).select_related("project").order_by("project__key", "role")
    roles: dict[Any, list[str]] = {}
    for membership in held:
        roles.setdefault(membership.project, []).append(membership.get_role_display())
    context = {
        "section": "account",
        "roles": roles,
        "teams": user.teams.select_related("project").order_by("project__key", "name"),
        "tokens": ApiToken.objects.filter(user=user).select_related("project"),
        "form": form or TokenForm(user=user),
        "may_make": bool(roles),
        "made": made,
        "secret": secret,
        "now": timezone.now(),
    }
    return render(request, "account/detail.html", context, status=status)


@login_required
@require_POST
def create_token(request: HttpRequest) -> HttpResponse:
    form = TokenForm(request.POST, user=user_of(request))
    if form.is_valid():
        try:
            token, secret = people.create_token(user_of(request), **form.cleaned_data)
        except ValidationError as refused:
            form.add_error(None, refused)
        else:
            return _render_account(request, made=token, secret=secret, status=201)
    return _render_account(request, form=form, status=422)


@login_required
@require_POST
def revoke_token(request: HttpRequest, pk: UUID) -> HttpResponse:
    """One's own. An administrator revokes those of others on the project's page."""
    token = get_object_or_404(ApiToken.objects.select_related("project"), pk=pk, user=user_of(request))
    people.revoke_token(user_of(request), token=token)
    messages.success(request, f"The token {token.name} is revoked.")
    return redirect("account")


class Refused:
    """A form that is refused is a 422, as on every page."""

    def form_invalid(self: Any, form: BaseForm) -> HttpResponse:
        answer: HttpResponse = self.render_to_response(self.get_context_data(form=form), status=422)
        return answer


class PasswordChange(Refused, auth.PasswordChangeView):
    """Every other session of the account ends with the change; this one goes on."""

    template_name = "registration/password_change.html"
    form_class = OldPasswordForm
    success_url = reverse_lazy("account")

    def form_valid(self, form: OldPasswordForm) -> HttpResponse:  # type: ignore[override]
        messages.success(self.request, "Your password is changed. You are signed out everywhere else.")
        return super().form_valid(form)


class PasswordReset(Refused, auth.PasswordResetView):
    template_name = "registration/password_reset.html"
    email_template_name = "email/password_reset.txt"
    subject_template_name = "email/password_reset_subject.txt"
    extra_email_context = {"base_url": settings.REPLAYCASES_BASE_URL}


class PasswordResetDone(auth.PasswordResetDoneView):
    template_name = "registration/password_reset_sent.html"


class PasswordResetConfirm(Refused, auth.PasswordResetConfirmView):
    """The link's secret moves into the session and out of the address before anything is shown (Django's way)."""

    template_name = "registration/password_reset_confirm.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("login")

    def form_valid(self, form: NewPasswordForm) -> HttpResponse:  # type: ignore[override]
        messages.success(self.request, "Your password is set. Sign in with it.")
        return super().form_valid(form)


@sensitive_post_parameters()
def too_many_attempts(request: HttpRequest, response: HttpResponse | None, credentials: Any) -> HttpResponse:
    """The answer while sign-ins for a name from an address are refused (429)."""
    tried = AccessAttempt.objects.filter(
        username=(credentials or {}).get("username"),
        ip_address=request.axes_ip_address,  # type: ignore[attr-defined]
    )
    last = tried.order_by("-attempt_time").values_list("attempt_time", flat=True).first() or timezone.now()
    left = max(1, int((last + settings.AXES_COOLOFF_TIME - timezone.now()).total_seconds()))
    context = {"minutes": -(-left // 60), "limit": settings.AXES_FAILURE_LIMIT}
    answer = render(request, "registration/too_many_attempts.html", context, status=429)
    answer.headers["Retry-After"] = str(left)
    return answer
