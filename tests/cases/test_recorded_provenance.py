"""The provenance of a case that is made of a captured run: what its run record says, and nothing guessed."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from replaycases.cases import captures, details, drafts
from replaycases.cases.models import Case, Origin, Provenance
from tests import factories
from tests.cases.test_captures import CHOICES, STATEMENT, TRACE
from tests.importers.samples import SAMPLES

pytestmark = pytest.mark.django_db

SAID = {"approval_reference": "CHG-7", "incident_url": "https://tickets.example/9", "endpoint": "gateway.example"}


@pytest.fixture
def of() -> factories.People:
    return factories.people(factories.project())


def made_of(of: factories.People, data: bytes = TRACE, **more: Any) -> Case:
    capture = captures.bring(of.responder, project=of.project, data=data, origin=Origin.UPLOAD)
    draft = drafts.save(of.responder, capture=capture, run=0, choices={**CHOICES, **more})
    despite = "It is a test."
    return drafts.make_case(of.responder, draft=draft, seen=draft.choices.digest, despite=despite, **STATEMENT)


def test_a_case_has_the_links_and_the_run_record_of_its_run(of: factories.People) -> None:
    made = made_of(of, SAMPLES["recorded:lines"], record=SAID).provenance
    assert made.incident_url == SAID["incident_url"]
    assert made.run_record.pop("run_id")["source"] == "trace"
    said = {"approval_reference": "CHG-7", "endpoint": "gateway.example"}
    assert made.run_record == {name: {"value": value, "source": "declared"} for name, value in said.items()}
    missing = {gap.name: gap.cost for gap in made.run_record_missing}
    assert missing["record.links"] == "not stated: trace link"
    assert "checked out again" in missing["record.code"]


def test_the_registered_version_that_the_run_names_is_the_affected_one(of: factories.People) -> None:
    registered = factories.implementation(of.project, of.engineer, version="2026.7")
    assert made_of(of, workflow_version="2026.7").provenance.affected == registered


def test_of_two_codes_with_one_version_and_of_another_version_none_is_taken(of: factories.People) -> None:
    factories.implementation(of.project, of.engineer, version="7")
    factories.implementation(of.project, of.engineer, factories.OLD_CODE, version="7")
    made_of(of, workflow_version="7")
    made_of(of, SAMPLES["langsmith"], workflow_version="8")
    assert not Provenance.objects.exclude(affected=None).exists()


def test_a_link_that_is_none_is_refused_and_no_case_is_made(of: factories.People) -> None:
    with pytest.raises(ValidationError, match="https://"):
        made_of(of, record={"incident_url": "ticket 9"})
    assert not Case.objects.exists()


def test_a_draft_s_next_revision_keeps_what_people_recorded(of: factories.People) -> None:
    case = made_of(of)
    links = {"incident_url": "https://tickets.example/1", "trace_id": "t-1", "trace_url": "", "covering_test": ""}
    details.edit_provenance(of.responder, case=case, affected=None, fixed=None, **links)
    capture = case.drafts.get().capture
    said = {**CHOICES, "record": SAID, "time_zone": "Europe/Berlin"}
    draft = drafts.save(of.responder, capture=capture, run=0, choices=said)
    drafts.revise(of.responder, draft=drafts.of_run(capture, 0) or draft, changed="", seen=draft.choices.digest)
    kept = Provenance.objects.get(case=case)
    assert (kept.incident_url, kept.trace_id) == ("https://tickets.example/1", "t-1")
    assert kept.run_record["approval_reference"] == {"value": "CHG-7", "source": "declared"}
