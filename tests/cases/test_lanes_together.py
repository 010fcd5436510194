"""Promotion of many cases at once, row by row."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import lanes, lifecycle
from replaycases.cases.models import Case, Lane, LaneEntry, LaneName, Provenance
from tests import factories
from tests.factories import People

pytestmark = pytest.mark.django_db


def three() -> tuple[People, list[Case]]:
    of = factories.people(factories.project())
    return of, [factories.reproduced(of, factories.fixture(case_id=f"case-{number}")) for number in range(3)]


@pytest.fixture(scope="module")
def built(made_once: Callable[..., tuple[People, list[Case]]]) -> tuple[People, list[Case]]:
    return made_once(three)


@pytest.fixture
def of(built: tuple[People, list[Case]]) -> People:
    return deepcopy(built[0])


@pytest.fixture
def ready(built: tuple[People, list[Case]]) -> list[Case]:
    return deepcopy(built[1])


def chosen(cases: list[Case]) -> list[tuple[Case, str]]:
    return [(case, factories.revision(case).fixture_hash) for case in cases]


def test_a_preview_says_row_by_row_what_would_move_and_moves_nothing(of: People, ready: list[Case]) -> None:
    factories.promoted(of, ready[1], LaneName.NONBLOCKING)
    Provenance.objects.filter(case=ready[2]).update(trace_id="")
    found = lanes.preview(of.qa, cases=ready, lane=LaneName.NONBLOCKING)
    assert [row.case for row in found] == ready
    assert [row.will_move for row in found] == [True, False, False]
    assert found[1].why == "Revision 1 stands in lane nonblocking already."
    assert found[2].why == "Provenance complete: Not recorded: the trace."
    assert LaneEntry.objects.count() == 1


def test_a_preview_says_what_the_promotion_would_of_a_revision_that_blocks(of: People, ready: list[Case]) -> None:
    blocks = Lane.objects.create(project=of.project, name=LaneName.BLOCKING)
    stays = {"case": ready[0], "revision": ready[0].current_revision, "entered_by": of.qa, "entered_at": timezone.now()}
    LaneEntry.objects.create(lane=blocks, **stays)
    [row] = lanes.preview(of.qa, cases=ready[:1], lane=LaneName.NONBLOCKING)
    [outcome] = lanes.promote_many(of.qa, chosen=chosen(ready[:1]), lane=LaneName.NONBLOCKING, note="")
    assert (row.will_move, row.why) == (False, "Revision 1 blocks already. Two people demote it.")
    assert outcome.why == row.why


def test_a_preview_says_who_may_not(of: People, ready: list[Case]) -> None:
    assert all("needs the role" in row.why for row in lanes.preview(of.owner, cases=ready, lane=LaneName.NONBLOCKING))


def test_a_preview_of_many_takes_as_many_queries_as_of_one(of: People, ready: list[Case]) -> None:
    counted = []
    for cases in (ready[:1], ready):
        with CaptureQueriesContext(connection) as queries:
            lanes.preview(of.qa, cases=cases, lane=LaneName.BLOCKING)
        counted.append(len(queries))
    assert counted[0] == counted[1] <= 9


def test_each_row_moves_or_stays_by_itself(of: People, ready: list[Case]) -> None:
    Provenance.objects.filter(case=ready[0]).update(trace_id="")
    rows = chosen(ready)
    rows[1] = (ready[1], "sha256:another")
    outcomes = lanes.promote_many(of.qa, chosen=rows, lane=LaneName.NONBLOCKING, note="Together.")
    assert [row.moved for row in outcomes] == [False, False, True]
    assert "Provenance complete" in outcomes[0].why
    assert "Look again" in outcomes[1].why
    assert LaneEntry.objects.get(case=ready[2]).note == "Together."
    assert LaneEntry.objects.count() == 1


def test_a_row_that_fails_on_our_side_does_not_stop_the_others(
    of: People, ready: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    promote = lifecycle.promote

    def failing(actor: User, *, case: Case, **options: object) -> object:
        if case == ready[0]:
            raise RuntimeError("alice@example.org")
        return promote(actor, case=case, **options)

    monkeypatch.setattr(lifecycle, "promote", failing)
    outcomes = lanes.promote_many(of.qa, chosen=chosen(ready), lane=LaneName.NONBLOCKING, note="")
    assert [row.moved for row in outcomes] == [False, True, True]
    assert "RuntimeError" in outcomes[0].why
    assert "alice" not in outcomes[0].why


def test_one_case_named_twice_moves_once(of: People, ready: list[Case]) -> None:
    outcomes = lanes.promote_many(of.qa, chosen=chosen([ready[0]] * 2), lane=LaneName.NONBLOCKING, note="")
    assert [row.moved for row in outcomes] == [True, False]


def test_too_many_at_once_are_refused_before_the_first(
    of: People, ready: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "MOST_AT_ONCE", 2)
    with pytest.raises(ValidationError, match="At most 2"):
        lanes.promote_many(of.qa, chosen=chosen(ready), lane=LaneName.NONBLOCKING, note="")
    with pytest.raises(ValidationError, match="At most 2"):
        lanes.preview(of.qa, cases=ready, lane=LaneName.NONBLOCKING)
    assert not LaneEntry.objects.exists()
