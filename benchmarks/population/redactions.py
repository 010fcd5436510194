"""What was found in every revision, and what was replaced. From the table `n`; payloads are shared as elsewhere."""

from __future__ import annotations

import json
import secrets
from datetime import timedelta
from typing import Any

from django.utils import timezone

from benchmarks.population.series import digest, insert
from replaycases.accounts.models import Project
from replaycases.cases import evidence
from replaycases.cases.models import Payload, Redaction
from replaycases.redaction.record import Record
from replaycases.redaction.scan import DETECTORS_VERSION

APPROVED = "stage IN ('redaction_approved', 'reproduced')"


def newest(number: str) -> str:
    """SQL of the redaction of the revision of that number of the case `i`."""
    return f"md5('redaction' || i || '-' || {number})::uuid"


def build(cursor: Any, project: Project) -> None:
    """One a revision. The first one is raw and has a finding, each later one was made of it; where the case waits for a
    review, half were made by hand. The mapping of an approved one is destroyed."""
    record = _store(project, {"record": Record(counts={"email": 2}).as_json()})
    mapping, gone = (_store(project, {"key": secrets.token_hex(32), "known": []}) for _ in range(2))
    evidence.destroy(gone)
    by_hand = "r = 1 OR stage = 'in_review' AND i % 2 = 0"
    insert(
        cursor,
        Redaction,
        "n JOIN cases_fixturerevision f ON f.case_id = n.case_id, LATERAL (SELECT f.number AS r) AS s",
        id=newest("r"),
        revision="f.id",
        source=f"CASE WHEN NOT ({by_hand}) THEN md5('revision' || i || '-1')::uuid END",
        policy_digest=digest("'policy'"),
        detectors=f"'{DETECTORS_VERSION}'",
        record=f"'{record.pk}'::uuid",
        mapping=f"CASE WHEN {APPROVED} THEN '{gone.pk}'::uuid ELSE '{mapping.pk}'::uuid END",
        open="CASE WHEN r = 1 THEN jsonb_build_array(jsonb_build_object("
        "'finding', md5('finding' || i), 'kind', 'email', 'detector', 'email')) ELSE '[]' END",
        facts="4",
        spans="3",
        counts=f"CASE WHEN {by_hand} THEN '{{}}'::jsonb ELSE '{{\"email\": 2}}' END",
        made_by="f.created_by_id",
        made_at="f.created_at",
    )


def _store(project: Project, said: dict[str, Any]) -> Payload:
    ends = timezone.now() + timedelta(days=90)
    return evidence.store(project, json.dumps(said).encode(), media_type=evidence.JSON_TYPE, expires_at=ends)
