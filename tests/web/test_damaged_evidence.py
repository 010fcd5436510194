"""Stored bytes that no longer have their digest: nothing is shown of them, nothing is green, and it is said which."""

from __future__ import annotations

import pytest
from django.test import Client

from replaycases.accounts.models import User
from replaycases.cases.models import Case, Payload
from tests import factories
from tests.web import recorded


@pytest.mark.parametrize(
    "address",
    [
        "/cases/RC-1/comparisons/1/",
        "/cases/RC-1/revisions/1/",
        "/cases/RC-1/review/",
        "/cases/RC-1/revisions/1/document/",
        "/api/v1/revisions/{}/document/",
    ],
)
def test_what_needs_damaged_evidence_says_which_payload_to_restore(
    signed_in: Client, case: Case, everyone: User, address: str
) -> None:
    recorded.compared(case, everyone)
    revision = factories.revision(case)
    Payload.objects.filter(pk=revision.payload_id).update(body=b"{}")
    response = signed_in.get(address.format(revision.pk))
    assert response.status_code == 500
    assert f"payload {revision.payload_id}" in response.content.decode()
    assert "restore it from a backup" in response.content.decode()
