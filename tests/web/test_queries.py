"""The pages that people live on take twelve queries at most, with everything on them that can be, for every role."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import details, flags, proposals, recipients
from replaycases.cases.models import Boundary, Case, FlagReason, NotificationKind, Proposal, ProposalKind, ProposalState
from tests import factories
from tests.factories import People

MOST = 12
GATES = ("provenance", "owners", "history", "covered")


def pending(case: Case, by: User, gate: str) -> Proposal:
    """As it stands when a gate could not be computed; which it can here."""
    return Proposal.objects.create(
        case=case,
        kind=ProposalKind.OVERRIDE,
        gate=gate,
        revision=case.current_revision,
        reason="It could not be computed.",
        until=timezone.now() + timedelta(days=3),
        proposed_by=by,
        proposed_at=timezone.now(),
    )


def confirmed(case: Case, by: User, second: User) -> None:
    made = pending(case, by, "red")
    made.state, made.decided_by, made.decided_at = ProposalState.CONFIRMED, second, timezone.now()
    made.save()


def crowded() -> tuple[People, Case]:
    """Blocking with a history, two proposals of each sort, an override that holds, findings, flags and messages."""
    people = factories.people(factories.project())
    case = factories.blocking(people)
    until = timezone.now() + timedelta(days=3)
    confirmed(case, people.lead, people.owner)
    proposals.propose_demotion(people.qa, case=case, reason="A vendor.", until=until, owner=people.engineer)
    proposals.propose_retirement(people.lead, case=case, reason="The workflow is gone.")
    for gate in GATES[:2]:
        pending(case, people.lead, gate)
    details.record_grader_finding(people.responder, case=case, grader="g", version="1", label="l", result="")
    details.set_owners(people.engineer, case=case, owners=dict.fromkeys(Boundary, people.engineer))
    flags.raise_flag(people.qa, case=case, reason=FlagReason.DRIFTED, detail="A probe.")
    factories.waiver(case, people.privacy)
    tell(people, case, "1")
    return people, factories.fresh(case)


@pytest.fixture(scope="module")
def built(made_once: Callable[..., tuple[People, Case]]) -> tuple[People, Case]:
    return made_once(crowded)


@pytest.fixture
def people(built: tuple[People, Case], db: None) -> People:
    return deepcopy(built[0])


@pytest.fixture
def full(built: tuple[People, Case], db: None) -> Case:
    return deepcopy(built[1])


def tell(people: People, case: Case, occasion: str) -> None:
    told = [person.pk for person in everybody(people)]
    recipients.notify(told, case=case, kind=NotificationKind.FLAGGED, occasion=occasion, text="RC-1: drifted.")


def everybody(of: People) -> list[User]:
    return [of.responder, of.engineer, of.privacy, of.security, of.owner, of.qa, of.lead, of.viewer]


def queries(user: User, address: str) -> int:
    client = Client()
    client.force_login(user)
    cache.clear()  # what may be a minute old is counted again
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/cases/",
        "/cases/?q=rc-t1",
        "/cases/?owner=me&flagged=on&lane=blocking&q=rc-1",
        "/cases/RC-1/",
        "/cases/RC-1/promotion/",
        "/cases/RC-1/promotion/?to=nonblocking",
        "/cases/RC-1/promotion/?to=compatibility",
        "/proposals/",
    ],
)
def test_a_full_page_takes_twelve_queries_for_every_role(people: People, full: Case, address: str) -> None:
    taken: dict[str, Any] = {user.username: queries(user, address) for user in everybody(people)}
    administrator = User.objects.create_superuser("administrator")
    taken["administrator"] = queries(administrator, address)
    assert max(taken.values()) <= MOST, taken


@pytest.mark.parametrize("address", ["/", "/cases/RC-1/", "/cases/RC-1/promotion/", "/proposals/"])
def test_more_proposals_and_messages_cost_no_more_queries(people: People, full: Case, address: str) -> None:
    readers = [people.owner, people.lead, people.viewer]
    few = [queries(user, address) for user in readers]
    for gate in GATES[2:]:
        pending(full, people.lead, gate)
    for name in ("second", "third"):
        case = factories.case(people.project, people.responder, factories.fixture(case_id=name))
        proposals.propose_retirement(people.lead, case=case, reason="The workflow is gone.")
        pending(case, people.qa, "red")
        tell(people, case, "2")
    assert [queries(user, address) for user in readers] == few
