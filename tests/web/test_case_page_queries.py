"""The case page takes twelve queries at most in every stage, whoever looks, with the gates of the next stage on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from replaycases.accounts.models import User
from replaycases.cases import lifecycle
from replaycases.cases.gate_facts import Bundle
from replaycases.cases.models import Case, Provenance, Stage
from replaycases.web import run_groups
from tests import factories
from tests.factories import People

pytestmark = pytest.mark.django_db
MOST = 12


@pytest.fixture
def of() -> People:
    return factories.people(factories.project())


def test_the_case_page_takes_twelve_queries_in_every_stage_and_counts_every_run(of: People) -> None:
    assert connection.features.supports_json_field  # SQLite is asked, once for the process
    every = factories.everyone(of.project)
    people = [of.responder, of.privacy, of.owner, of.qa, of.viewer, every]
    for what, case in walk(of):
        taken = {user.username: queries(user, case) for user in people}
        assert max(taken.values()) <= MOST, (what, taken)
        [facts] = Bundle([case], whole=True).facts()
        counted = run_groups.of_runs(facts.every_run)
        assert Counter(counted) == Counter(run_groups.of_revision(factories.revision(case))), what


def walk(of: People) -> Iterator[tuple[str, Case]]:
    """One case in each stage; where a red closes the next one, also while it is not seen."""
    case = factories.quarantined(of)
    with_another = Provenance.objects.filter(case=case)
    affected, fixed = case.provenance.affected, case.provenance.fixed
    with_another.update(affected=fixed)
    yield "quarantined, not red", factories.fresh(case)
    with_another.update(affected=affected)
    yield "quarantined", factories.fresh(case)
    seen = factories.revision(case).fixture_hash
    yield "in review", lifecycle.submit(of.responder, case=case, fixture_hash=seen)
    factories.approve_redaction(of, case)
    factories.approve_expectation(of, case)
    with_another.update(affected=fixed)
    yield "redaction approved, not red", factories.fresh(case)
    with_another.update(affected=affected)
    yield "redaction approved", factories.fresh(case)
    yield "reproduced", lifecycle.mark_reproduced(of.qa, case=case, fixture_hash=seen)
    for stage in (Stage.NON_REPLAYABLE, Stage.RETIRED):
        Case.objects.filter(pk=case.pk).update(stage=stage)
        yield stage.label, factories.fresh(case)


def queries(user: User, case: Case) -> int:
    client = Client()
    client.force_login(user)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(f"/cases/{case.readable_id}/").status_code == 200
    return len(captured)
