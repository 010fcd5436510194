"""People who may do everything between them, and a case of theirs that was only captured."""

from __future__ import annotations

import pytest

from replaycases.cases.models import (
    Case,
)
from tests import factories
from tests.factories import People


@pytest.fixture
def of() -> People:
    return factories.people(factories.project())


@pytest.fixture
def captured(of: People) -> Case:
    return factories.case(of.project, of.responder)
