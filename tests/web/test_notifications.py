"""Notifications: one's own, unread first, read when one says so."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.accounts.models import Membership, User
from replaycases.cases import recipients
from replaycases.cases.models import Case, Notification, NotificationKind
from replaycases.web.views.notifications import shown_at


@pytest.fixture
def told(case: Case, everyone: User) -> list[Notification]:
    """Three, the newest last."""
    kinds = (NotificationKind.DECIDED, NotificationKind.FLAGGED, NotificationKind.VERDICT_CHANGED)
    for number, kind in enumerate(kinds):
        recipients.notify([everyone.pk], case=case, kind=kind, occasion=str(number), text=f"RC-1: number {number}.")
        Notification.objects.filter(key=str(number)).update(created_at=timezone.now() - timedelta(hours=9 - number))
    return list(Notification.objects.order_by("created_at"))


def unread(user: User) -> list[str]:
    return sorted(Notification.objects.filter(user=user, read_at=None).values_list("text", flat=True))


def test_unread_ones_stand_first_each_part_newest_first(signed_in: Client, told: list[Notification]) -> None:
    signed_in.post(f"/notifications/{told[2].pk}/reading/")
    html = signed_in.get("/notifications/").content.decode()
    places = [html.index(f"Number {number}.") for number in (1, 0, 2)]
    assert places == sorted(places)
    assert "2 unread" in html


def test_marking_all_leaves_what_came_after_the_page(signed_in: Client, told: list[Notification], case: Case) -> None:
    until = shown_at()
    recipients.notify(
        [told[0].user_id], case=case, kind=NotificationKind.DECIDED, occasion="later", text="RC-1: later."
    )
    signed_in.post("/notifications/reading/", {"until": until})
    assert unread(told[0].user) == ["RC-1: later."]


def test_marking_one_kind_leaves_the_others(signed_in: Client, told: list[Notification]) -> None:
    signed_in.post("/notifications/reading/", {"until": shown_at(), "kind": "verdict_changed", "next": "/"})
    assert unread(told[0].user) == ["RC-1: number 0.", "RC-1: number 1."]


@pytest.mark.parametrize("form", [{}, {"until": "yesterday"}, {"until": shown_at(), "kind": "nothing"}])
def test_a_broken_form_marks_nothing(signed_in: Client, told: list[Notification], form: dict[str, str]) -> None:
    assert signed_in.post("/notifications/reading/", form).status_code == 400
    assert len(unread(told[0].user)) == 3


def test_another_persons_notification_does_not_exist(looking: Client, told: list[Notification]) -> None:
    assert looking.post(f"/notifications/{told[0].pk}/reading/").status_code == 404
    assert len(unread(told[0].user)) == 3


@pytest.mark.parametrize("elsewhere", ["https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)", ""])
def test_reading_leads_back_to_a_page_of_ours_only(signed_in: Client, told: list[Notification], elsewhere: str) -> None:
    response = signed_in.post(f"/notifications/{told[0].pk}/reading/", {"next": elsewhere})
    assert response.headers["Location"] == "/notifications/"


def test_the_bar_counts_them_in_one_query_on_every_page(signed_in: Client, told: list[Notification]) -> None:
    for address in ("/cases/", "/notifications/", "/"):
        with CaptureQueriesContext(connection) as captured:
            html = signed_in.get(address).content.decode()
        assert '>3<span class="vh"> unread</span>' in html, address
        assert sum("cases_notification" in query["sql"] for query in captured) <= (3 if "notif" in address else 1)


def test_who_left_the_project_sees_none_of_its_cases(
    signed_in: Client, told: list[Notification], everyone: User
) -> None:
    Membership.objects.filter(user=everyone).delete()
    html = signed_in.get("/notifications/").content.decode()
    assert "Number 0." not in html
    assert "unread</span>" not in html


def test_nothing_told_yet_says_when_something_would_be(looking: Client) -> None:
    assert "Nothing was told to you yet" in looking.get("/notifications/").content.decode()
