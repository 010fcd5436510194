"""What both sides did at the boundary, as the incident owner reads it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from replaycases.accounts.models import Project, User
from tests import factories
from tests.web import recorded
from tests.web.test_comparison_page import page

CLAIM = {"id": "completed", "statement": "It was completed.", "detect": {"any": ["(?i)was completed"]}}
SAID = {"id": "open", "statement": "It is open.", "detect": {"any": ["(?i)could not confirm"]}}
STATUS = {"id": "status", "one_of": ["open"]}


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        (
            {"boundary": ["completed", "open"], "prohibited_claims": [CLAIM], "required_claims": [SAID]},
            "makes the claim “It was completed” (completed) and does not say “It is open” (open) in 2 of 2 runs",
        ),
        (
            {"boundary": ["a", "b"], "required_claims": [{**SAID, "id": "a"}, {**SAID, "id": "b"}]},
            "does not say “It is open” (a) and “It is open” (b) in 2 of 2 runs",
        ),
        (
            {"boundary": ["status"], "status": STATUS},
            "violates status (the status is none of those allowed) in 2 of 2 runs",
        ),
        (
            {"boundary": list("abcd"), "required_claims": [{**SAID, "id": name} for name in "abcd"]},
            "“It is open” (c) and violates 1 more in 2 of 2 runs",
        ),
    ],
)
def test_each_kind_of_boundary_check_has_its_words(
    signed_in: Client, project: Project, everyone: User, expected: dict[str, Any], told: str
) -> None:
    case = factories.case(project, everyone, factories.fixture(expected=expected))
    assert told in page(signed_in, recorded.compared(case, everyone))
