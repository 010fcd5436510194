"""A revision's stays in lanes. Nothing else writes one, or the lane that a case repeats.

Called by `cases.lifecycle` on the locked case, which has checked who and when.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import decisions
from replaycases.cases.models import Case, FixtureRevision, Lane, LaneEntry, LaneName, LeftBy, Proposal

STRONGEST_FIRST = (LaneName.BLOCKING, LaneName.NONBLOCKING, LaneName.COMPATIBILITY)


def stays(case: Case) -> dict[LaneName, LaneEntry]:
    """The open ones, by lane: at most one in each."""
    return stays_of([case])[case.pk]


def stays_of(cases: Iterable[Case]) -> dict[UUID, dict[LaneName, LaneEntry]]:
    """The same of each case. One query."""
    inside: dict[UUID, dict[LaneName, LaneEntry]] = {case.pk: {} for case in cases}
    for entry in LaneEntry.objects.filter(case__in=inside, left_at=None).select_related("lane", "revision"):
        inside[entry.case_id][LaneName(entry.lane.name)] = entry
    return inside


def enter(
    actor: User,
    *,
    case: Case,
    revision: FixtureRevision,
    lane: LaneName,
    note: str,
    demotion: Proposal | None = None,
) -> LaneEntry:
    place, _ = Lane.objects.get_or_create(project=case.project, name=lane)
    entry = LaneEntry.objects.create(
        lane=place,
        case=case,
        revision=revision,
        note=decisions.note_of(note),
        demotion=demotion,
        entered_by=actor,
        entered_at=timezone.now(),
    )
    _repeat_on(case)
    return entry


def namesakes(cases: Iterable[Case]) -> dict[UUID, LaneEntry]:
    """By case, a stay of another case of its project whose fixture bears the same case_id: a suite holds each once, so
    no two of them stand in lanes. One query."""
    chosen = list(cases)
    stays = LaneEntry.objects.filter(
        left_at=None,
        case__project__in={case.project_id for case in chosen},
        revision__fixture_case_id__in={case.case_id for case in chosen},
    ).select_related("lane", "case__project", "revision")
    return {
        case.pk: stay
        for stay in stays
        for case in chosen
        if case.pk != stay.case_id
        and (case.project_id, case.case_id) == (stay.case.project_id, stay.revision.fixture_case_id)
    }


def why_not_beside(stay: LaneEntry) -> str:
    return (
        f"{stay.case} stands in lane {stay.lane.name} under the same case_id, {stay.revision.fixture_case_id}: a suite "
        "holds each name once. Retire one of the two, or capture this one under a name of its own."
    )


def leave(case: Case, entry: LaneEntry, how: LeftBy) -> None:
    entry.left_at = timezone.now()
    entry.left_by = how
    entry.save(update_fields=["left_at", "left_by"])
    _repeat_on(case)


def _repeat_on(case: Case) -> None:
    """The case repeats the strongest lane in which a revision of it stands."""
    inside = stays(case)
    case.lane = next((lane.value for lane in STRONGEST_FIRST if lane in inside), "")
    case.save(update_fields=["lane"])
