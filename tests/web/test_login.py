"""Signing in: throttled, for a limited time, and out of reach once the password changes."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from axes.models import AccessAttempt
from django.conf import settings
from django.core import mail
from django.test import Client, RequestFactory, override_settings

from replaycases.accounts import throttling
from replaycases.accounts.models import User
from replaycases.cases.models import AuditEvent
from tests import factories

pytestmark = pytest.mark.django_db
PASSWORD = "a long pass phrase"
OTHER = "another long pass phrase"
START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@pytest.fixture
def user() -> User:
    made = factories.person(factories.project())
    made.set_password(PASSWORD)
    made.save()
    return made


def sign_in(client: Client, user: User, password: str = PASSWORD, address: str = "192.0.2.1") -> int:
    sent = {"username": user.username, "password": password}
    return client.post("/login/", sent, REMOTE_ADDR=address).status_code


def is_in(client: Client) -> bool:
    return client.get("/cases/").status_code == 200


def fail(client: Client, user: User, times: int) -> None:
    for _ in range(times):
        sign_in(client, user, "wrong")


# --- throttling -----------------------------------------------------------------------------------------------------


def test_after_five_failures_the_right_password_is_refused_too(client: Client, user: User) -> None:
    fail(client, user, settings.AXES_FAILURE_LIMIT)
    assert sign_in(client, user) == 429
    assert not is_in(client)


def test_the_refusal_says_how_long_it_lasts(client: Client, user: User) -> None:
    with time_machine.travel(START, tick=False):
        fail(client, user, settings.AXES_FAILURE_LIMIT)
    with time_machine.travel(START + timedelta(minutes=5), tick=False):
        answer = client.post("/login/", {"username": user.username, "password": PASSWORD}, REMOTE_ADDR="192.0.2.1")
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "600"
    assert "10 more minutes" in answer.content.decode()


def test_trying_on_makes_it_no_longer(client: Client, user: User) -> None:
    with time_machine.travel(START, tick=False):
        fail(client, user, settings.AXES_FAILURE_LIMIT)
    with time_machine.travel(START + timedelta(minutes=14), tick=False):
        fail(client, user, 3)
    with time_machine.travel(START + timedelta(minutes=15, seconds=1), tick=False):
        assert sign_in(client, user) == 302


def test_four_failures_are_forgiven_by_the_right_password(client: Client, user: User) -> None:
    fail(client, user, settings.AXES_FAILURE_LIMIT - 1)
    assert sign_in(client, user) == 302
    client.post("/logout/")
    fail(client, user, settings.AXES_FAILURE_LIMIT - 1)
    assert sign_in(client, user) == 302


def test_somebody_elses_failures_lock_out_neither_another_address_nor_another_name(client: Client, user: User) -> None:
    fail(client, user, settings.AXES_FAILURE_LIMIT)
    other = factories.person(factories.project("XX"))
    other.set_password(PASSWORD)
    other.save()
    assert sign_in(Client(), user, address="192.0.2.2") == 302
    assert sign_in(Client(), other) == 302


def test_what_is_kept_of_a_failure_holds_no_password(client: Client, user: User) -> None:
    sign_in(client, user, "wrong but secret")
    assert "wrong but secret" not in str(list(AccessAttempt.objects.values()))


def test_a_name_that_does_not_exist_is_refused_like_one_that_does(client: Client, user: User) -> None:
    nobody = User(username="nobody")
    told = [
        client.post("/login/", {"username": who.username, "password": "wrong"}).content.decode()
        for who in (user, nobody)
    ]
    hidden = re.compile(r'value="[^"]*"')
    assert hidden.sub("", told[0]) == hidden.sub("", told[1])


@pytest.mark.parametrize(
    ("behind", "forwarded", "peer", "address"),
    [
        (False, "", "192.0.2.1", "192.0.2.1"),
        (False, "203.0.113.9", "192.0.2.1", "192.0.2.1"),
        (True, "203.0.113.9", "192.0.2.1", "203.0.113.9"),
        (True, "6.6.6.6, 203.0.113.9", "192.0.2.1", "203.0.113.9"),
        (True, "", "192.0.2.1", None),
        (True, "nonsense", "192.0.2.1", None),
        (False, "", "", None),
    ],
)
def test_the_address_is_the_peers_or_the_one_that_our_proxy_wrote(
    behind: bool, forwarded: str, peer: str, address: str | None
) -> None:
    request = RequestFactory().get("/", REMOTE_ADDR=peer, headers={"x-forwarded-for": forwarded})
    with override_settings(BEHIND_PROXY=behind):
        assert throttling.client_address(request) == address


def test_failures_without_an_address_are_counted_all_the_same(client: Client, user: User) -> None:
    for _ in range(settings.AXES_FAILURE_LIMIT):
        sign_in(client, user, "wrong", address="")
    assert sign_in(client, user, address="") == 429


# --- sessions -------------------------------------------------------------------------------------------------------


def test_a_session_ends_twelve_hours_after_signing_in_however_busy(client: Client, user: User) -> None:
    with time_machine.travel(START, tick=False):
        sign_in(client, user)
    for hour in range(1, 12):
        with time_machine.travel(START + timedelta(hours=hour), tick=False):
            assert is_in(client), hour
    with time_machine.travel(START + timedelta(hours=12), tick=False):
        assert not is_in(client)


def test_a_session_ends_after_two_hours_of_rest(client: Client, user: User) -> None:
    with time_machine.travel(START, tick=False):
        sign_in(client, user)
    with time_machine.travel(START + timedelta(hours=1, minutes=59), tick=False):
        assert is_in(client)
    with time_machine.travel(START + timedelta(hours=3, minutes=59), tick=False):
        assert not is_in(client)


def test_a_page_that_asks_again_by_itself_is_no_act(client: Client, user: User) -> None:
    with time_machine.travel(START, tick=False):
        sign_in(client, user)
    with time_machine.travel(START + timedelta(hours=1, minutes=30), tick=False):
        assert client.get("/cases/", headers={"HX-Request": "true"}).status_code == 200
    with time_machine.travel(START + timedelta(hours=2), tick=False):
        assert not is_in(client)


def test_a_session_that_does_not_say_when_it_began_is_over(client: Client, user: User) -> None:
    sign_in(client, user)
    session = client.session
    del session["signed_in_at"]
    session.save()
    assert not is_in(client)


def test_the_api_ends_with_the_session(client: Client, user: User) -> None:
    with time_machine.travel(START, tick=False):
        sign_in(client, user)
        assert client.get("/api/v1/cases/").status_code == 200
    with time_machine.travel(START + timedelta(hours=2), tick=False):
        assert client.get("/api/v1/cases/").status_code in (401, 403)


def test_an_account_that_is_closed_is_signed_out_at_its_next_request(client: Client, user: User) -> None:
    sign_in(client, user)
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert not is_in(client)


# --- passwords ------------------------------------------------------------------------------------------------------


def change(client: Client, old: str, new: str) -> int:
    sent = {"old_password": old, "new_password1": new, "new_password2": new}
    return client.post("/account/password/", sent).status_code


def test_a_changed_password_signs_out_everywhere_else(client: Client, user: User) -> None:
    elsewhere = Client()
    sign_in(client, user)
    sign_in(elsewhere, user)
    assert change(client, PASSWORD, OTHER) == 302
    assert is_in(client)
    assert not is_in(elsewhere)
    event = AuditEvent.objects.get()
    assert (event.action, event.actor) == ("user.password_set", user)
    assert OTHER not in event.before + event.after


def test_the_old_password_is_asked_for(client: Client, user: User) -> None:
    sign_in(client, user)
    assert change(client, "wrong", OTHER) == 422
    user.refresh_from_db()
    assert user.check_password(PASSWORD)


@pytest.mark.parametrize("weak", ["eleven char", "123456789012", "qwerty123456"])
def test_a_weak_password_is_refused(client: Client, user: User, weak: str) -> None:
    sign_in(client, user)
    assert change(client, PASSWORD, weak) == 422
    user.refresh_from_db()
    assert user.check_password(PASSWORD)


def test_a_password_like_ones_own_name_is_refused(client: Client, user: User) -> None:
    sign_in(client, user)
    assert change(client, PASSWORD, user.email) == 422


def test_a_forgotten_password_is_set_by_a_link_that_works_once(client: Client, user: User) -> None:
    sign_in(other := Client(), user)
    assert client.post("/password-reset/", {"email": user.email}).status_code == 302
    (sent,) = mail.outbox
    link = re.search(r"http://localhost:8000(/password-reset/\S+)", sent.body)
    assert link is not None
    form = client.get(link.group(1), follow=True)
    address = form.request["PATH_INFO"]
    assert "set-password" in address
    assert client.post(address, {"new_password1": OTHER, "new_password2": OTHER}).status_code == 302
    user.refresh_from_db()
    assert user.check_password(OTHER)
    assert not is_in(other)
    assert "not good any more" in Client().get(link.group(1), follow=True).content.decode()


def test_an_address_that_nobody_has_gets_the_same_answer_and_no_mail(client: Client, user: User) -> None:
    answers = [client.post("/password-reset/", {"email": email}) for email in (user.email, "no@example.invalid")]
    assert {(answer.status_code, answer.headers["Location"]) for answer in answers} == {(302, "/password-reset/sent/")}
    assert len(mail.outbox) == 1


@override_settings(ALLOWED_HOSTS=["evil.example"])
def test_the_link_in_a_mail_never_has_the_host_that_a_request_names(client: Client, user: User) -> None:
    client.post("/password-reset/", {"email": user.email}, headers={"host": "evil.example"})
    assert "evil.example" not in mail.outbox[0].body
