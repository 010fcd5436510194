"""The home page: what needs the person, and nothing that needs somebody else."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases.models import Case
from tests import factories

MOST_QUERIES = 12


def signed_in_as(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def page(user: User) -> str:
    response = signed_in_as(user).get("/")
    assert response.status_code == 200
    return response.content.decode()


def headings(html: str) -> list[str]:
    return re.findall(r"<h2[^>]*>([^<]*)</h2>", html)


def set_to(case: Case, **columns: Any) -> None:
    Case.objects.filter(pk=case.pk).update(**columns)


def test_a_signed_out_person_is_asked_to_sign_in(client: Client) -> None:
    assert client.get("/").headers["Location"] == "/login/?next=/"
