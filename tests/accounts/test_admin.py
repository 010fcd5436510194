from __future__ import annotations

import pytest
from django.test import Client

from replaycases.accounts.models import User

pytestmark = pytest.mark.django_db


def test_an_administrator_names_a_project_and_never_sets_its_counters(client: Client) -> None:
    client.force_login(User.objects.create_superuser("root"))
    fields = set(client.get("/admin/accounts/project/add/").context["adminform"].form.fields)
    assert fields == {"key", "name"}
