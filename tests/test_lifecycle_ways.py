"""Services, API, pages and tokens are ways to the same rules: whichever one goes, the answer is the model's."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, run_state_machine_as_test

from tests.cases.lifecycle_machine import Lifecycle
from tests.ways import Way


class ByEveryWay(Lifecycle):
    """Each deed goes by a way that is drawn for it."""

    random = Random(0)

    @initialize(random=st.randoms(use_true_random=False))
    def draw_ways(self, random: Random) -> None:
        self.random = random

    def way(self, person: int) -> Way:
        return self.random.choice(list(Way))


@pytest.mark.django_db
@pytest.mark.timeout(180)
def test_whichever_way_somebody_goes_the_answer_is_the_model_s() -> None:
    run_state_machine_as_test(
        ByEveryWay,
        settings=settings(
            max_examples=4,
            stateful_step_count=50,
            deadline=None,
            # The same ways each time, and a failure is told as it was found: making it smaller takes minutes.
            derandomize=True,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )
