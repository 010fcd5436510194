"""Stored bytes that no longer have their digest: nothing is shown of them, nothing is green, and it is said which. And
a key ring that cannot be read: raw evidence is locked, and everything else goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from replaycases.accounts.models import Project, User
from replaycases.cases import executing, jobs, outlines, raw_reads
from replaycases.cases.models import Capture, Case, Classification, Comparison, Payload, Run, RunState
from tests import factories
from tests.cases.test_captures import TRACE
from tests.web import recorded


@pytest.mark.parametrize(
    "address",
    [
        "/cases/RC-1/comparisons/1/",
        "/cases/RC-1/revisions/1/",
        "/cases/RC-1/review/",
        "/cases/RC-1/revisions/1/document/",
        "/api/v1/revisions/{}/document/",
    ],
)
def test_what_needs_damaged_evidence_says_which_payload_to_restore(
    signed_in: Client, case: Case, everyone: User, address: str
) -> None:
    recorded.compared(case, everyone)
    revision = factories.revision(case)
    Payload.objects.filter(pk=revision.payload_id).update(body=b"{}")
    response = signed_in.get(address.format(revision.pk))
    assert response.status_code == 500
    assert f"payload {revision.payload_id}" in response.content.decode()
    assert "restore it from a backup" in response.content.decode()


# --- the key ring ---------------------------------------------------------------------------------------------------


@pytest.fixture
def locked(project: Project, everyone: User, settings: Any, tmp_path: Path) -> Case:
    """A quarantined case whose replay is asked for, and a capture; then the ring's file is cut off."""
    settings.EVIDENCE_KEYS_FILE = tmp_path / "ring.json"
    case = factories.case(project, everyone, classification=Classification.QUARANTINED)
    old, new = (factories.implementation(project, everyone, code, version=v) for v, code in CODES.items())
    jobs.request_comparison(everyone, revision=factories.revision(case), old=old, new=new, size=1)
    factories.drafted(project, everyone)
    for of in ({"case": case}, {"capture": Capture.objects.get()}):
        raw_reads.begin(everyone, **of, reason="ticket 4711")
    settings.EVIDENCE_KEYS_FILE.write_text(settings.EVIDENCE_KEYS_FILE.read_text()[:40])
    outlines._remembered.cache_clear()
    return case


CODES = {"1": factories.OLD_CODE, "2": factories.NEW_CODE}


def test_a_ring_that_cannot_be_read_is_said_on_pages_and_in_the_api_and_keeps_nothing(
    signed_in: Client, everyone: User, locked: Case, settings: Any
) -> None:
    signed_in.force_login(everyone)
    capture, before = Capture.objects.get(), Payload.objects.count()
    for _ in range(2):
        for answer in (
            signed_in.get("/cases/RC-1/revisions/1/document/"),
            signed_in.get("/captures/RC-T1/"),
            signed_in.post("/captures/new/", {"project": capture.project_id, "text": TRACE.decode()}),
            signed_in.get(f"/api/v1/captures/{capture.pk}/"),
            signed_in.post("/api/v1/captures/?project=RC", TRACE, content_type="application/octet-stream"),
        ):
            assert answer.status_code == 503
            assert "manage.py check --deploy" in answer.content.decode()
            assert str(settings.EVIDENCE_KEYS_FILE.parent) not in answer.content.decode()
        assert signed_in.get("/cases/RC-1/").status_code == 200
        # And the same once it is gone: none is made in its place while there is something that it sealed.
        settings.EVIDENCE_KEYS_FILE.unlink(missing_ok=True)
    assert Payload.objects.count() == before
    assert not settings.EVIDENCE_KEYS_FILE.exists()


def test_what_does_not_open_on_a_worker_gives_no_result_and_no_verdict(locked: Case) -> None:
    run = Run.objects.order_by("number")[0]
    for _ in range(3):
        Run.objects.update(not_before=run.created_at)
        executing.look_at(run.pk, worker="here")
    run.refresh_from_db()
    assert (run.state, run.status, run.manifest) == (RunState.QUARANTINED, "", None)
    assert "does not open" in run.reason
    Run.objects.exclude(pk=run.pk).update(state=RunState.QUARANTINED, reason="as well", finished_at=run.finished_at)
    jobs.sweep()
    assert (Comparison.objects.get().label, factories.fresh(locked).verdict) == ("", "")
