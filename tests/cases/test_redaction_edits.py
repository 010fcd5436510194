"""A redaction that was edited by hand keeps the relations of the raw revision, or is told as having lost them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from replaycases.cases import evidence, intake, lifecycle, redacting
from replaycases.cases.models import Case
from tests import factories
from tests.cases.test_redacting import newest, replayed

OWNED = {"owner_email": "jane.doe@corp.test", "requester_email": "jane.doe@corp.test"}


@pytest.fixture
def of(db: None) -> factories.People:
    return factories.people(factories.project())


@pytest.fixture
def redacted(of: factories.People) -> Case:
    """Revision 2, made of revision 1, in which owner and requester are one."""
    case = factories.in_review(of, factories.fixture(input=OWNED))
    redacting.redact(of.responder, case=case, seen_revision=1)
    return factories.fresh(case)


def edit(of: factories.People, case: Case, **change: str) -> Case:
    return write(of, case, lambda document: document["input"].update(change))


def write(of: factories.People, case: Case, change: Any) -> Case:
    case = factories.fresh(case)
    document = json.loads(evidence.read(factories.revision(case).payload))
    change(document)
    intake.add_revision(of.responder, case=case, fixture=json.dumps(document).encode())
    return factories.fresh(case)


def approved(of: factories.People, case: Case) -> Case:
    factories.approve_redaction(of, replayed(of, case))
    return factories.fresh(case)


def detectors(case: Case) -> list[str]:
    return [one["detector"] for one in newest(case).open]


def test_what_stands_for_a_value_is_no_finding_in_any_edit_after_the_key_is_destroyed(
    of: factories.People, redacted: Case
) -> None:
    case = approved(of, redacted)
    lifecycle.send_back(of.privacy, case=case, reason="A name is left.")
    assert detectors(edit(of, edit(of, case, note="new"), note="newer")) == []
