"""What a case waits for, as its page says it."""

from __future__ import annotations

import pytest
from django.test import Client

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases.models import Case, Stage
from tests import factories

pytestmark = pytest.mark.django_db
ASKED = "A dependency owner who did not make the case confirms that the tools of which it names no effect have none."
LINK = 'href="/cases/RC-1/#dependency"'


def page(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.get("/cases/RC-1/").content.decode()


@pytest.mark.parametrize("stage", [Stage.REDACTION_APPROVED, Stage.REPRODUCED])
def test_what_only_a_dependency_owner_can_say_is_a_step_until_it_is_said(stage: Stage) -> None:
    of = factories.people(factories.project())
    case = factories.case(of.project, of.responder)
    assert ASKED not in page(of.vendor)  # nobody but its makers may read it yet
    Case.objects.update(stage=stage)
    revision = factories.revision(case)
    factories.released(revision)
    assert ASKED in page(of.vendor)
    assert LINK in page(of.vendor)
    others = page(of.qa)
    assert ASKED in others
    assert LINK not in others
    assert f"This needs the role {Role.DEPENDENCY_OWNER.label} in project RC" in others
    factories.no_effect(of, case)
    assert ASKED not in page(of.vendor)


def test_a_case_that_can_only_be_read_waits_for_being_marked_so_and_not_for_a_replay() -> None:
    of = factories.people(factories.project())
    mark = {"class": "non_replayable", "reason": "Spans without content."}
    factories.case(of.project, of.responder, factories.fixture(replayability=mark))
    said = page(of.responder)
    assert "Its recording can only be read" in said
    assert "Needed: a complete statement" not in said
