from __future__ import annotations

import pytest

from tests.honesty.court import Court
from tests.replay.implementations import sandbox


@pytest.fixture(scope="module")
def court(tmp_path_factory: pytest.TempPathFactory) -> Court:
    return Court(tmp_path_factory.mktemp("court"), sandbox())
