"""A revision's stays in lanes. Nothing else writes one, or the lane that a case repeats.

Called by `cases.lifecycle` on the locked case, which has checked who and when.
"""

from __future__ import annotations

from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import decisions
from replaycases.cases.models import Case, FixtureRevision, Lane, LaneEntry, LaneName, LeftBy, Proposal

STRONGEST_FIRST = (LaneName.BLOCKING, LaneName.NONBLOCKING, LaneName.COMPATIBILITY)


def stays(case: Case) -> dict[LaneName, LaneEntry]:
    """The open ones, by lane: at most one in each."""
    found = LaneEntry.objects.filter(case=case, left_at=None).select_related("lane", "revision")
    return {LaneName(entry.lane.name): entry for entry in found}


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
