"""What is refused before any page looks at it."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from replaycases.accounts.models import User

NUL = "%00"


@pytest.fixture
def site(client: Client, db: None) -> Client:
    client.force_login(User.objects.create_superuser("root", "root@example.invalid", "a long pass phrase"))
    return client


def test_no_list_of_the_administrators_site_fails_over_a_nul(site: Client) -> None:
    for model in admin.site._registry:
        address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for query in (f"q={NUL}", f"id__exact={NUL}", f"{NUL}=x", f"q=a&q=b{NUL}"):
            response = site.get(f"{address}?{query}")
            assert response.status_code == 400, (address, query)
            assert "This request cannot be read" in response.content.decode()


@pytest.mark.parametrize(
    "address", ["/cases/", "/reviews/", "/runs/", "/audit/", "/lanes/", "/login/", "/no-such-page/"]
)
def test_no_page_takes_a_nul_in_its_address(signed_in: Client, address: str) -> None:
    assert signed_in.get(f"{address}?q=a{NUL}b").status_code == 400
    assert signed_in.get(f"{address}?q=a0b").status_code in {200, 302, 404}


def test_the_api_names_the_parameter_itself(signed_in: Client) -> None:
    response = signed_in.get(f"/api/v1/cases/?project={NUL}")
    assert (response.status_code, response.headers["Content-Type"]) == (400, "application/json")
