"""Whatever several people with several roles try with a case, in whatever order: it is in no forbidden state."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.cases.lifecycle_machine import Lifecycle


@pytest.mark.django_db
@pytest.mark.timeout(180)
def test_no_order_of_attempts_leads_to_a_forbidden_state() -> None:
    run_state_machine_as_test(
        Lifecycle,
        settings=settings(
            max_examples=8,
            stateful_step_count=40,
            deadline=None,
            # The same attempts every time: a failure is one of the change that is tested.
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
