"""The administrators' site shows rows; what it changes goes through the services, and it decides nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.apps import apps
from django.contrib import admin
from django.db import models
from django.test import Client
from django.urls import reverse

from replaycases.accounts import access
from replaycases.accounts.models import ApiToken, Invitation, Membership, Project, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import events, invitations, people, redaction_policies
from replaycases.cases.models import AuditEvent, Case, Payload
from tests import factories
from tests.web import recorded

pytestmark = pytest.mark.django_db

CHANGED_THROUGH_SERVICES = {User, Project, Membership, Team}
READ_ONLY = sorted(set(admin.site._registry) - CHANGED_THROUGH_SERVICES, key=lambda model: model._meta.label)
PASSWORD = "a long pass phrase"


@pytest.fixture
def root() -> User:
    return User.objects.create_superuser("root", "root@example.invalid", PASSWORD)


@pytest.fixture
def site(client: Client, root: User) -> Client:
    client.force_login(root)
    return client


@pytest.fixture
def project() -> Project:
    return factories.project()


@pytest.fixture
def full(project: Project) -> Case:
    """A row of nearly every model."""
    everyone = factories.everyone(project)
    case = factories.case(project, everyone)
    factories.control(factories.revision(case), everyone)
    recorded.compared(case, everyone, stderr="evidence in stderr")
    factories.waiver(case, everyone)
    allowed = {"allowed": ["jane.doe@corp.test"]}
    redaction_policies.save(everyone, project=project, data=allowed, note="Ours.", seen=0)
    people.create_team(everyone, project=project, name="Desk")
    people.create_token(everyone, project=project, name="nightly", scopes=["read"], days=1)
    invitations.invite(everyone, project=project, email="ada@example.invalid", roles=[Role.QA])
    return case


def page(model: type[models.Model], name: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{name}", args=args)


def last_action() -> str:
    event = AuditEvent.objects.last()
    return event.action if event else ""


def test_every_model_of_ours_is_there_and_no_group() -> None:
    from django.apps import apps

    ours = {model for label in ("accounts", "cases") for model in apps.get_app_config(label).get_models()}
    assert ours <= set(admin.site._registry)
    assert {model._meta.label for model in set(admin.site._registry) - ours} == {"axes.AccessAttempt"}


@pytest.mark.parametrize("model", READ_ONLY, ids=lambda model: model._meta.label)
def test_a_row_of_the_domain_is_shown_and_neither_added_nor_changed_nor_deleted(
    site: Client, full: Case, model: type[models.Model]
) -> None:
    assert site.get(page(model, "changelist")).status_code == 200
    assert site.get(page(model, "add")).status_code == 403
    assert site.post(page(model, "add"), {}).status_code == 403
    row = model._default_manager.first()
    if row is None:
        return
    before = model._default_manager.values().get(pk=row.pk)
    assert site.get(page(model, "change", row.pk)).status_code == 200
    assert site.post(page(model, "change", row.pk), {"stage": "reproduced", "lane": "blocking"}).status_code == 403
    assert site.post(page(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [str(row.pk)], "post": "yes"}
    site.post(page(model, "changelist"), chosen)
    assert model._default_manager.values().get(pk=row.pk) == before


@pytest.mark.parametrize("model", sorted(CHANGED_THROUGH_SERVICES, key=lambda model: model._meta.label))
def test_people_are_not_deleted_there_either(site: Client, full: Case, model: type[models.Model]) -> None:
    row = model._default_manager.first()
    assert row is not None
    assert site.post(page(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [str(row.pk)], "post": "yes"}
    site.post(page(model, "changelist"), chosen)
    assert model._default_manager.filter(pk=row.pk).exists()


def test_no_page_there_holds_evidence(site: Client, full: Case) -> None:
    secrets = [*ApiToken.objects.values_list("secret_hash", flat=True), *Invitation.objects.values_list("secret_hash")]
    for model in admin.site._registry:
        pages = [page(model, "changelist")]
        pages += [page(model, "change", row.pk) for row in model._default_manager.all()[:5]]
        for address in pages:
            html = site.get(address).content.decode()
            assert "evidence in stderr" not in html, address
            assert "jane.doe" not in html, address  # a value that a policy lets stand
            assert "&quot;o-1&quot;" not in html, address  # a call's argument; the names of tools are no evidence
            assert not any(str(secret) in html for secret in secrets), address
            assert not re.search(r"<script(?![^>]*\bsrc=|[^>]*application/json)", html), address


def test_the_list_of_payloads_reads_no_bytes(full: Case) -> None:
    rows = admin.site._registry[Payload].get_queryset(None)  # type: ignore[arg-type]
    assert '"body"' not in str(rows.query)


def test_only_superusers_get_in_and_by_our_own_sign_in(client: Client, project: Project) -> None:
    assert client.get("/admin/").headers["Location"].startswith("/admin/login/")
    assert client.get("/admin/login/?next=/admin/").headers["Location"] == "/login/?next=/admin/"
    staff = factories.everyone(project)
    staff.is_staff = True
    staff.save()
    client.force_login(staff)
    assert client.get("/admin/", follow=True).status_code == 403
    assert client.get(page(Case, "changelist"), follow=True).status_code == 403


# --- people ---------------------------------------------------------------------------------------------------------


def test_a_membership_is_given_through_the_service(site: Client, project: Project) -> None:
    user = factories.person(project, Role.VIEWER)
    site.post(page(Membership, "add"), {"user": user.pk, "project": project.pk, "role": "qa"})
    assert access.roles_of(user, project) == {Role.VIEWER, Role.QA}
    assert last_action() == "role.granted"
    assert events.verify() == []


def test_a_superuser_gives_themselves_no_role(site: Client, root: User, project: Project) -> None:
    sent = {"user": root.pk, "project": project.pk, "role": "privacy_reviewer"}
    assert site.post(page(Membership, "add"), sent).status_code == 403
    assert access.roles_of(root, project) == frozenset()


def test_what_the_service_refuses_is_told_and_nothing_is_stored(site: Client, project: Project) -> None:
    user = factories.person(project, Role.VIEWER)
    User.objects.filter(pk=user.pk).update(is_active=False)
    sent = {"user": user.pk, "project": project.pk, "role": "qa"}
    answer = site.post(page(Membership, "add"), sent, follow=True)
    assert "is not active" in answer.content.decode()
    assert Membership.objects.filter(user=user).count() == 1
    assert not AuditEvent.objects.exists()


def test_roles_are_taken_away_one_by_one_with_an_outcome_each(site: Client, project: Project) -> None:
    only = factories.person(project, Role.ADMINISTRATOR, Role.QA)
    chosen = list(Membership.objects.filter(user=only).values_list("pk", flat=True))
    answer = site.post(page(Membership, "changelist"), {"action": "take_away", "_selected_action": chosen}, follow=True)
    html = answer.content.decode()
    assert "taken away" in html
    assert "last administrator of RC" in html
    assert access.roles_of(only, project) == {Role.ADMINISTRATOR}


def test_a_membership_is_not_turned_into_another(site: Client, project: Project) -> None:
    user = factories.person(project, Role.VIEWER)
    held = Membership.objects.get(user=user)
    sent = {"user": user.pk, "project": project.pk, "role": "qa"}
    assert site.post(page(Membership, "change", held.pk), sent).status_code == 403
    assert access.roles_of(user, project) == {Role.VIEWER}


def test_an_administrator_names_a_project_and_never_sets_its_counters(site: Client) -> None:
    fields = set(site.get(page(Project, "add")).context["adminform"].form.fields)
    assert fields == {"key", "name"}
    site.post(page(Project, "add"), {"key": "NEW", "name": "New", "next_number": 99})
    made = Project.objects.get(key="NEW")
    assert made.next_number == 1
    assert last_action() == "project.created"
    site.post(page(Project, "change", made.pk), {"retention_days": 7, "review_after_days": 30, "key": "X"})
    made.refresh_from_db()
    assert (made.key, made.retention_days) == ("NEW", 7)
    assert last_action() == "project.edited"


def test_a_team_is_kept_through_the_services(site: Client, project: Project) -> None:
    user = factories.person(project, Role.QA)
    site.post(page(Team, "add"), {"project": project.pk, "name": "Desk", "members": [user.pk]})
    team = Team.objects.get()
    assert list(team.members.all()) == [user]
    assert last_action() == "team.members_set"
    site.post(page(Team, "change", team.pk), {"name": "Payments", "members": []})
    team.refresh_from_db()
    assert team.name == "Payments"
    assert [event.action for event in AuditEvent.objects.order_by("-sequence")[:2]] == [
        "team.members_set",
        "team.renamed",
    ]


def test_a_stranger_does_not_come_into_a_team(site: Client, project: Project) -> None:
    stranger = factories.person(factories.project("XX"), Role.QA)
    sent = {"project": project.pk, "name": "Desk", "members": [stranger.pk]}
    answer = site.post(page(Team, "add"), sent, follow=True)
    assert "Only people with a role in RC" in answer.content.decode()
    assert not Team.objects.exists()


def test_an_account_is_made_and_closed_with_its_events(site: Client, project: Project) -> None:
    made = {"username": "ada", "email": "ada@example.invalid", "password1": PASSWORD, "password2": PASSWORD}
    site.post(page(User, "add"), {**made, "is_superuser": "on", "is_staff": "on"})
    ada = User.objects.get(username="ada")
    assert ada.check_password(PASSWORD)
    assert not ada.is_superuser
    assert last_action() == "user.created"
    site.post(page(User, "change", ada.pk), {"username": "ada", "email": "ada@example.invalid"})
    ada.refresh_from_db()
    assert not ada.is_active
    assert last_action() == "user.edited"


def test_a_password_set_there_is_an_event_and_is_checked(site: Client, project: Project) -> None:
    user = factories.person(project, Role.QA)
    address = reverse("admin:auth_user_password_change", args=[user.pk])
    site.post(address, {"password1": "short", "password2": "short", "usable_password": "true"})
    assert not AuditEvent.objects.exists()
    site.post(address, {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"})
    user.refresh_from_db()
    assert user.check_password(PASSWORD)
    assert last_action() == "user.password_set"


def test_tokens_and_invitations_are_revoked_through_the_services(site: Client, full: Case) -> None:
    for model, action in ((ApiToken, "token.revoked"), (Invitation, "invitation.revoked")):
        row = model._default_manager.get()
        site.post(page(model, "changelist"), {"action": "revoke", "_selected_action": [str(row.pk)]})
        row.refresh_from_db()
        assert row.revoked_at is not None
        assert last_action() == action


def test_somebody_who_is_locked_out_is_let_in_again_with_an_event(site: Client, project: Project) -> None:
    user = factories.person(project, Role.QA)
    user.set_password(PASSWORD)
    user.save()

    def sign_in(password: str) -> int:
        return Client().post("/login/", {"username": user.username, "password": password}).status_code

    assert [sign_in("wrong") for _ in range(5)][-1] == sign_in(PASSWORD) == 429
    attempt = AccessAttempt.objects.get()
    site.post(page(AccessAttempt, "changelist"), {"action": "forget", "_selected_action": [attempt.pk]})
    assert sign_in(PASSWORD) == 302
    assert last_action() == "sign_in.unlocked"


def test_a_superuser_approves_nothing_there(site: Client, full: Case) -> None:
    """There is no form for it, and what a form would send changes nothing."""
    html = site.get(page(Case, "change", full.pk)).content.decode()
    assert 'name="stage"' not in html
    assert 'name="_save"' not in html
    sent = {"stage": "redaction_approved", "lane": "blocking", "verdict": "verified_red_to_green"}
    assert site.post(page(Case, "change", full.pk), sent).status_code == 403
    full.refresh_from_db()
    assert (full.stage, full.lane) == ("quarantined", "")


def test_plural_names_are_english() -> None:
    ours = [model for model in apps.get_models() if model.__module__.startswith("replaycases.")]
    plurals = [str(model._meta.verbose_name_plural) for model in ours]
    assert "lane entries" in plurals
    assert not [plural for plural in plurals if re.search(r"[^aeiou]ys$", plural)]
