"""What the runs of one stay in a lane say: which of them count towards the history that a promotion needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from replaycases.cases.models import ENDED, Implementation, Run, RunState
from replaycases.verdict.sides import UNREAD


@dataclass(frozen=True, kw_only=True)
class History:
    """`runs` by number, every one of the stay. `uncounted` says of each run that does not count why it does not;
    `needed` is how many must count."""

    runs: tuple[Run, ...]
    uncounted: Mapping[UUID, str]
    needed: int

    @property
    def counting(self) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if run.pk not in self.uncounted)

    @property
    def counted(self) -> int:
        return len(self.counting)

    @property
    def missing(self) -> int:
        return max(0, self.needed - self.counted)

    @property
    def broken(self) -> tuple[Run, ...]:
        """The runs that count and did not hold every check. Undetermined is not held."""
        return tuple(run for run in self.counting if run.boundary_passed is not True)

    @property
    def outstanding(self) -> int:
        return sum(run.state not in ENDED and run.run_set.voided_at is None for run in self.runs)


def history_of(runs: Sequence[Run], *, fixed: Implementation | None, needed: int) -> History:
    """The history of one stay. `runs` are those of its sets, `fixed` the version that must hold."""
    reasons = {run.pk: why_not_counted(run, fixed) for run in runs}
    return History(runs=tuple(runs), uncounted={key: why for key, why in reasons.items() if why}, needed=needed)


def why_not_counted(run: Run, fixed: Implementation | None) -> str:
    """ "" for a run of the fixed version that says something of it."""
    if run.run_set.voided_at is not None:
        return "its set was voided"
    if fixed is None or run.run_set.implementation.digest != fixed.digest:
        return "not the fixed version"
    return why_unread(run)


def why_unread(run: Run) -> str:
    """Why a run says nothing of its implementation; "" if it says something."""
    if run.state not in ENDED:
        return "has not ended"
    if run.state == RunState.CANCELLED:
        return "cancelled"
    if run.state == RunState.QUARANTINED:
        return "gave no result"
    return run.status.replace("_", " ") if run.status in UNREAD else ""
