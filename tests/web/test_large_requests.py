"""What is sent is bounded before it is read: fields, files, and the body as a whole."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from replaycases.cases.models import Case
from replaycases.web.forms_review import EDITED_BYTES

FORM = "application/x-www-form-urlencoded"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "told"), [("/login/", b"This is too large"), ("/api/v1/revisions/", b'{"detail": "The body is larger')]
)
def test_a_body_that_is_too_large_is_refused_and_not_read(client: Client, address: str, told: bytes) -> None:
    said = {"CONTENT_LENGTH": str(settings.MAX_UPLOAD_BYTES * 2), "CONTENT_TYPE": "multipart/form-data; boundary=x"}
    answer = client.generic("POST", address, b"", **{**said, "wsgi.input": Unreadable()})
    assert answer.status_code == 413
    assert told in answer.content


class Unreadable:
    def read(self, *arguments: Any) -> bytes:
        raise AssertionError("a body that is refused was read")

    readline = read


def test_the_fields_of_a_form_are_bounded_together_for_anybody(client: Client, db: None) -> None:
    fields = "username=" + "%41" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 3)
    answer = client.post("/login/", fields, content_type=FORM)
    assert answer.status_code == 400
    assert "upload a longer text as one" in answer.content.decode()


def test_the_largest_document_that_is_edited_on_a_page_comes_through(signed_in: Client, case: Case) -> None:
    text = "ä" * EDITED_BYTES
    answer = signed_in.post("/cases/RC-1/revisions/new/", {"seen": 1, "text": text, "changed": "x"})
    assert answer.status_code == 422
