"""The promises about jobs, on both pairs of database and broker, with real worker processes."""

from __future__ import annotations

import pytest

from replaycases.cases import jobs
from replaycases.cases.models import Comparison, Run, RunState
from tests import factories
from tests.cases.deployment import Deployment

pytestmark = [pytest.mark.timeout(180)]


def _comparison() -> Comparison:
    project = factories.project()
    actor = factories.everyone(project)
    case = factories.case(project, actor)
    old = factories.implementation(project, actor, factories.OLD_CODE, version="1")
    new = factories.implementation(project, actor, factories.NEW_CODE, version="2")
    return jobs.request_comparison(actor, revision=factories.revision(case), old=old, new=new)


def test_a_requested_comparison_is_replayed_by_a_worker_and_gets_its_verdict(deployment: Deployment) -> None:
    deployment.start_worker()
    comparison = _comparison()
    deployment.wait_until(lambda: Comparison.objects.get().state == "computed")
    comparison.refresh_from_db()
    assert comparison.label == "verified_red_to_green"
    assert set(Run.objects.values_list("state", "status", "attempts")) == {(RunState.FINISHED, "completed", 1)}
