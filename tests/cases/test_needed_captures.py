"""Which captures wait for a person: drafts that they began, and what ends soon without a case."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import captures, drafts, needs
from replaycases.cases.models import Capture, Draft, Origin
from tests import factories
from tests.importers.transcripts import says, transcript, user

pytestmark = pytest.mark.django_db


@pytest.fixture
def of() -> factories.People:
    return factories.people(factories.project())


def brought(of: factories.People, text: str = "Help.", *, days: int = 3) -> Capture:
    made = captures.bring(
        of.responder, project=of.project, data=transcript(user(text), says("Done.")), origin=Origin.PASTE
    )
    Capture.objects.filter(pk=made.pk).update(expires_at=timezone.now() + timedelta(days=days))
    return made


def waiting(person: User) -> list[tuple[str, bool]]:
    return [(row.readable_id, row.begun) for row in needs.of(person).captures or ()]


def test_a_draft_waits_for_who_began_it_until_there_is_a_case(of: factories.People) -> None:
    capture, other = factories.drafted(of.project, of.responder), factories.person(of.project, Role.RESPONDER)
    assert waiting(of.responder) == [(capture.readable_id, True)]
    assert needs.of(of.responder).count == 1
    assert waiting(other) == []
    draft = Draft.objects.get()
    said = {name: factories.STATEMENT[name] for name in ("title", "trigger", "prohibited_outcome", "deciding_evidence")}
    drafts.make_case(of.responder, draft=draft, seen=draft.choices.digest, **said)
    assert waiting(of.responder) == []
    Capture.objects.update(expires_at=timezone.now() + timedelta(days=2))
    assert waiting(other) == []


def test_what_ends_soon_without_a_case_waits_for_every_responder(of: factories.People) -> None:
    late, soon = brought(of, "later", days=20), brought(of, "soon", days=6)
    sooner, cased, gone = brought(of, "sooner", days=1), brought(of, "cased"), brought(of, "gone")
    Capture.objects.filter(pk=cased.pk).update(has_case=True)
    Capture.objects.filter(pk=gone.pk).update(purged_at=timezone.now())
    drafts.save(of.responder, capture=late, run=0, choices={})
    drafts.save(of.responder, capture=soon, run=0, choices={})
    assert waiting(factories.person(of.project, Role.RESPONDER)) == [
        (sooner.readable_id, False),
        (soon.readable_id, False),
    ]
    assert waiting(of.responder) == [(sooner.readable_id, False), (soon.readable_id, True), (late.readable_id, True)]


def test_who_captures_nothing_is_asked_nothing(of: factories.People) -> None:
    brought(of)
    assert needs.of(of.qa).captures is None
    assert waiting(factories.everyone(factories.project("XX"))) == []
