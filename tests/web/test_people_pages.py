"""The pages about people: account, members, teams, owners, invitations."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver
from django.utils import timezone

from replaycases.accounts import access, tokens
from replaycases.accounts.models import ApiToken, Invitation, Membership, Project, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import invitations, people
from replaycases.cases.models import AuditEvent, Boundary, Case, CaseOwner
from tests import factories
from tests.web.conftest import client_of

pytestmark = pytest.mark.django_db
PASSWORD = "a long pass phrase"


@pytest.fixture
def admin(project: Project) -> User:
    return factories.person(project, Role.ADMINISTRATOR)


@pytest.fixture
def administering(admin: User) -> Client:
    return client_of(admin)


@pytest.fixture
def team(project: Project, admin: User) -> Team:
    return people.create_team(admin, project=project, name="Payments desk")


def text(answer: Any) -> str:
    return str(answer.content.decode())


def owned(case: Case, boundary: Boundary, owner: User | Team) -> None:
    who = {"user": owner} if isinstance(owner, User) else {"team": owner}
    CaseOwner.objects.create(case=case, boundary=boundary, **who)


def queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


# --- account --------------------------------------------------------------------------------------------------------


def make_token(client: Client, project: Project, **changes: Any) -> Any:
    sent = {"project": project.pk, "name": "nightly", "scopes": ["read"], "days": 30, **changes}
    return client.post("/account/tokens/", sent)


def test_a_token_is_shown_once_and_no_cache_keeps_it(looking: Client, viewer: User, project: Project) -> None:
    answer = make_token(looking, project)
    assert answer.status_code == 201
    found = re.search(r"rc_[\w-]{43}", text(answer))
    assert found is not None
    assert tokens.authenticate(found.group()) == viewer
    assert "no-store" in answer.headers["Cache-Control"]
    assert found.group() not in text(looking.get("/account/"))


@pytest.mark.parametrize("changes", [{"days": 0}, {"days": 366}, {"scopes": []}, {"scopes": ["all"]}, {"name": ""}])
def test_a_token_that_may_not_be_is_refused(looking: Client, project: Project, changes: dict[str, Any]) -> None:
    assert make_token(looking, project, **changes).status_code == 422
    assert not ApiToken.objects.exists()


def test_no_token_is_made_for_a_project_that_one_is_not_in(looking: Client) -> None:
    assert make_token(looking, factories.project("XX")).status_code == 422
    assert not ApiToken.objects.exists()


def test_one_revokes_ones_own_tokens_and_no_others(looking: Client, everyone: User, project: Project) -> None:
    make_token(looking, project)
    own = ApiToken.objects.get()
    theirs, _ = people.create_token(everyone, project=project, name="x", scopes=["read"], days=1)
    assert looking.post(f"/account/tokens/{theirs.pk}/revocation/").status_code == 404
    assert looking.post(f"/account/tokens/{own.pk}/revocation/").status_code == 302
    assert looking.post(f"/account/tokens/{own.pk}/revocation/").status_code == 409
    own.refresh_from_db()
    theirs.refresh_from_db()
    assert own.revoked_at is not None
    assert theirs.revoked_at is None


def test_the_account_says_which_roles_and_teams_one_has(viewer: User, looking: Client, team: Team) -> None:
    team.members.add(viewer)
    html = text(looking.get("/account/"))
    assert "Viewer" in html
    assert "Payments desk" in html
    assert "You are a superuser" not in html


# --- members --------------------------------------------------------------------------------------------------------


def test_a_member_sees_who_holds_which_role_and_no_address_and_no_form(
    looking: Client, everyone: User, project: Project
) -> None:
    html = text(looking.get("/people/RC/"))
    assert everyone.username in html
    assert "Privacy reviewer" in html
    assert everyone.email not in html
    assert "/roles/" not in html


def test_an_administrator_gives_and_takes_a_role(administering: Client, viewer: User, project: Project) -> None:
    assert administering.post("/people/RC/roles/", {"user": viewer.pk, "role": "qa"}).status_code == 302
    assert access.roles_of(viewer, project) == {Role.VIEWER, Role.QA}
    held = Membership.objects.get(user=viewer, role=Role.QA)
    assert administering.post(f"/people/RC/roles/{held.pk}/revocation/").status_code == 302
    assert access.roles_of(viewer, project) == {Role.VIEWER}
    assert administering.post(f"/people/RC/roles/{held.pk}/revocation/").status_code == 404


def test_what_cannot_be_given_is_told_beside_the_form(administering: Client, viewer: User) -> None:
    again = administering.post("/people/RC/roles/", {"user": viewer.pk, "role": "viewer"})
    assert again.status_code == 422
    assert "is Viewer in RC already" in text(again)
    stranger = factories.person(factories.project("XX"), Role.QA)
    assert administering.post("/people/RC/roles/", {"user": stranger.pk, "role": "qa"}).status_code == 422


def test_the_last_administrator_is_not_taken_away(administering: Client, admin: User) -> None:
    held = Membership.objects.get(user=admin)
    assert administering.post(f"/people/RC/roles/{held.pk}/revocation/").status_code == 409
    assert Membership.objects.filter(pk=held.pk).exists()


def test_a_token_of_a_member_is_ended_by_the_administrator(
    administering: Client, viewer: User, project: Project
) -> None:
    token, secret = people.create_token(viewer, project=project, name="nightly", scopes=["read"], days=1)
    assert "nightly" in text(administering.get("/people/RC/"))
    assert administering.post(f"/people/RC/tokens/{token.pk}/revocation/").status_code == 302
    assert tokens.authenticate(secret) is None


def test_the_settings_are_kept_within_bounds(administering: Client, project: Project) -> None:
    good = {"retention_days": 14, "review_after_days": 90}
    assert administering.post("/people/RC/settings/", good).status_code == 302
    assert administering.post("/people/RC/settings/", {**good, "retention_days": 91}).status_code == 422
    project.refresh_from_db()
    assert project.retention_days == 14


def test_a_superuser_keeps_people_and_is_told_what_that_is_worth(project: Project, viewer: User) -> None:
    client = client_of(User.objects.create_superuser("root", "root@example.invalid"))
    assert client.post("/people/RC/roles/", {"user": viewer.pk, "role": "qa"}).status_code == 302
    assert "decide nothing by that alone" in text(client.get("/account/"))


def test_whoever_is_in_one_project_comes_straight_to_it(looking: Client, viewer: User) -> None:
    assert looking.get("/people/").headers["Location"] == "/people/RC/"
    Membership.objects.create(project=factories.project("XX"), user=viewer, role=Role.QA)
    assert "/people/XX/" in text(looking.get("/people/"))
    assert "You are in no project yet" in text(client_of(User.objects.create_user("alone")).get("/people/"))


# --- teams and owners -----------------------------------------------------------------------------------------------


def test_a_team_is_made_renamed_and_filled(administering: Client, viewer: User, project: Project) -> None:
    made = administering.post("/people/RC/teams/", {"name": "Desk"})
    team = Team.objects.get()
    assert made.headers["Location"] == f"/people/RC/teams/{team.pk}/"
    assert administering.post("/people/RC/teams/", {"name": "Desk"}).status_code == 422
    assert administering.post(f"/people/RC/teams/{team.pk}/name/", {"name": "Payments"}).status_code == 302
    assert administering.post(f"/people/RC/teams/{team.pk}/members/", {"members": [viewer.pk]}).status_code == 302
    stranger = factories.person(factories.project("XX"), Role.QA)
    wrong = administering.post(f"/people/RC/teams/{team.pk}/members/", {"members": [stranger.pk]})
    assert wrong.status_code == 422
    team.refresh_from_db()
    assert (team.name, list(team.members.all())) == ("Payments", [viewer])


def test_a_team_shows_what_it_owns(looking: Client, team: Team, case: Case) -> None:
    owned(case, Boundary.DEPENDENCY, team)
    html = text(looking.get(f"/people/RC/teams/{team.pk}/"))
    assert "RC-1" in html
    assert "Dependency" in html
    assert "/members/" not in html


def test_cases_without_owners_come_first(
    looking: Client, project: Project, everyone: User, case: Case, team: Team
) -> None:
    team.members.add(everyone)
    other = factories.case(project, everyone, factories.fixture(case_id="other"))
    for boundary in Boundary:
        owned(case, boundary, team)
    owned(other, Boundary.PRIVACY, everyone)
    third = factories.case(project, everyone, factories.fixture(case_id="third"))
    rows = looking.get("/people/RC/owners/").context["rows"]
    assert [row.case for row in rows] == [third, other, case]
    assert [cell.gap for cell in rows[0].cells] == ["nobody"] * 5
    assert [cell.gap for cell in rows[2].cells] == [""] * 5


def test_an_owner_who_left_and_a_team_with_nobody_are_as_good_as_none(
    looking: Client, project: Project, everyone: User, case: Case, team: Team
) -> None:
    gone = factories.person(project, Role.QA)
    owned(case, Boundary.SUITE_POLICY, gone)
    owned(case, Boundary.PRIVACY, team)
    owned(case, Boundary.WORKFLOW, everyone)
    Membership.objects.filter(user=gone).delete()
    (row,) = looking.get("/people/RC/owners/").context["rows"]
    gaps = {cell.boundary: cell.gap for cell in row.cells}
    assert gaps["Suite policy"] == "left the project"
    assert gaps["Security or privacy"] == "nobody in it"
    assert gaps["Adapter and fix"] == ""
    assert row.case.owned == 1


def test_owners_are_filtered_in_the_address(
    looking: Client, project: Project, everyone: User, case: Case, team: Team
) -> None:
    other = factories.case(project, everyone, factories.fixture(case_id="other"))
    owned(case, Boundary.PRIVACY, everyone)
    owned(other, Boundary.WORKFLOW, team)

    def found(query: str) -> list[Case]:
        return [row.case for row in looking.get(f"/people/RC/owners/?{query}").context["rows"]]

    assert found(f"owner=user:{everyone.pk}") == [case]
    assert found(f"owner=team:{team.pk}") == [other]
    assert found("boundary=privacy") == [other]
    assert found("owner=user:nonsense") == found("boundary=nonsense") == []


def test_more_people_and_cases_cost_no_more_queries(
    administering: Client, project: Project, everyone: User, case: Case, team: Team
) -> None:
    addresses = ("/people/RC/", "/people/RC/owners/", f"/people/RC/teams/{team.pk}/", "/account/")
    owned(case, Boundary.PRIVACY, team)
    team.members.add(everyone)
    few = [queries(administering, address) for address in addresses]
    for number in range(4):
        person = factories.person(project, Role.QA, Role.VIEWER)
        another = people.create_team(everyone, project=project, name=f"Team {number}")
        another.members.add(person, everyone)
        team.members.add(person)
        more = factories.case(project, everyone, factories.fixture(case_id=f"case-{number}"))
        owned(more, Boundary.PRIVACY, team)
        owned(more, Boundary.WORKFLOW, person)
        people.create_token(person, project=project, name="x", scopes=["read"], days=1)
        invitations.invite(everyone, project=project, email=f"{number}@example.invalid", roles=[Role.QA])
    assert [queries(administering, address) for address in addresses] == few
    assert max(few) <= 12


# --- invitations ----------------------------------------------------------------------------------------------------


@pytest.fixture
def secret(project: Project, admin: User) -> str:
    return invitations.invite(admin, project=project, email="ada@example.invalid", roles=[Role.QA])[1]


def opened(client: Client, secret: str) -> Any:
    return client.get(f"/invitations/{secret}/", follow=True)


def test_an_invitation_shows_its_link_once(administering: Client) -> None:
    answer = administering.post("/people/RC/invitations/", {"email": "ada@example.invalid", "roles": ["qa"]})
    assert answer.status_code == 201
    assert "No mail is sent from here: copy the link" in text(answer)
    link = re.search(r"http://testserver/invitations/([\w-]{43})/", text(answer))
    assert link is not None
    assert invitations.find(link.group(1)) == Invitation.objects.get()
    assert link.group(1) not in text(administering.get("/people/RC/"))


def test_a_link_bears_the_name_by_which_the_page_was_opened_and_a_mail_the_configured_one(
    administering: Client, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: Any
) -> None:
    said = {"email": "ada@example.invalid", "roles": ["qa"]}
    with django_capture_on_commit_callbacks(execute=True):
        answer = administering.post("/people/RC/invitations/", said, headers={"host": "127.0.0.1:8123"})
    assert "http://127.0.0.1:8123/invitations/" in text(answer)
    assert "http://localhost:8000/invitations/" not in text(answer)
    assert "http://localhost:8000/invitations/" in mailoutbox[0].body


def test_a_mail_is_said_to_be_on_its_way_only_where_one_is_sent(settings: Any) -> None:
    assert not invitations.mail_is_sent()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    assert invitations.mail_is_sent()


def test_the_secret_leaves_the_address_before_anything_is_shown(client: Client, secret: str) -> None:
    answer = client.get(f"/invitations/{secret}/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/invitations/")
    shown = client.get("/invitations/")
    assert secret not in text(shown)
    for response in (answer, shown):
        assert "no-store" in response.headers["Cache-Control"]
        assert response.headers["Referrer-Policy"] == "same-origin"


def test_somebody_new_makes_an_account_and_is_in(client: Client, secret: str, project: Project) -> None:
    assert "ada@example.invalid" in text(opened(client, secret))
    sent = {"username": "ada", "display_name": "Ada", "password": PASSWORD}
    weak = client.post("/invitations/", {**sent, "password": "short"})
    assert weak.status_code == 422
    assert "short" not in re.sub("too short", "", text(weak))
    assert client.post("/invitations/", sent).status_code == 302
    ada = User.objects.get(username="ada")
    assert access.roles_of(ada, project) == {Role.QA}
    assert client.get("/cases/").context["user"] == ada
    assert client.get("/invitations/").status_code == 404


def test_somebody_with_an_account_signs_in_and_accepts(client: Client, secret: str, project: Project) -> None:
    ada = User.objects.create_user("ada", "ada@example.invalid", PASSWORD)
    assert "/login/?next=/invitations/" in text(opened(client, secret))
    client.post("/login/", {"username": "ada", "password": PASSWORD})
    assert "Accept as ada" in text(client.get("/invitations/"))
    assert access.roles_of(ada, project) == frozenset()
    assert client.post("/invitations/").status_code == 302
    assert access.roles_of(ada, project) == {Role.QA}


def test_somebody_else_who_is_signed_in_is_told_and_gets_nothing(
    looking: Client, viewer: User, secret: str, project: Project
) -> None:
    assert "You are signed in as" in text(opened(looking, secret))
    assert looking.post("/invitations/").status_code == 403
    assert access.roles_of(viewer, project) == {Role.VIEWER}


def test_a_link_that_is_over_says_so(client: Client, secret: str) -> None:
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = opened(client, secret)
    assert answer.status_code == 404
    assert "not good any more" in text(answer)
    assert client.post("/invitations/", {"username": "ada"}).status_code == 404


def test_an_invitation_is_revoked_on_the_page(administering: Client, client: Client, secret: str) -> None:
    pk = Invitation.objects.get().pk
    assert administering.post(f"/people/RC/invitations/{pk}/revocation/").status_code == 302
    assert administering.post(f"/people/RC/invitations/{pk}/revocation/").status_code == 409
    assert opened(client, secret).status_code == 404


# --- who may --------------------------------------------------------------------------------------------------------

READS = ("/people/RC/", "/people/RC/owners/", "/people/RC/teams/{team}/")
WRITES = (
    "/people/RC/roles/",
    "/people/RC/roles/{held}/revocation/",
    "/people/RC/tokens/{token}/revocation/",
    "/people/RC/settings/",
    "/people/RC/teams/",
    "/people/RC/teams/{team}/name/",
    "/people/RC/teams/{team}/members/",
    "/people/RC/invitations/",
    "/people/RC/invitations/{invitation}/revocation/",
)
SENT = {
    "role": "qa_lead",
    "roles": ["qa"],
    "email": "eve@example.invalid",
    "name": "Other",
    "retention_days": 1,
    "review_after_days": 1,
}


def test_the_routes_tested_here_are_all_that_name_a_project() -> None:
    """But for those of the redaction policy, which have tests of their own."""
    patterns = [str(pattern.pattern) for pattern in get_resolver("replaycases.web.urls").url_patterns]
    named = [pattern for pattern in patterns if pattern.startswith("people/<")]
    assert len([one for one in named if "/redaction-policy/" not in one]) == len({*READS, *WRITES})


@pytest.fixture
def named(admin: User, viewer: User, team: Team, secret: str, project: Project) -> dict[str, object]:
    token, _ = people.create_token(viewer, project=project, name="x", scopes=["read"], days=1)
    held = Membership.objects.get(user=viewer)
    return {"team": team.pk, "held": held.pk, "token": token.pk, "invitation": Invitation.objects.get().pk}


def test_without_administering_nothing_is_written_whatever_the_role(
    named: dict[str, object], project: Project, viewer: User
) -> None:
    people_of_it = {role: factories.person(project, role) for role in set(Role) - {Role.ADMINISTRATOR}}
    events = AuditEvent.objects.count()
    for user in people_of_it.values():
        client = client_of(user)
        sent = {**SENT, "user": viewer.pk, "members": [user.pk]}
        answers = {route: client.post(route.format(**named), sent).status_code for route in WRITES}
        assert answers == dict.fromkeys(WRITES, 403)
        assert {client.get(route.format(**named)).status_code for route in READS} == {200}
    assert AuditEvent.objects.count() == events


def test_another_projects_people_do_not_exist(named: dict[str, object]) -> None:
    client = client_of(factories.everyone(factories.project("XX")))
    for route in READS:
        assert client.get(route.format(**named)).status_code == 404, route
    for route in WRITES:
        assert client.post(route.format(**named), SENT).status_code == 404, route


def test_a_row_of_another_project_is_not_reached_through_ones_own(named: dict[str, object], project: Project) -> None:
    client = client_of(factories.everyone(factories.project("XX")))
    for route in WRITES:
        if "{" in route:
            address = route.format(**named).replace("/RC/", "/XX/")
            assert client.post(address, SENT).status_code == 404, route


def test_without_an_account_there_is_only_the_login(named: dict[str, object], client: Client) -> None:
    for route in READS:
        assert client.get(route.format(**named)).headers["Location"].startswith("/login/?next="), route
    for route in (*WRITES, "/account/tokens/"):
        assert client.post(route.format(**named), SENT).headers["Location"].startswith("/login/?next="), route
