"""What a lane that was pulled and run elsewhere gave there, as that place says. Shown on pages; no gate reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from uuid import UUID

import orjson
from django.db import transaction
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import REQUESTS_REPLAYS
from replaycases.cases import events, evidence, policies
from replaycases.cases.lane_export import EXPORTED
from replaycases.cases.models import AuditEvent, CiReport, CiResult, FixtureRevision, Lane, LaneName
from replaycases.fixture.canonical import digest
from replaycases.verdict.labels import Label, exit_code

REASON_CAP = 2000


class ReportRefused(Exception):
    """The report speaks of what this server did not give out. `pointer` is the place in it, the message says why."""

    def __init__(self, pointer: str, message: str) -> None:
        self.pointer = pointer
        super().__init__(message)


@dataclass(frozen=True, kw_only=True)
class ReportedResult:
    """One case as `suite` judged it. `label` is "" where it gave none."""

    readable_id: str
    fixture_hash: str
    label: str
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Reported:
    """The report as it was sent. `implementation` is {name, version, commit, digest}."""

    lane_digest: str
    implementation: Mapping[str, str]
    exit_code: int
    build_url: str
    results: Sequence[ReportedResult]

    @property
    def digest(self) -> str:
        return digest(orjson.loads(orjson.dumps(asdict(self))))


def receive(actor: User, *, project: Project, lane: LaneName, reported: Reported) -> tuple[CiReport, bool]:
    """Keep the report, once: the same one again is the one that is kept, and then the second value is False. A case of
    the lane without a result is kept as one with an empty label. Raises PermissionDenied, and ReportRefused for a lane
    digest or a case that this server never gave out, and for an exit code 0 that the labels do not bear."""
    with transaction.atomic():
        policies.require_roles_locked(actor, project, *REQUESTS_REPLAYS)
        place = Lane.objects.filter(project=project, name=lane).first()
        given_out = _given_out(place, reported.lane_digest) if place else None
        if place is None or given_out is None:
            raise ReportRefused("/lane_digest", f"Lane {lane} of {project.key} was never given out with this digest.")
        kept = CiReport.objects.filter(lane=place, digest=reported.digest).first()
        if kept is not None:
            return kept, False
        results = _matched(given_out, reported)
        report = _kept(actor, place, reported)
        CiResult.objects.bulk_create(_rows(report, given_out, results))
        events.record(
            actor=actor,
            action="ci_report.received",
            subject=report,
            project=project,
            object_hash=report.digest,
            after={"lane": lane.value, "lane_digest": report.lane_digest, "exit_code": report.exit_code},
        )
    return report, True


def _given_out(lane: Lane, lane_digest: str) -> dict[str, FixtureRevision] | None:
    """The revisions by readable id of the lane as it was exported with this digest; None if it never was."""
    exported = AuditEvent.objects.filter(object_id=str(lane.pk), action=EXPORTED, object_hash=lane_digest).last()
    if exported is None:
        return None
    keys = [UUID(key) for key in orjson.loads(exported.after)["revisions"]]
    revisions = FixtureRevision.objects.filter(pk__in=keys).select_related("case__project")
    return {revision.case.readable_id: revision for revision in revisions}


def _matched(given_out: Mapping[str, FixtureRevision], reported: Reported) -> dict[str, ReportedResult]:
    counted = Counter(result.readable_id for result in reported.results)
    for place, result in enumerate(reported.results):
        revision = given_out.get(result.readable_id)
        if revision is None:
            raise ReportRefused(f"/results/{place}", f"{result.readable_id} did not stand in the lane that was pulled.")
        if counted[result.readable_id] > 1:
            raise ReportRefused(f"/results/{place}", f"{result.readable_id} has more than one result.")
        if result.fixture_hash != revision.fixture_hash:
            raise ReportRefused(
                f"/results/{place}", f"{result.readable_id} was run on another fixture than was pulled."
            )
    results = {result.readable_id: result for result in reported.results}
    if reported.exit_code == 0 and not given_out:
        raise ReportRefused(
            "/exit_code", "The lane that was pulled holds no case: nothing was judged, so nothing is well."
        )
    unearned = [name for name in given_out if not _well(results.get(name))]
    if reported.exit_code == 0 and unearned:
        text = f"Exit code 0 needs a result that is well for every case; {', '.join(sorted(unearned))} has none."
        raise ReportRefused("/exit_code", text)
    return results


def _well(result: ReportedResult | None) -> bool:
    return result is not None and result.label != "" and exit_code(Label(result.label)) == 0


def _kept(actor: User, lane: Lane, reported: Reported) -> CiReport:
    side = reported.implementation
    return CiReport.objects.create(
        lane=lane,
        lane_digest=reported.lane_digest,
        implementation_name=side["name"],
        implementation_version=side["version"],
        implementation_commit=side["commit"],
        implementation_digest=side["digest"],
        exit_code=reported.exit_code,
        build_url=reported.build_url,
        digest=reported.digest,
        pushed_by=actor,
        pushed_at=timezone.now(),
    )


def _rows(
    report: CiReport, given_out: Mapping[str, FixtureRevision], results: Mapping[str, ReportedResult]
) -> Iterator[CiResult]:
    for name, revision in given_out.items():
        result = results.get(name)
        yield CiResult(
            report=report,
            revision=revision,
            label=result.label if result else "",
            reason=evidence.printable(result.reason, cap=REASON_CAP) if result else "The report has no result for it.",
        )
