"""A lane to take elsewhere: the redacted bytes of every revision in it, as it stands at one moment."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.text import slugify

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import events, evidence, exports, policies
from replaycases.cases.models import (
    Classification,
    Control,
    Decision,
    DecisionOutcome,
    Implementation,
    Lane,
    LaneEntry,
    Payload,
    Run,
    RunState,
)
from replaycases.cases.policies import InvalidTransition
from replaycases.fixture.lane_index import (
    LANE_FILE,
    LaneIndex,
    ListedApproval,
    ListedCase,
    ListedControl,
    ListedFile,
    owner_of,
)

EXPORTED = "lane.exported"
# The first instant that a zip can name: equal lanes give equal bytes, whenever they are taken.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, kw_only=True)
class Taken:
    """A lane's index and where the bytes of its files are kept, by path."""

    index: LaneIndex
    payloads: dict[str, Payload]


@dataclass(kw_only=True)
class _Collected:
    """The payloads of one case, by path. Quarantined bytes are remembered by their path."""

    payloads: dict[str, Payload] = field(default_factory=dict)
    quarantined: list[str] = field(default_factory=list)

    def add(self, path: str, payload: Payload | None, *sources: Payload | None) -> Iterator[ListedFile]:
        """List a file, if there is one. It is as restricted as it is itself and as what it was made from."""
        if payload is None:
            return
        if any(part and part.classification == Classification.QUARANTINED for part in (payload, *sources)):
            self.quarantined.append(path)
        self.payloads[path] = payload
        yield ListedFile(path=path, sha256=payload.digest, size=payload.size)


def take(actor: User, *, lane: Lane) -> Taken:
    """What stands in the lane now, all of it. The project's row is locked meanwhile: nothing enters or leaves. Raises
    PermissionDenied for somebody without a role in the project, and InvalidTransition, naming the cases, if bytes of
    one are still quarantined or hold what must go: no case of a lane is left out. Controls that are not approved are,
    by name."""
    with transaction.atomic():
        policies.require_roles_locked(actor, lane.project, *Role)
        stays = _stays(lane)
        _require_nothing_open(stays)
        approvals = exports.approvals_of([stay.revision for stay in stays])
        collected = _Collected()
        index = LaneIndex(
            project=lane.project.key,
            lane=lane.name,
            taken_at=timezone.now().isoformat(),
            entries=tuple(_listed(stay, collected, approvals.get(stay.revision_id)) for stay in stays),
        )
        if collected.quarantined:
            raise InvalidTransition(_quarantined(collected.quarantined))
        events.record(
            actor=actor,
            action=EXPORTED,
            subject=lane,
            project=lane.project,
            object_hash=index.digest,
            after={"lane": lane.name, "revisions": [str(stay.revision_id) for stay in stays]},
        )
    return Taken(index=index, payloads=collected.payloads)


def write_zip(taken: Taken, to: IO[bytes]) -> None:
    """The lane as a zip: every file under its path, the index as lane.json. Payloads are read one by one; raises
    EvidenceDamaged for bytes that no longer have their digest."""
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(LANE_FILE, _NO_TIME), taken.index.dump())
        for path, payload in taken.payloads.items():
            whole = Payload.objects.get(pk=payload.pk)
            archive.writestr(zipfile.ZipInfo(path, _NO_TIME), evidence.read(whole), zipfile.ZIP_DEFLATED)


def _stays(lane: Lane) -> list[LaneEntry]:
    stays = LaneEntry.objects.filter(lane=lane, left_at=None).order_by("case__number")
    related = ("case__project", "case__provenance__affected", "revision__payload", "revision__detect")
    return list(stays.select_related(*related).defer("revision__payload__body", "revision__detect__body"))


def _require_nothing_open(stays: list[LaneEntry]) -> None:
    faults = exports.faults_of([stay.revision for stay in stays])
    told = [f"{stay.case.readable_id}: {faults[stay.revision_id]}." for stay in stays if stay.revision_id in faults]
    if told:
        raise InvalidTransition(f"Nothing was exported. {' '.join(told)}")


def _listed(stay: LaneEntry, collected: _Collected, approval: ListedApproval | None) -> ListedCase:
    case, revision, name = stay.case, stay.revision, stay.case.readable_id
    files = [
        *collected.add(f"{name}.json", revision.payload),
        *collected.add(f"{name}.detect.json", revision.detect),
        *_old_side(stay, name, collected),
    ]
    controls = _controls(stay)
    approved = [control for control in controls if control.approved]
    return ListedCase(
        readable_id=name,
        case_id=revision.fixture_case_id,
        revision=revision.number,
        fixture_hash=revision.fixture_hash,
        content_hash=revision.content_hash,
        checks_hash=revision.checks_hash,
        flagged=case.flagged,
        files=tuple(files),
        controls=tuple(_control(control, name, place, collected) for place, control in enumerate(approved, start=1)),
        controls_left_out=tuple(control.name for control in controls if not control.approved),
        redaction=approval,
    )


def _controls(stay: LaneEntry) -> list[Any]:
    """Those of the revision, each with whether it is approved. One that came since and waits for its approval is none
    of the lane's yet, and keeps nobody from taking the rest."""
    given = Decision.objects.filter(control=OuterRef("pk"), outcome=DecisionOutcome.APPROVED, voided_at=None)
    found = stay.revision.controls.select_related("payload", "detect", "mutation").order_by("name", "pk")
    return list(found.annotate(approved=Exists(given)))


def _control(control: Control, case: str, place: int, collected: _Collected) -> ListedControl:
    stem = f"controls/{case}/{place}-{slugify(control.name)[:60].replace('_', '-')}".rstrip("-")
    files = [
        *collected.add(f"{stem}.json", control.payload),
        *collected.add(f"{stem}.detect.json", control.detect),
        *collected.add(f"{stem}.mutation.json", control.mutation),
    ]
    return ListedControl(
        name=control.name,
        outcome_type=control.outcome_type,
        fixture_hash=control.fixture_hash,
        checks_hash=control.checks_hash,
        mutated_hash=control.mutated_hash,
        files=tuple(files),
    )


def _old_side(stay: LaneEntry, name: str, collected: _Collected) -> Iterator[ListedFile]:
    """Every manifest that the affected version gave on this fixture, so that no lucky one is picked."""
    affected = stay.case.provenance.affected if hasattr(stay.case, "provenance") else None
    for place, run in enumerate(_runs(stay, affected) if affected else (), start=1):
        replayed = run.run_set.revision
        path = f"old/{name}/{place}.manifest.json"
        yield from collected.add(path, run.manifest, replayed.payload, replayed.detect)


def _runs(stay: LaneEntry, affected: Implementation) -> QuerySet[Run]:
    related = ("manifest", "run_set__revision__payload", "run_set__revision__detect")
    bodies = ("manifest__body", "run_set__revision__payload__body", "run_set__revision__detect__body")
    runs = Run.objects.filter(
        state=RunState.FINISHED,
        run_set__project_id=affected.project_id,
        run_set__fixture_hash=stay.revision.fixture_hash,
        run_set__checks_hash=stay.revision.checks_hash,
        run_set__implementation__digest=affected.digest,
        run_set__control=None,
        run_set__mode="replay",
        run_set__voided_at=None,
    )
    return runs.select_related(*related).defer(*bodies, "progress").order_by("number")


def _quarantined(paths: list[str]) -> str:
    cases = sorted({owner_of(path) for path in paths})
    return (
        f"Bytes of {', '.join(cases)} are still quarantined: {', '.join(paths)}. Nothing was exported. "
        "Void run sets that were made on quarantined bytes."
    )
